"""Similarity-based methods, of which k nearest neighbours is the best known.

knn: SimilarityClassifier, SimilarityRegressor, KNNClassifier, KNNRegressor, and all their choices in one record
distances, fitted_distance, safe_coordinates: how far two rows are from each other
reference_points: which points rows are compared with, and how they are chosen
neighbour_search, weightings: which of them are near, how much their votes count, and what they decide
local_models: a model for each region, and an interpolation between them
fill_nearest: missing values from the most similar rows
leave_one_out: exact leave-one-out outputs without refits
"""
