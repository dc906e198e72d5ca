"""What a run costs that keeps the outputs of its models: processor time and bytes, against one that keeps none.

What is kept is packed and written during the search, and for its sake the winner is fitted on halves of its rows. At
the end of the run it corrects the estimate for the choice among all models, which a run without outputs cannot do; that
is a figure of its own.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl
from sklearn.datasets import make_classification

from benchmarks.datasets import TARGET
from benchmarks.figures import Row, timed
from benchmarks.trial import run_spec
from msl.runner import session

_SIZES, _PAIRS, _EVALUATIONS = (600, 5_000, 20_000), 7, 60
#: Learners that are quick, so that the cost of what is kept is not small beside them.
SPEC = f"""use sklearn
chain m = (standard_scaler(rest = default) | none)
  >> (gaussian_nb | nearest_centroid | lda | decision_tree(max_depth: int 2..6) | logistic(C: real 0.01..10 log))
minimize ber by cv(folds = 5)
search random(evaluations = {_EVALUATIONS})
data(target = {TARGET})
"""
#: By classes alone, and by what says more of each row.
METRICS = {"classes": "minimize ber", "probabilities": "maximize auc"}


def measure(quick: bool) -> list[Row]:
    warnings.filterwarnings("ignore")
    rows: list[Row] = []
    for size in _SIZES[:1] if quick else _SIZES:
        for kept, metric in METRICS.items():
            rows += _of_table(size, kept, SPEC.replace("minimize ber", metric), 3 if quick else _PAIRS)
    return rows


def _of_table(rows: int, kept: str, text: str, pairs: int) -> list[Row]:
    frame = _table(rows)
    specs = text, f"{text}budget(outputs = 0MB)\n"
    searching, running, sizes = [], [], [0, 0]
    for pair in range(-1, pairs):  # the first one warms up
        seconds, correcting = [0.0, 0.0], [0.0, 0.0]
        for which in (0, 1) if pair % 2 else (1, 0):
            seconds[which], correcting[which], sizes[which] = _run(specs[which], frame, max(pair, 0))
        if pair >= 0:
            searching.append((seconds[0] - correcting[0]) / (seconds[1] - correcting[1]))
            running.append(seconds[0] / seconds[1])
    name = f"{rows:,} rows, {kept}"
    return [
        (f"keeping outputs, {name} ({_spread(searching)})", median(searching), 1.05, "times the seconds"),
        (f"and correcting the estimate, {name} ({_spread(running)})", median(running), None, "times the seconds"),
        (f"the store, {name}", sizes[0] / sizes[1], None, "times the bytes"),
    ]


def _run(text: str, frame: pl.DataFrame, seed: int) -> tuple[float, float, int]:
    """Seconds of a run, those of them that went to the correction of its estimate, and the bytes of its store."""
    spent = 0.0

    def clocked(work: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any) -> Any:
            nonlocal spent
            seconds, done = timed(lambda: work(*given))
            spent += seconds
            return done

        return call

    names = ("competition", "correct_estimate")
    clocks = {name: clocked(getattr(session, name)) for name in names}
    with TemporaryDirectory() as folder, patch.multiple(session, **clocks):
        seconds = timed(lambda: run_spec(text, frame, seed, Path(folder)))[0]
        return seconds, spent, (Path(folder) / "store.sqlite").stat().st_size


def _spread(ratios: Sequence[float]) -> str:
    return f"{len(ratios)} pairs, {min(ratios):.2f} to {max(ratios):.2f}"


def _table(rows: int) -> pl.DataFrame:
    X, y = make_classification(rows, 15, n_informative=6, flip_y=0.1, random_state=0)
    columns = {f"x{place}": X[:, place] for place in range(X.shape[1])}
    return pl.DataFrame({**columns, TARGET: [f"k{code}" for code in np.asarray(y)]})
