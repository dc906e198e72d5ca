"""The prefix cache: what is there is not computed again, and the cap holds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KDTree

from msl.evaluate import prefix_cache
from msl.evaluate.prefix_cache import PrefixCache, approximate_size


def test_a_value_is_computed_once():
    cache = PrefixCache(1_000_000)
    made = []
    first = cache.get("a", lambda: made.append(1) or np.zeros(10))
    again = cache.get("a", lambda: made.append(1) or np.zeros(10))
    assert again.value is first.value
    assert (first.is_new, again.is_new) == (True, False)
    assert len(made) == 1
    figures = cache.figures()
    assert (figures.hits, figures.misses) == (1, 1)
    assert figures.seconds_saved > 0


def test_without_a_key_or_without_room_nothing_is_kept():
    for cache, key in ((PrefixCache(1_000_000), None), (PrefixCache(0), "a"), (PrefixCache(1_000), "a")):
        assert cache.get(key, lambda: np.zeros(1000)).is_new
        assert cache.get(key, lambda: np.zeros(1000)).is_new
        assert cache.figures().bytes == 0


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 3000)), min_size=1, max_size=120))
def test_the_cap_holds_whatever_comes(requests):
    cache = PrefixCache(100_000)
    for key, size in requests:
        got = cache.get((key, size), lambda size=size: np.zeros(size))
        assert len(got.value) == size
        assert cache.figures().bytes <= 100_000
    assert cache.figures().most_bytes <= 100_000


class Clock:
    """A clock that goes as it is told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr(prefix_cache, "perf_counter", lambda: self.now)

    def numbers(self, count: int, seconds: float) -> Callable[[], np.ndarray]:
        """Makes so many numbers in so many seconds."""

        def compute() -> np.ndarray:
            self.now += seconds
            return np.zeros(count)

        return compute


def test_what_saves_least_for_its_bytes_goes_first(monkeypatch):
    clock, cache = Clock(monkeypatch), PrefixCache(100_000)
    cache.get("dear", clock.numbers(1000, 0.02))
    for number in range(40):
        cache.get(("cheap", number), clock.numbers(1000, 1e-5))
    assert not cache.get("dear", clock.numbers(1000, 0.0)).is_new
    assert cache.figures().evictions > 0


def test_what_is_no_longer_used_makes_room_in_the_end(monkeypatch):
    clock, cache = Clock(monkeypatch), PrefixCache(100_000)
    cache.get("old", clock.numbers(1000, 0.002))
    for number in range(200):
        cache.get(("new", number), clock.numbers(2000, 0.001))
    assert cache.get("old", clock.numbers(1000, 0.0)).is_new


def test_sizes_count_arrays_once_and_leave_out_those_of_others():
    rows = np.zeros((100, 10))
    assert 8000 <= approximate_size(rows) < 8500
    assert approximate_size([rows, rows, rows[:5]]) < 9000
    assert approximate_size({"a": rows}, but=(rows,)) < 500
    assert approximate_size((rows[:50],), but=(rows,)) < 500


def test_sizes_see_into_compiled_objects():
    draw = np.random.default_rng(0)
    X, y = draw.normal(size=(500, 5)), draw.integers(0, 2, 500)
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    nodes = sum(tree.tree_.node_count for tree in forest.estimators_)
    assert approximate_size(forest) > 56 * nodes
    assert approximate_size(KDTree(X)) >= X.nbytes


class Growing:
    """A value that grows when it is used."""

    def __init__(self) -> None:
        self.nbytes = 1000


def test_what_grows_is_weighed_again():
    cache = PrefixCache(100_000)
    value = cache.get("a", Growing).value
    before = cache.figures().bytes
    value.nbytes = 50_000
    cache.weigh("a", 1.0)
    assert cache.figures().bytes == before + 49_000
    # dear now, so that it outlives what is cheap
    for number in range(60):
        cache.get(("cheap", number), lambda: np.zeros(1000))
    assert cache.get("a", Growing).value is value
    value.nbytes = 150_000
    cache.weigh("a", 0.1)
    assert cache.figures().bytes <= 100_000
    assert cache.get("a", Growing).is_new
    cache.weigh("b", 0.1)
    cache.weigh(None, 0.1)
