"""Feature selection: rankers by a statistic or the odds ratio, relief, selectors (base classes, masks, elimination),
and orthogonal (Gram-Schmidt, PCA).
"""
