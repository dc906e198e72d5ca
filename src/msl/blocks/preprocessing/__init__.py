"""Transformers: scalers, prepare (one-hot and target encoding, imputation, columns by kind), and encoders of parts of
dates and of many symbols."""
