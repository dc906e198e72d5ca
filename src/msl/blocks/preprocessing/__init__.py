"""Transformers: scalers, target_encoding, and prepare (one-hot encoding, imputation, columns by kind)."""
