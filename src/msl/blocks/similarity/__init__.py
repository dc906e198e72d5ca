"""Similarity-based methods, of which k nearest neighbours is the best known.

learners: SimilarityClassifier, SimilarityRegressor, KNNClassifier, KNNRegressor
distances, fitted_distance, placement: how far two rows are from each other
references: which points rows are compared with
neighbours, voting: which of them are near, and how they vote
leave_one_out: exact leave-one-out outputs without refits
"""
