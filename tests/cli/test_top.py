"""`msl top` lists the best models of a run, in the terminal, as JSON and in Python."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import msl as library
from msl.store.store import Store
from msl.store.stored_run import Digests, NewRun

SPEC = """msl 1
use sklearn
chain m = lda | qda | gaussian_nb | logistic
minimize ber by cv(folds = 3)
search random(evaluations = 15)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    lines = ["f1,f2,class"]
    lines += [f"{rng.normal(place % 2, 1):.3f},{rng.normal():.3f},{'ab'[place % 2]}" for place in range(60)]
    Path("t.csv").write_text("\n".join(lines) + "\n")
    Path("m.msl").write_text(SPEC)
    return tmp_path


def test_the_best_models_are_listed(msl: Callable[..., object], folder: Path) -> None:
    ran = msl("run", "m.msl", "t.csv", "--on", "inprocess", "--test", "t.csv", "--json")
    summary = json.loads(ran.out)  # type: ignore[attr-defined]
    shown = msl("top", "@", "--most", "4", "--json")
    rows = json.loads(shown.out)  # type: ignore[attr-defined]
    assert len(rows) == 4
    assert rows[0]["model"] == summary["best"]
    assert rows[0]["objectives"] == summary["objectives"]
    assert rows[0]["corrected"] == pytest.approx(summary["corrected"]["objectives"]["ber"])
    assert rows[0]["test"] == summary["test"]
    assert all("test" not in row for row in rows[1:])
    losses = [row["objectives"]["ber"] for row in rows]
    assert losses == sorted(losses)
    assert any(row["spread"] > 0 for row in rows)
    assert all(row["seconds"] > 0 for row in rows)
    text = msl("top").out.splitlines()  # type: ignore[attr-defined]
    assert text[0].split() == ["corrected", "ber", "spread", "seconds", "complexity", "test", "ber", "model"]
    assert summary["best"] in text[1]
    assert "partly luck" in text[-1]


def test_python_has_them_too(folder: Path) -> None:
    result = library.run("m.msl", "t.csv", store=folder / "s")
    rows = result.top()
    assert rows[0]["model"] == result.best
    assert rows[0]["objectives"] == result.objectives


def test_the_spread_is_that_of_the_folds(folder: Path) -> None:
    """Computed again by hand from scikit-learn's own cross-validation of the same folds."""
    Path("m.msl").write_text(SPEC.replace("lda | qda | gaussian_nb | logistic", "gaussian_nb(rest = default)"))
    lines = Path("t.csv").read_text().splitlines()
    folds = ["f1,f2,class,fold", *(f"{line},{place // 20}" for place, line in enumerate(lines[1:]))]
    Path("t.csv").write_text("\n".join(folds) + "\n")
    with Path("m.msl").open("a") as spec:
        spec.write("data(fold = fold, target = class)\n")
    rows = library.run("m.msl", "t.csv", store=folder / "s").top()
    from sklearn.metrics import balanced_accuracy_score
    from sklearn.naive_bayes import GaussianNB

    cells = [line.split(",") for line in folds[1:]]
    X, y = np.array([[float(v) for v in cell[:2]] for cell in cells]), np.array([cell[2] for cell in cells])
    part = np.array([int(cell[3]) for cell in cells])
    losses = []
    for one in range(3):
        model = GaussianNB().fit(X[part != one], y[part != one])
        losses.append(1 - balanced_accuracy_score(y[part == one], model.predict(X[part == one])))
    assert rows[0]["spread"] == pytest.approx(np.std(losses, ddof=1))


def test_a_run_of_before_says_what_to_do(msl: Callable[..., object], folder: Path) -> None:
    with Store.open(folder / ".msl") as store:
        run = store.runs.start(NewRun("m", "m.msl", {"m.msl": SPEC}, Digests(*"abcde"))).id
        store.runs.end(run, "finished", {"best": "lda", "objectives": {"ber": 0.1}})
    shown = msl("top")
    assert shown.code != 0  # type: ignore[attr-defined]
    assert "older version" in shown.err  # type: ignore[attr-defined]
    assert "command again" in shown.err  # type: ignore[attr-defined]
