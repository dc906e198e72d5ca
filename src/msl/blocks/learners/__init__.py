"""Learners without a kernel: zarbi, naive_bayes, neural, logitboost, forest, and RBF networks (rbf, rbf_batch)."""
