"""Runs: the store of evaluations and runs, its repair and clearing, and the lock file beside a spec."""
