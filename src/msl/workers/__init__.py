"""Executors: where evaluations run — in this process, in local worker processes, or on a Dask cluster."""
