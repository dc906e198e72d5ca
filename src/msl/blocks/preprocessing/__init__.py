"""Transformers: scalers, and prepare (one-hot and target encoding, imputation, columns by kind)."""
