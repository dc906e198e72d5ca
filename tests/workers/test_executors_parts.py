"""The small parts of executors, each by itself."""

from __future__ import annotations

import pickle

import executor_models as em
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from msl.space.spec import Budget
from msl.space.values import BlockValue, Branches, Model, SymbolValue
from msl.workers.executor import Grouping
from msl.workers.fork_server import WorkerEnd
from msl.workers.shared_arrays import SharedArrays, unnamed_file
from msl.workers.task import Limits, modules_of, spell_bytes
from msl.workers.worker import Heartbeat

arrays = st.builds(
    lambda rows, columns, kind, order: np.arange(rows * columns).reshape(rows, columns).astype(kind, order=order),
    st.integers(0, 9),
    st.integers(0, 9),
    st.sampled_from(["f8", "i4", "u1", "?"]),
    st.sampled_from("CF"),
)


@given(st.lists(arrays, max_size=5), st.text(max_size=5))
def test_mapped_values_come_back(parts: list[np.ndarray], text: str) -> None:
    mapped = SharedArrays.of((parts, text))
    travelled = pickle.loads(pickle.dumps(mapped))
    for copy in (mapped, travelled):
        found, words = copy.value
        assert words == text
        for one, other in zip(found, parts, strict=True):
            np.testing.assert_array_equal(one, other)
            assert one.dtype == other.dtype
            assert one.size == 0 or not one.flags.writeable
            assert one.ctypes.data % 64 == 0 or one.size == 0
    assert travelled.digest == mapped.digest


def test_mapped_values_share_arrays_that_were_one() -> None:
    array = np.arange(10.0)
    first, second = SharedArrays.of([array, array]).value
    assert first is second


@given(st.lists(st.floats(1e-5, 10), min_size=1, max_size=50), st.integers(1, 500), st.integers(1, 8))
def test_groups_are_fair_and_short(seconds: list[float], waiting: int, workers: int) -> None:
    grouping = Grouping(0.02)
    assert grouping.size(waiting, workers) == 1
    for each in seconds:
        grouping.learn(each)
    size = grouping.size(waiting, workers)
    assert 1 <= size <= max(1, -(-waiting // (2 * workers)))
    assert size == 1 or size * min(seconds) <= 0.02


def test_small_evaluations_are_grouped() -> None:
    grouping = Grouping(0.02)
    grouping.learn(0.001)
    assert grouping.size(1000, 2) == 20
    assert grouping.size(8, 2) == 2


def test_a_pulse_tells_what_was_written() -> None:
    with unnamed_file() as page:
        worker, pool = Heartbeat(page.fileno()), Heartbeat(page.fileno())
    assert pool.read().number == 0
    worker.begin(3, 1000)
    worker.step("größer" * 100)
    state = pool.read()
    assert (state.number, state.held) == (3, 1000)
    assert state.step.startswith("größergrößer")
    assert state.step_started >= state.started > 0
    worker.step("b")
    assert pool.read().step == "b"
    worker.end(3)
    assert pool.read().number == -3


def test_endings_are_told() -> None:
    assert WorkerEnd(signal=11).failure("svc").message == "the process was killed by SIGSEGV (Segmentation fault)"
    assert "memory" in WorkerEnd(signal=9).manner
    assert "signal 40" in WorkerEnd(signal=40).manner
    assert WorkerEnd(status=3, peak=5).failure("a").cause == "exit"
    assert WorkerEnd().failure("a").cause == "crash"


def test_modules_of_a_model() -> None:
    inner = em.step("sklearn.tree:DecisionTreeClassifier", "learner")
    boosted = em.step(
        "sklearn.ensemble:AdaBoostClassifier",
        "learner",
        estimator=inner,
        pair=(SymbolValue("a", (("x", em.step("msl.blocks:Normalize")),)), 1),
    )
    scaler = em.step("sklearn.preprocessing:StandardScaler")
    branches = Branches(((scaler,), (em.step("sklearn.decomposition:PCA"), scaler)))
    assert isinstance(boosted, BlockValue)
    assert modules_of(Model((branches, boosted))) == {
        "sklearn.tree",
        "sklearn.ensemble",
        "sklearn.preprocessing",
        "sklearn.decomposition",
        "msl.blocks.preprocessing.scalers",
    }


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 B"), (999, "999 B"), (1_500_000, "1.5 MB"), (2_000_000_000_000, "2 TB")]
)
def test_bytes_are_spelled(count: int, text: str) -> None:
    assert spell_bytes(count) == text


def test_limits_of_a_budget() -> None:
    assert Limits.of(Budget(each=2.0, memory=5)) == Limits(each=2.0, memory=5)
    with pytest.raises(ValueError, match="`memory` must be larger than 0, not -1"):
        Limits(memory=-1)


def test_the_messages_of_limits_name_them() -> None:
    limits = Limits(each=5.0, fit=2.5, memory=200_000_000)
    assert limits.each_message() == "the evaluation took longer than 5 s"
    assert limits.fit_message() == "one block took longer than 2.5 s"
    assert limits.memory_message() == f"the evaluation needed more memory than {spell_bytes(200_000_000)}"
