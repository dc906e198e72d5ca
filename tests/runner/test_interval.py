"""The winner's outputs for rows held out, and the interval of its estimate, against references computed another way."""

from __future__ import annotations

import gc
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import beta
from search_cases import SPACE, Searched, finished, searched, write_classes, write_numbers

from msl.check.names.scoring_declarations import metric_named
from msl.evaluate.metrics import score
from msl.runner import confidence_intervals
from msl.runner.confidence_intervals import HeldOut, interval_work, intervals
from msl.runner.summary import signed_losses
from msl.space.spec import Estimate

NUMBERS = "use clop\nchain m = standardize >> kridge(degree = 1, coef0 = 1, gamma = 0, shrinkage: 0.01 | 1)\n"
SEARCH = "search random(evaluations = 3)\n"


def winner(case: Searched) -> tuple[dict[str, float], dict[str, float], dict[Estimate, HeldOut]]:
    """The winner's metrics, its objectives, and its outputs."""
    best = case.verdict.best
    assert best is not None
    metrics = next(dict(one.metrics) for model, one in case.found.evaluator.evaluated.values() if model == best.model)
    return metrics, signed_losses(case.plan, best.losses), dict(finished(case).held)


def interval(case: Searched) -> list[float] | None:
    metrics, values, outputs = winner(case)
    (found,) = intervals(case.plan, metrics, values, outputs).values()
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    "goal",
    [
        "minimize ber by cv(folds = 3)",
        "minimize logloss by cv(folds = 3, repeats = 2)",
        "maximize auc by holdout(0.3)",
        "minimize error by loo()",
        "minimize error by bootstrap632(samples = 5)",
        "minimize ber by cv(folds = 3, shuffle = true)",
    ],
)
def test_outputs_for_rows_held_out_give_the_estimate_itself(tmp_path: Path, goal: str) -> None:
    case = searched(tmp_path, f"{SPACE}{goal}\n{SEARCH}", write_classes(tmp_path))
    metrics, _, outputs = winner(case)
    ((estimate, held),) = outputs.items()
    (name,) = metrics
    assert held.resampling.score(metric_named(name), held.outputs) == pytest.approx(metrics[name], abs=1e-12)
    assert estimate == case.plan.objectives[0].estimate


def test_counts_of_mistakes_have_jeffreys_interval(tmp_path: Path) -> None:
    """Of each class the error rate is a beta variable; the mean of three of them is drawn here by scipy."""
    case = searched(tmp_path, f"{SPACE}minimize ber by cv(folds = 3)\n{SEARCH}", write_classes(tmp_path))
    _, _, outputs = winner(case)
    ((_, held),) = outputs.items()
    wrong = held.outputs[0].argmax(axis=1) != held.resampling.pools[0].y
    rng = np.random.default_rng(0)
    rates = []
    for kind in range(3):
        own = wrong[held.resampling.pools[0].y == kind]
        rates.append(beta.rvs(own.sum() + 0.5, (~own).sum() + 0.5, size=100_000, random_state=rng))
    expected = np.percentile(np.mean(rates, axis=0), (2.5, 97.5))
    assert interval(case) == pytest.approx(expected.tolist(), abs=0.012)


def test_no_mistake_is_not_taken_for_none_at_all(tmp_path: Path) -> None:
    path = tmp_path / "easy.csv"
    lines = ["x,class", *(f"{i + 100 * (i >= 30)},{'ab'[i >= 30]}" for i in range(60))]
    path.write_text("\n".join(lines), encoding="utf-8")
    case = searched(tmp_path, "use sbm\nchain m = knn(k = 1, rest = default)\nminimize error by loo()\n", path)
    found = interval(case)
    assert found is not None
    assert winner(case)[1] == {"error": 0.0}
    assert found[0] == 0.0
    assert 0.01 < found[1] < 0.08


@pytest.mark.slow
def test_other_measures_have_the_interval_of_rows_drawn_again(tmp_path: Path) -> None:
    case = searched(tmp_path, f"{NUMBERS}minimize rmse by cv(folds = 3)\n{SEARCH}", write_numbers(tmp_path))
    _, _, outputs = winner(case)
    ((_, held),) = outputs.items()
    errors = (held.outputs[0] - held.resampling.pools[0].y) ** 2
    rng = np.random.default_rng(1)
    drawn = [np.sqrt(rng.choice(errors, len(errors)).mean()) for _ in range(20_000)]
    assert interval(case) == pytest.approx(np.percentile(drawn, (2.5, 97.5)).tolist(), rel=0.05)


def test_groups_are_drawn_as_a_whole(tmp_path: Path) -> None:
    table = write_classes(tmp_path, groups=True)
    text = f"data(target = class, groups = who)\n{SPACE}minimize error by cv(folds = 3)\n{SEARCH}"
    case = searched(tmp_path, text, table)
    _, _, outputs = winner(case)
    ((_, held),) = outputs.items()
    pool, given = held.resampling.pools[0], held.outputs[0]
    groups = case.plan.job.dataset.population.groups
    assert groups is not None
    rng = np.random.default_rng(2)
    drawn = []
    for _ in range(4_000):
        times = np.bincount(rng.integers(0, 30, 30), minlength=30)[groups[pool.rows]]
        drawn.append(score(metric_named("error"), pool.y, given, times.astype(float)))
    assert interval(case) == pytest.approx(np.percentile(drawn, (2.5, 97.5)).tolist(), abs=0.02)


def test_what_no_row_decides_has_no_interval(tmp_path: Path) -> None:
    text = "use sbm\nchain m = keep >> knn(k = 3, rest = default)\nminimize error by cv(folds = 3), features\n"
    case = searched(tmp_path, text + "search random(evaluations = 4)\n", write_classes(tmp_path))
    found = intervals(case.plan, *winner(case))
    assert found["features"] is None
    assert found["error"] is not None


def test_a_generalised_estimate_holds_nothing_out(tmp_path: Path) -> None:
    text = (
        "use rbf\nchain m = rbf_network(centers: regions(4), overlap = 0.5, basis = gaussian)\nminimize mse by gcv()\n"
    )
    case = searched(tmp_path, text + SEARCH, write_numbers(tmp_path))
    assert winner(case)[2] == {}
    assert interval(case) is None


def test_an_objective_made_of_several_measures(tmp_path: Path) -> None:
    """Measures of the model are as they were; the rest of the interval is that of the error, three times as wide."""
    table = write_classes(tmp_path)
    goal = "minimize {} by cv(folds = 3)\n" + SEARCH
    plain = interval(searched(tmp_path, SPACE + goal.format("error"), table))
    case = searched(tmp_path, SPACE + goal.format("3 * error + features"), table)
    assert plain is not None
    features = winner(case)[0]["features"]
    assert interval(case) == pytest.approx([3 * plain[0] + features, 3 * plain[1] + features])


def test_the_draws_of_an_interval_are_not_held_together(tmp_path: Path) -> None:
    rows = 4000
    goal = "minimize logloss by holdout(0.2)"
    case = searched(tmp_path, f"use clop\nchain m = naive\n{goal}\n{SEARCH}", write_classes(tmp_path, rows))
    metrics, values, outputs = winner(case)
    gc.collect()
    tracemalloc.start()
    try:
        found = intervals(case.plan, metrics, values, outputs)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert list(found) == ["logloss"]
    assert peak < 100 * rows * 8, "a thousand draws weigh each row of the table, a few of them at a time"


@pytest.mark.parametrize("goal", ["maximize auc", "minimize logloss", "minimize 2 * ber + logloss"])
def test_of_many_rows_what_each_adds_says_the_same_as_draws(
    tmp_path: Path, goal: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The present way, by a thousand draws, on rows of which both are quick."""
    table = write_two_classes(tmp_path, 2_400)
    case = searched(tmp_path, f"use clop\nchain m = naive\n{goal} by cv(folds = 3)\n{SEARCH}", table)
    metrics, values, outputs = winner(case)
    (drawn,) = intervals(case.plan, metrics, values, outputs).values()
    work = interval_work(case.plan)
    monkeypatch.setattr(confidence_intervals, "_MOST_ROWS", 1_000_000)  # of so many rows draws would be fewer
    (told,) = intervals(case.plan, metrics, values, outputs).values()
    assert drawn is not None
    assert told is not None
    assert told != drawn
    width = drawn[1] - drawn[0]
    assert told == pytest.approx(drawn, abs=0.1 * width), "a thousand draws know the ends to about a twentieth of it"
    assert interval_work(case.plan) < work / 900, "no draws are foretold"


def test_where_a_class_is_rare_rows_are_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = searched(
        tmp_path,
        f"use clop\nchain m = naive\nmaximize auc by cv(folds = 3)\n{SEARCH}",
        write_two_classes(tmp_path, 1_200, 0.1),
    )
    metrics, values, outputs = winner(case)
    monkeypatch.setattr(confidence_intervals, "_MOST_ROWS", 120_000)
    found = intervals(case.plan, metrics, values, outputs)
    monkeypatch.setattr(confidence_intervals, "_of_influence", lambda *given: None)
    assert found == intervals(case.plan, metrics, values, outputs), "as without the closed form"


def write_two_classes(folder: Path, rows: int, share: float = 0.4) -> Path:
    rng = np.random.default_rng(8)
    kinds = rng.random(rows) < share
    values = rng.normal(size=rows) + 1.2 * kinds
    lines = [f"{value:.3f},{'ab'[int(kind)]}" for value, kind in zip(values, kinds, strict=True)]
    path = folder / "two.csv"
    path.write_text("\n".join(["x,class", *lines]) + "\n", encoding="utf-8")
    return path
