"""Kernel machines: kridge, lssvm and gkridge (ridge), klogistic (logistic), svc (svm), their base class
(kernel_machine), and kernel_map, which turns distances to reference points into features.
"""
