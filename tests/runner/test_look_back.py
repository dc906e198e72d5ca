"""`msl why` and `msl suggest`: what is planted in a space and in a table is found, and nothing else is."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from search_cases import write_classes, write_numbers
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LinearRegression

import msl as library
from msl.report.search_importance import GOOD, DrawnModels, beyond_chance, explained, measured, surely_above
from msl.runner.insight.suggestions import _natural_limits
from msl.runner.session import Result
from msl.store.store import Store

Runs = Callable[[str], tuple[Result, Path]]

PLANTED = """block planted: learner "planted:Planted" {{ {parameters} }}
chain m = planted
minimize error by cv(folds = 2)
search {search}
"""
ALL = "a: real 0..0.5, b: real 0..1, kind: good | bad | fine"


def write_rows(folder: Path, rows: int = 120) -> Path:
    """The sign of `clue` is the class, `place` spreads errors over the rows, and `void` is nothing."""
    rng = np.random.default_rng(7)
    lines = ["clue,place,void,class"]
    for row in range(rows):
        kind = row % 2
        lines.append(f"{(1 if kind else -1) * rng.uniform(0.5, 1):.3f},{(row // 2 * 2 + 1) / rows:.4f},"
                     f"{rng.normal():.3f},{'no yes'.split()[kind]}")  # fmt: skip
    path = folder / "rows.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., tuple[Result, Path]]:
    """A run of the planted learner with these parameters, made once."""
    made: dict[tuple[str, str], tuple[Result, Path]] = {}

    def get(parameters: str, search: str = "random(evaluations = 120)") -> tuple[Result, Path]:
        if (parameters, search) not in made:
            folder = tmp_path_factory.mktemp("planted")
            spec = folder / "planted.msl"
            spec.write_text(PLANTED.format(parameters=parameters, search=search), encoding="utf-8")
            result = library.run(spec, str(write_rows(folder)), store=folder / ".msl", trusted=("planted",))
            made[parameters, search] = result, folder
        return made[parameters, search]

    return get


# --- what mattered in the search ---


def test_what_decides_is_found_and_what_does_nothing_is_not(planted: Callable[..., tuple[Result, Path]]) -> None:
    result, _ = planted(ALL)
    (found,) = result.why()["search"]
    decisions = {one["name"].rpartition(".")[2]: one for one in found["decisions"]}
    assert found["models"] == result.summary["new"] - result.summary["failures"]
    assert decisions["a"]["is_certain"]
    assert decisions["kind"]["is_certain"]
    assert not decisions["b"]["is_certain"]
    assert min(decisions["a"]["importance"], decisions["kind"]["importance"]) > decisions["b"]["importance"]
    for one in found["decisions"]:
        assert one["interval"][0] <= one["importance"] <= one["interval"][1]
    assert decisions["b"]["place"] == [3, 3]  # it is sure that the two others matter more
    assert "place" in repr(result.why())


def test_the_share_of_variance_is_that_of_an_analysis_of_variance() -> None:
    """One level of four decides alone whether a model is good, and another dimension only where it is active."""
    rng = np.random.default_rng(1)
    shares = rng.uniform(size=(40_000, 3))
    level = (shares[:, 0] * 4).astype(int)
    good = (level == 2).astype(float)
    active = np.ones_like(shares, dtype=bool)
    assert good.mean() == pytest.approx(GOOD, abs=0.01)
    found = explained(good, shares, active, [4, None, None])
    assert found == pytest.approx([1.0, 0.0, 0.0], abs=0.01)
    # Active in half of the models, where it decides all: the other half has no good ones, which it does not explain.
    active[:, 1] = shares[:, 0] < 0.5
    good = (active[:, 1] & (shares[:, 1] < 0.5)).astype(float)
    found = explained(good, shares, active, [None, None, None])
    within = active[:, 1].mean() * 0.25 / (good.mean() * (1 - good.mean()))
    assert found[1] == pytest.approx(within, abs=0.02)


def conditional(rows: int, rng: np.random.Generator) -> tuple[DrawnModels, np.ndarray]:
    """A choice of two; in the first branch a number decides alone about good models, another has no effect."""
    shares = rng.uniform(size=(rows, 3))
    first = shares[:, 0] < 0.5
    active = np.column_stack([np.ones(rows, dtype=bool), first, ~first])
    shares = np.where(active, shares, 0.0)
    losses = np.where(first, 10.0 * np.square(shares[:, 1] - 0.2), 20.0) + 0.1 * rng.normal(size=rows)
    return DrawnModels(shares, active, [2, None, None], [True, False, False]), losses


def test_a_search_that_goes_where_models_are_good_says_the_same_as_one_that_draws_evenly() -> None:
    rng = np.random.default_rng(3)
    everywhere, losses = conditional(400, rng)
    even = everywhere.shares[:80], everywhere.active[:80], losses[:80]
    # Mostly the first branch near its best place: among these few models, the number hardly varies.
    near = np.argsort(losses)[:60]
    some = np.concatenate([near, np.arange(20)])
    uneven = everywhere.shares[some], everywhere.active[some], losses[some]
    space, exact = conditional(1_000, rng)
    good = (exact <= np.quantile(exact, GOOD)).astype(float)
    true = explained(good, space.shares, space.active, space.levels)
    assert min(true[0], true[1]) > 0.2
    for shares, active, known in (even, uneven):
        draws = measured(shares, active, known, space, np.random.default_rng(0))
        assert draws.mean(axis=0) == pytest.approx(true, abs=0.1)
        assert surely_above(draws)[:2, 2].all()
        assert not surely_above(draws)[2].any()


def test_where_a_search_has_not_been_the_order_is_not_said_to_be_sure() -> None:
    rng = np.random.default_rng(4)
    everywhere, losses = conditional(400, rng)
    shares, active = everywhere.shares, everywhere.active
    losses = np.where(active[:, 2], 6.0 * shares[:, 2], losses)  # the second branch is good too, if its number is low
    few = np.flatnonzero(active[:, 1])[:60]
    space, _ = conditional(1_000, rng)
    draws = measured(shares[few], active[few], losses[few], space, np.random.default_rng(0))
    assert not surely_above(draws).any()
    everything = measured(shares, active, losses, space, np.random.default_rng(0))
    assert surely_above(everything)[1].tolist() == [True, False, True]


def test_noise_is_not_foreseen_and_an_effect_is() -> None:
    rng = np.random.default_rng(5)
    everywhere, losses = conditional(60, rng)
    models = everywhere.shares, everywhere.active
    assert beyond_chance(*models, losses, everywhere, rng)
    told = [beyond_chance(*models, rng.normal(size=60), everywhere, rng) for _ in range(12)]
    assert sum(told) <= 3  # one of twenty by chance: more than three of twelve have p < 0.003


@pytest.mark.parametrize(
    ("parameters", "search", "words"),
    [
        ("a: real 0..1", "random(evaluations = 12)", "too few"),
        ("b: real 0..1", "random(evaluations = 30)", "same loss"),
        ("a = 0.5", "grid", "nothing open"),
    ],
)
def test_a_search_that_says_nothing_says_why(
    planted: Callable[..., tuple[Result, Path]], parameters: str, search: str, words: str
) -> None:
    result, _ = planted(parameters, search)
    assert words in result.why()["search"][0]["why"]


# --- what the model looks at ---


def test_shuffled_columns_cost_what_scikit_learn_says(tmp_path: Path) -> None:
    """On one held-out part, whose rows are told by the spec, with scikit-learn's own permutations."""
    table = write_numbers(tmp_path, 400)
    lines = table.read_text().splitlines()
    table.write_text(
        "\n".join([f"{lines[0]},fold", *(f"{one},{-1 if n % 2 else 0}" for n, one in enumerate(lines[1:]))])
    )
    spec = "use sklearn\nchain m = linear_regression(rest = default)\nminimize mse by cv()\nsearch grid\n"
    spec += "data(target = y, fold = fold)\n"
    result = library.run(spec, str(table), store=tmp_path / ".msl")
    model = result.why()["model"]
    found = {one["columns"][0]: one for one in model["columns"]}
    cells = np.array([[float(cell) for cell in line.split(",")] for line in table.read_text().splitlines()[1:]])
    train, test = cells[cells[:, 4] == -1], cells[cells[:, 4] == 0]
    fitted = LinearRegression().fit(train[:, :3], train[:, 3])
    theirs = permutation_importance(
        fitted, test[:, :3], test[:, 3], scoring="neg_mean_squared_error", n_repeats=50, random_state=0
    )
    assert model["rows"] == len(test)
    assert model["value"] == pytest.approx(float(np.mean((fitted.predict(test[:, :3]) - test[:, 3]) ** 2)))
    for place, name in enumerate(("f1", "f2", "f3")):
        assert found[name]["importance"] == pytest.approx(theirs.importances_mean[place], rel=0.2)
        assert found[name]["is_certain"]
    assert [one["columns"][0] for one in model["columns"]] == ["f2", "f1", "f3"]
    effect = next(one for one in model["effects"] if one["column"] == "f2")
    rise = np.diff(effect["series"]["y"]) / np.diff(effect["values"])
    assert rise == pytest.approx(fitted.coef_[1])  # the partial dependence of a linear model is its slope
    off = np.abs(fitted.predict(test[:, :3]) - test[:, 3])
    worst = model["worst"][0]
    assert worst["off"] == pytest.approx(off.max())
    assert worst["row"] == int(np.flatnonzero(cells[:, 4] == 0)[off.argmax()]) + 1


def test_noise_is_not_told_to_matter(planted: Callable[..., tuple[Result, Path]]) -> None:
    result, _ = planted(ALL)
    columns = {one["columns"][0]: one for one in result.why()["model"]["columns"]}
    assert columns["clue"]["is_certain"]
    assert not columns["void"]["is_certain"]
    assert columns["void"]["importance"] == 0  # the learner does not look at it


def test_columns_that_stand_for_each_other_are_shuffled_together(tmp_path: Path) -> None:
    table = write_numbers(tmp_path, 200)
    lines = table.read_text().splitlines()
    twice = [f"copy,{lines[0]}", *(f"{line.split(',')[1]},{line}" for line in lines[1:])]
    table.write_text("\n".join(twice) + "\n")
    spec = "use sklearn\nchain m = ridge(alpha = 1)\nminimize rmse by cv(folds = 3)\nsearch grid\ndata(target = y)\n"
    model = library.run(spec, str(table), store=tmp_path / ".msl").why()["model"]
    (joint,) = model["together"]
    assert sorted(joint["columns"]) == ["copy", "f2"]
    alone = {one["columns"][0]: one["importance"] for one in model["columns"]}
    assert joint["importance"] > alone["copy"] + alone["f2"]


def test_without_the_table_the_search_is_still_told(tmp_path: Path) -> None:
    spec = tmp_path / "m.msl"
    spec.write_text("use sklearn\nchain m = k_neighbors(n_neighbors: int 1..50)\nminimize error by cv(folds = 3)\n"
                    "search random(evaluations = 40)\n")  # fmt: skip
    table = write_classes(tmp_path)
    library.run(spec, str(table), store=tmp_path / ".msl")
    code, out, _ = _msl("why", "--store", str(tmp_path / ".msl"), "--search", "--json")
    assert code == 0
    assert json.loads(out)["search"][0]["decisions"]
    table.write_text(table.read_text() + "9,9,9,a\n")
    code, out, _ = _msl("why", "--store", str(tmp_path / ".msl"), "--json")
    assert code == 0
    record = json.loads(out)
    assert record["model"] is None
    assert "has changed since the run" in record["model_why"]
    assert record["search"][0]["decisions"]


# --- what to change in the spec ---


def _suggested(result: Result) -> dict[str, list[Mapping[str, Any]]]:
    found: dict[str, list[Mapping[str, Any]]] = {}
    for one in result.suggest()["suggestions"]:
        found.setdefault(one["kind"], []).append(one)
    return found


def test_an_alternative_that_never_is_good_is_dropped(planted: Callable[..., tuple[Result, Path]]) -> None:
    result, _ = planted(ALL)
    assert [one["says"] for one in _suggested(result)["drop"]] == ["drop `bad` from `planted.kind`"]
    assert "close" not in _suggested(result)


@pytest.mark.parametrize("search", ["random(evaluations = 80)", "pso(swarm = 8, iterations = 9)"])
def test_a_range_that_ends_too_early_is_widened(planted: Callable[..., tuple[Result, Path]], search: str) -> None:
    """Also where the search went to the end, so that most of its models lie there."""
    result, _ = planted("a: real 0..0.5, b: real 0..1", search)
    (one,) = _suggested(result)["widen"]
    assert one["says"] == "widen `planted.a` at its upper end: real 0..1"
    assert '+block planted: learner "planted:Planted" { a: real 0..1, b: real 0..1 }' in one["patch"]
    assert all(one["evidence"] and one["patch"].startswith("--- a/") for one in result.suggest()["suggestions"])


def test_a_wider_range_crosses_no_natural_limit() -> None:
    assert _natural_limits([0.2, 1.0], "real") == (0.02, 1.0)  # a share, perhaps
    assert _natural_limits([0, 0.5], "real") == (0, 1)
    assert _natural_limits([2, 100], "int") == (1, float("inf"))
    assert _natural_limits([-1.0, 3.0], "real") == (float("-inf"), float("inf"))


def test_what_failures_imply_is_required(planted: Callable[..., tuple[Result, Path]]) -> None:
    result, _ = planted("a: real 0..1, low: int 0..9, high: int 0..9")
    (one,) = _suggested(result)["require"]
    assert one["says"] == "require planted.low <= planted.high"
    assert one["figures"]["failures"] == result.summary["failures"]


def test_chance_alone_suggests_nothing(tmp_path: Path) -> None:
    """Labels without any connection: of 3 searches at most one finds something beyond chance (5 % of each kind)."""
    found = 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        lines = ["a,b,class", *(f"{rng.normal():.3f},{rng.normal():.3f},{'xy'[rng.integers(2)]}" for _ in range(60))]
        table = tmp_path / f"{seed}.csv"
        table.write_text("\n".join(lines) + "\n")
        spec = (
            "use sklearn\nchain m = k_neighbors(n_neighbors: int 1..30, weights: uniform | distance)\n"
            "minimize error by cv(folds = 3)\nsearch random(evaluations = 40)\n"
        )
        result = library.run(spec, str(table), store=tmp_path / f"s{seed}", seed=seed)
        kinds = [one["kind"] for one in result.suggest()["suggestions"]]
        found += any(kind in ("drop", "widen") for kind in kinds)
    assert found <= 1


def test_applied_suggestions_change_the_spec_as_their_patches_say(
    planted: Callable[..., tuple[Result, Path]], tmp_path: Path
) -> None:
    _, made = planted("a: real 0..0.5, b: real 0..1", "random(evaluations = 80)")
    spec, store = made / "planted.msl", str(made / ".msl")
    before = spec.read_text()
    code, patch, _ = _msl("suggest", "--store", store, "--patch")
    assert code == 0
    (tmp_path / "planted.msl").write_text(before)
    subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=patch, text=True, check=True)
    code, out, err = _msl("suggest", "--store", store, "--apply")
    assert code == 0, err
    after = spec.read_text()
    spec.write_text(before)
    assert after == (tmp_path / "planted.msl").read_text()
    assert "a: real 0..1" in after
    assert f"wrote {spec}" in out.replace("\n", " ") or "wrote" in out
    code, _, err = _msl("suggest", "--store", store, "--only", "99")
    assert code != 0
    assert "names no suggestion" in err
    code, _, err = _msl("suggest", "--store", store, "--patch", "--json")
    assert code != 0


def test_a_run_that_is_too_short_says_so(planted: Callable[..., tuple[Result, Path]]) -> None:
    result, _ = planted("a: real 0..1", "random(evaluations = 12)")
    record = result.suggest()
    assert len(record) == 0
    assert "too few" in record["why"]
    assert "too few" in repr(record)


def test_notebooks_show_what_the_terminal_shows(planted: Callable[..., tuple[Result, Path]]) -> None:
    result, made = planted("a: real 0..0.5, b: real 0..1", "random(evaluations = 80)")
    why, suggested = result.why(), result.suggest()
    assert "clue" in repr(why)
    assert "clue" in why._repr_html_()
    assert "widen" in suggested._repr_html_()
    with Store.open(made / ".msl", read_only=True) as store:
        assert store.runs.ids()


def _msl(*arguments: str) -> tuple[int, str, str]:
    """The command in a process of its own, in a folder that has none of its files."""
    done = subprocess.run(
        [sys.executable, "-m", "msl", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=tempfile.gettempdir(),
    )
    return done.returncode, done.stdout, done.stderr
