"""Kernel machines: kridge, lssvm and gkridge (ridge), klogistic (logistic), svc (svm), and kernel_map."""
