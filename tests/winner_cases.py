"""Runs on small tables of every kind, shared by the tests of what is done with a winner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

import msl.runner.finish as engine_finish
from msl.cli.shared.load_spec import Loaded, load
from msl.runner.choose_winner import choose_winner
from msl.runner.finish import finish
from msl.runner.loop import search
from msl.runner.plan import Plan, make_plan
from msl.runner.time_limit import FinalTasks, TimeLimit, final_costs
from msl.runner.trained_model import Trained, save_trained
from msl.store.store import Store
from msl.store.stored_run import NewRun
from msl.workers.local import open_executor


@dataclass(frozen=True)
class Case:
    """A space and the table it is searched on."""

    name: str
    spec: str
    table: str
    trusted: tuple[str, ...] = ()


_VOTERS = "use clop\nchain m = standardize >> (zarbi | naive | kridge)\n"
CASES = [
    Case("own_blocks", "use clop\nchain m = standardize? >> (zarbi | naive) >> bias\n", "wine"),
    Case("kernel", "use clop\nchain m = standardize >> svc(rest = default)\n", "cancer"),
    Case("plain", "use sklearn\nchain m = standard_scaler(rest = default) >> logistic(rest = default)\n", "iris"),
    Case("forest", "use sklearn\nchain m = random_forest(n_estimators = 20, rest = default)\n", "mixed"),
    Case("boosting", "use sklearn\nchain m = hist_gradient_boosting(rest = default)\n", "holes"),
    Case("symbols", "use sbm\nchain m = knn(k: int 1..5, rest = default)\n", "mixed"),
    Case(
        "branches", "use clop, sklearn\nchain m = (pca & sklearn.passthrough) >> kridge(rest = default)\n", "diabetes"
    ),
    Case("numbers", "use sklearn\nchain m = polynomial(rest = default) >> ridge(rest = default)\n", "diabetes"),
    Case("margin", "use sklearn\nchain m = min_max(rest = default) >> linear_svc(rest = default)\n", "cancer"),
    Case(
        "union",
        "use sklearn\nchain m = (pca(rest = default) & (min_max(rest = default) >> variance_threshold(rest = default)))"
        " >> lda(rest = default)\n",
        "wine",
    ),
    Case("vote", f"{_VOTERS}ensemble vote(top = 3, voting = hard, always = true)\n", "wine"),
    Case("soft_vote", f"{_VOTERS}ensemble vote(top = 3, voting = soft, always = true)\n", "wine"),
]


def write_table(kind: str, folder: Path) -> Path:
    """A bundled data set as CSV; `mixed` has symbols and missing values, `holes` only missing values."""
    loaders = {"wine": load_wine, "cancer": load_breast_cancer, "iris": load_iris, "diabetes": load_diabetes}
    X, y = loaders.get(kind, load_iris)(return_X_y=True)
    X, y = X[::2], y[::2]
    cells = [[repr(float(value)) for value in row] for row in X]
    names = [f"f{place}" for place in range(X.shape[1])]
    labels: Sequence[str] = [f"kind {label}" for label in y] if kind != "diabetes" else [repr(float(v)) for v in y]
    rng = np.random.default_rng(5)
    if kind in ("mixed", "holes"):
        for row in cells:
            if rng.random() < 0.2:
                row[rng.integers(4)] = ""
    if kind == "mixed":
        names.append("colour")
        for row, label in zip(cells, y, strict=True):
            colour = ["red", "green", "blue"][label if rng.random() < 0.8 else rng.integers(3)]
            row.append("" if rng.random() < 0.1 else colour)
    path = folder / f"{kind}.csv"
    lines = [",".join([*row, label]) for row, label in zip(cells, labels, strict=True)]
    path.write_text("\n".join([",".join([*names, "class" if kind != "diabetes" else "y"]), *lines]), encoding="utf-8")
    return path


def planned(case: Case, folder: Path) -> tuple[Loaded, Plan, Path]:
    spec = folder / "spec.msl"
    spec.write_text(case.spec + "search random(evaluations = 4)\n", encoding="utf-8")
    table = write_table(case.table, folder)
    loaded = load(str(spec), str(table))
    assert loaded.table is not None
    return loaded, make_plan(loaded.spec, loaded.table, trusted=case.trusted), table


@dataclass(frozen=True)
class Finished:
    """A run that has come to its end."""

    run: str
    #: The winner as it was before it was saved.
    trained: Trained
    table: Path
    store: Path


def finished_run(case: Case, folder: Path) -> Finished:
    """A run from its beginning to the saved winner."""
    loaded, plan, table = planned(case, folder)
    texts, options = {"spec.msl": loaded.source.text}, {"data": str(table)}
    order = NewRun(loaded.spec.name, "spec.msl", texts, plan.digests, options=options)
    with Store.open(folder / ".msl") as store, open_executor(plan.job, "inprocess") as executor:
        run = store.runs.start(order).id
        found = search(plan, store, run, executor)
        tasks = FinalTasks(executor, TimeLimit(), final_costs(plan, found))
        done = finish(plan, found, choose_winner(plan, found), tasks)
        assert isinstance(done, engine_finish.Finished)
        save_trained(store.files, run, done.used)
        store.runs.end(run, "finished", {})
    return Finished(run, done.used, table, folder / ".msl")
