"""Strategies by name: those that ship, those of other packages, and names that are none."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from offered_package import install

from msl.check.names import catalogues
from msl.search.base import Query, SearchSpace
from msl.search.stages import load_strategy, strategy_targets
from msl.search.strategy_context import Setting


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """A package with strategies, one of which would replace a strategy that ships."""
    install(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] in ("annealing", "bare")]:
        del sys.modules[name]


def test_every_strategy_of_the_catalogue_can_be_loaded() -> None:
    text = catalogues.text("strategies", 1)
    for name in catalogues.shipped_strategies():
        function = "start" if name == "portfolio" else name  # both evaluate what they are given
        assert f'block {name}: strategy "msl.search:{function}"' in text
        assert load_strategy(name).__name__ == function
    assert text.count(": strategy ") == len(catalogues.shipped_strategies()) == 14


@pytest.mark.usefixtures("offered")
def test_a_package_can_offer_a_strategy() -> None:
    assert list(strategy_targets()) == [*catalogues.shipped_strategies(), "anneal", "bare", "broken", "number"]
    setting = Setting(SearchSpace.continuous(2), {}, np.random.default_rng(0), start=np.array([0.5, 0.5]))
    (ask,) = next(load_strategy("anneal")(setting))
    assert isinstance(ask, Query)
    assert ask.vector.tolist() == [0.5, 0.5]


@pytest.mark.slow
@pytest.mark.usefixtures("offered")
def test_a_package_cannot_replace_a_strategy_that_ships() -> None:
    assert load_strategy("pso").__module__ == "msl.search.strategies.pso"


@pytest.mark.usefixtures("offered")
def test_what_is_offered_must_be_a_function() -> None:
    with pytest.raises(ValueError, match="`number` is not a function but int"):
        load_strategy("number")


@pytest.mark.usefixtures("offered")
def test_what_is_offered_must_be_there() -> None:
    with pytest.raises(ValueError, match=r"`broken` of the package `annealing` cannot be loaded: No module named"):
        load_strategy("broken")


def test_a_name_that_is_none() -> None:
    with pytest.raises(ValueError, match="`patern` is not a strategy; did you mean `pattern`"):
        load_strategy("patern")
    with pytest.raises(ValueError, match="strategies are pso, bpso"):
        load_strategy("xyz")
