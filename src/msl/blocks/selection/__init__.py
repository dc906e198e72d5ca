"""Feature selection: rankers by a statistic, odds (ratios), relief, selectors (base classes, masks, elimination), and
orthogonal (Gram-Schmidt, PCA).
"""
