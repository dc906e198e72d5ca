"""Learners without a kernel.

linear_rules (zarbi, and the naive Bayes of CLOP), linear_logistic, naive_bayes, neural, logitboost, forest, and
networks of radial basis functions (rbf, rbf_batch).
"""
