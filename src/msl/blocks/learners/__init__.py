"""Learners without a kernel.

linear_classifiers (zarbi, the naive Bayes of CLOP, logistic regression), naive_bayes, neural, logitboost, forest,
networks of radial basis functions (rbf, rbf_batch), and gradient boosting (boosting, boosting_libraries).
"""
