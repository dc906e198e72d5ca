"""Benchmarks: every claim of the project measured on real data, beside the papers' figures and the peers."""

import os

# Before numpy is imported: one thread a process, so that figures do not depend on how many cores there are.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")
