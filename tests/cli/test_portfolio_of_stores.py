"""msl portfolio: from stores to a file that a search starts from."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import msl as library
from msl.check.check_spec import check_source
from msl.diagnostics.source import Source
from msl.report.learned_portfolio import UNKNOWN, greedy_portfolio, left_out, regret_of, regrets

SPEC = """data(target = y)
use sklearn
block near: learner "sklearn.neighbors:KNeighbors*" {{ n_neighbors: int 1..40, weights = {weights} }}
chain m = near(n_neighbors: 1 | 5 | 25) | {other}
minimize {goal} by cv(folds = 3)
search grid
"""


def write_store(folder: Path, seed: int, weights: str, other: str, numbers: bool = False) -> Path:
    """A store with the models of a small space on a table of its own."""
    folder.mkdir()
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2))
    signal = X[:, 0] + 0.5 * rng.normal(size=60)
    target = [f"{value:.3f}" for value in signal] if numbers else ["ab"[int(value > 0)] for value in signal]
    rows = [f"{a:.3f},{b:.3f},{y}" for (a, b), y in zip(X, target, strict=True)]
    (folder / "table.csv").write_text("a,b,y\n" + "\n".join(rows) + "\n")
    text = SPEC.format(weights=weights, other=other, goal="rmse" if numbers else "ber")
    (folder / "spec.msl").write_text(text)
    library.run(folder / "spec.msl", folder / "table.csv", store=folder / ".msl", baselines=False)
    return folder


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("stores")
    others = ["gaussian_nb(rest = default)", "lda(rest = default)", "gaussian_nb(rest = default)"]
    weights = ['"uniform"', '"distance"', '"uniform"']
    pairs = zip(others, weights, strict=True)
    return [write_store(folder / str(n), n, weight, other) for n, (other, weight) in enumerate(pairs)]


def test_the_file_is_one_that_a_search_starts_from(msl: Callable[..., Any], stores: list[Path], tmp_path: Path) -> None:
    done = msl("portfolio", *map(str, stores), "-o", str(tmp_path / "first.msl"))
    assert done.code == 0
    assert "each table left out in turn: regret" in done.err
    text = (tmp_path / "first.msl").read_text()
    chains = [line.split(" = ", 1)[1] for line in text.splitlines() if line.startswith("chain ")]
    assert any(chain.startswith("near(") for chain in chains)
    assert not any("weights" in chain for chain in chains), "what a block fixes follows from the next spec"
    assert not any("lda" in chain for chain in chains), "a single table knows it"
    spec = SPEC.format(weights='"distance"', other="gaussian_nb(rest = default)", goal="ber")
    spec = spec.replace("search grid", 'search start("first.msl") then auto(evaluations = 5)')
    checked = check_source(Source("next.msl", spec, str(tmp_path / "next.msl")), read_file=lambda _: text)
    assert not checked.diagnostics
    assert checked.spec is not None
    assert len(checked.spec.search[0].models) == len(chains)


def test_a_model_counts_once_however_its_block_is_fixed(msl: Callable[..., Any], stores: list[Path]) -> None:
    text = msl("portfolio", *map(str, stores)).out
    assert "of 3 tables" in text
    assert "from 3 tables of classification" in text


def test_cheap_models_come_first(msl: Callable[..., Any], stores: list[Path]) -> None:
    text = msl("portfolio", *map(str, stores), "--size", "4").out
    times = [float(line.split(", ")[1].split()[0]) for line in text.splitlines() if "usual time" in line]
    assert times == sorted(times)
    assert 1 < len(times) <= 4


def test_bad_input_has_a_way_out(msl: Callable[..., Any], stores: list[Path], tmp_path: Path) -> None:
    numbers = write_store(tmp_path / "numbers", 9, '"uniform"', "ridge(rest = default)", numbers=True)
    first, other = str(stores[0]), str(numbers)
    both = msl("portfolio", first, other)
    assert both.code != 0
    assert "--task classification" in both.err
    one = msl("portfolio", first, other, "--task", "regression")
    assert one.code == 0
    assert "1 table of regression" in one.out
    assert "cannot be seen whether it transfers" in one.err
    none = msl("portfolio", first, "--task", "regression")
    assert none.code != 0
    assert "leave `--task` out" in none.err
    nowhere = msl("portfolio", str(tmp_path / "nowhere"))
    assert nowhere.code != 0
    assert "Traceback" not in nowhere.err


def test_the_greedy_choice_against_all_subsets() -> None:
    """Of two models greedy takes the best first, and the best partner of it."""
    rng = np.random.default_rng(0)
    losses = {f"t{t}": {f"m{m}": float(rng.random()) for m in range(6)} for t in range(5)}
    losses["t0"]["m1"] = float("inf")
    regret = regrets(losses)
    assert all(min(own.values()) == 0.0 and max(own.values()) <= UNKNOWN for own in regret.values())
    assert regret["t0"]["m1"] == UNKNOWN

    def mean(chosen: tuple[str, ...]) -> float:
        return float(np.mean([regret_of(chosen, own) for own in regret.values()]))

    names = [f"m{m}" for m in range(6)]
    first, second = greedy_portfolio(regret, 2)
    assert mean((first,)) == min(mean((name,)) for name in names)
    assert mean((first, second)) == min(mean(pair) for pair in combinations(names, 2) if first in pair)


def test_a_table_that_is_left_out_takes_no_part() -> None:
    """The model that is best on the others is the worst there."""
    regret = {"a": {"x": 0.0, "y": 2.0}, "b": {"x": 0.0, "y": 2.0}, "c": {"x": 2.0, "y": 0.0}}
    (found,) = [one for one in left_out(regret, 1, None, regret) if one.name == "c"]
    assert (found.regret, found.known) == (2.0, 1)
    assert left_out({"a": regret["a"], "b": regret["b"]}, 1, None, regret) == []
