"""Feature selection: rankers by a statistic, selectors (masks, elimination), orthogonal (Gram-Schmidt, PCA)."""
