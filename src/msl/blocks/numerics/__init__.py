"""What the blocks compute with.

safe_scaling: columns of any size, scaled so that squares neither overflow nor vanish
class_statistics: statistics by class, and classes that are absent from a fold
matrices: Cholesky solutions, principal axes, smallest entries of rows
kmeans: k-means clustering
"""
