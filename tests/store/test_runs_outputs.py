"""The store keeps what models were judged by: with their evaluations, within a limit; what has changed is noticed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from run_examples import DATA, PROTOCOL, asked, digest, evaluation, order

from msl.evaluate.kept_outputs import pack_outputs
from msl.evaluate.resampling import Resampling
from msl.evaluate.splits import Split
from msl.space.spec import Estimate
from msl.store.doctor import examine, repair
from msl.store.evaluation import Evaluation, EvaluationInputs
from msl.store.gc import collect
from msl.store.outputs_table import NewOutputs
from msl.store.store import Store
from msl.store.store_error import StoreError

ROWS = np.arange(40)
SPLITS = Resampling.of(Estimate("cv", "msl.evaluate:cv"), [Split(ROWS, ROWS)], ROWS % 2, None)


def packed(number: int) -> bytes:
    outputs = np.random.default_rng(number).dirichlet([1.0, 1.0], len(ROWS))
    return pack_outputs([(SPLITS, [outputs])], "all")


def new(numbers: list[int], most: int = 1_000_000) -> NewOutputs:
    return NewOutputs(DATA, PROTOCOL, most, {evaluation(number).key: packed(number) for number in numbers})


def recorded(store: Store, numbers: list[int], most: int = 1_000_000) -> str:
    run = store.runs.start(order()).id
    evaluations, queries = [evaluation(n) for n in numbers], [asked(place) for place in numbers]
    store.record(run, evaluations, queries, outputs=new(numbers, most))
    store.runs.end(run, "finished", {})
    return run


def test_what_was_stored_comes_back_in_another_process(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        recorded(store, [0, 1, 2])
    with Store.open(tmp_path, read_only=True) as store:
        found = store.outputs.read(evaluation(number).key for number in (0, 2, 5))
        assert found == {evaluation(number).key: packed(number) for number in (0, 2)}
        assert store.outputs.kept() == 3
    assert not examine(tmp_path)


def test_they_are_stored_with_their_evaluations_or_not_at_all(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        run = store.runs.start(order()).id
        store.record(run, [evaluation(1)], [asked(1)])
        with pytest.raises(StoreError):  # another query at a place that has one
            store.record(run, [evaluation(4)], [replace(asked(4), position=1)], outputs=new([4]))
        assert not store.outputs.read([evaluation(4).key])
        assert not store.evaluations.read([evaluation(4).key])


@pytest.mark.parametrize("reverse", [False, True])
def test_over_the_limit_those_of_the_worst_models_are_dropped(tmp_path: Path, reverse: bool) -> None:
    numbers = [number for number in range(20) if number % 10 not in (3, 7)]
    room = 6 * len(packed(0))
    with Store.open(tmp_path) as store:
        recorded(store, numbers[::-1] if reverse else numbers, room)
        kept = [number for number in numbers if store.outputs.read([evaluation(number).key])]
        assert kept == numbers[: len(kept)]
        assert 3 <= len(kept) <= 6
        assert store.evaluations.read([evaluation(19).key])


def test_the_limit_counts_what_an_earlier_process_has_stored(tmp_path: Path) -> None:
    room = 4 * len(packed(0))
    with Store.open(tmp_path) as store:
        recorded(store, [10, 11, 12], room)
    with Store.open(tmp_path) as store:
        recorded(store, [0, 1, 2], room)
        assert [n for n in (0, 1, 2, 10, 11, 12) if store.outputs.read([evaluation(n).key])] == [0, 1, 2]


def sizes_without_a_limit(folder: Path, count: int, content: bytes | None) -> tuple[int, list[int]]:
    """The bytes of a store with so many evaluations, and the numbers of those that have outputs."""
    with Store.open(folder) as store:
        run = store.runs.start(order()).id
        for start in range(0, count, 100):
            numbers = range(start, min(start + 100, count))
            packed = {evaluation(n).key: content for n in numbers} if content else {}
            kept = NewOutputs(DATA, PROTOCOL, None, packed)
            store.record(run, [evaluation(n) for n in numbers], [asked(n) for n in numbers], outputs=kept)
        found = [n for n in range(count) if store.outputs.read([evaluation(n).key])]
        store.database.shrink()
    return (folder / "store.sqlite").stat().st_size, found


def best_first(count: int) -> list[int]:
    return sorted(range(count), key=lambda n: (evaluation(n).losses, evaluation(n).complexity))


def test_without_a_limit_the_store_grows_to_three_times_its_size_and_the_best_are_kept(tmp_path: Path) -> None:
    large = np.random.default_rng(0).bytes(1_900)
    few, some = (sizes_without_a_limit(tmp_path / f"{one is None}", 1_800, one) for one in (None, large))
    assert some[0] <= 3 * few[0]
    assert 1_200 <= len(some[1]) < 1_800
    assert set(best_first(1_800)[:900]) <= set(some[1])


def test_small_stores_drop_no_outputs_and_large_outputs_are_kept_of_the_best(tmp_path: Path) -> None:
    content = np.random.default_rng(0).bytes(180_000)
    assert len(sizes_without_a_limit(tmp_path / "small", 60, content[:30_000])[1]) == 60
    assert sizes_without_a_limit(tmp_path / "huge", 30, content)[1] == sorted(best_first(30)[:20])


def test_with_several_objectives_the_front_is_kept(tmp_path: Path) -> None:
    losses = [(1.0, 9.0), (5.0, 5.0), (9.0, 1.0), (2.0, 9.5), (6.0, 6.0), (9.5, 9.5)]
    evaluations = [
        Evaluation(EvaluationInputs(digest("of two", n), {}, DATA, PROTOCOL, 7), "naive", pair)
        for n, pair in enumerate(losses)
    ]
    kept = NewOutputs(DATA, PROTOCOL, 4 * len(packed(0)), {one.key: packed(0) for one in evaluations})
    with Store.open(tmp_path) as store:
        run = store.runs.start(order()).id
        store.record(run, evaluations, [asked(0)], outputs=kept)
        assert set(store.outputs.read(one.key for one in evaluations)) == {one.key for one in evaluations[:3]}


def test_gc_removes_them_with_their_evaluations(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        run = recorded(store, [0, 1, 2])
        before = collect(store, [run], dry_run=True)
        assert store.outputs.kept() == 3
        assert collect(store, [run]).database_bytes == before.database_bytes
        assert before.database_bytes > 3 * len(packed(0))
        assert store.outputs.kept() == 0


@pytest.mark.parametrize(
    "change", ["content = zeroblob(size)", "content = substr(content, 1, 20)", "content = 'text'", "size = 3"]
)
def test_what_has_changed_is_noticed_and_repaired(tmp_path: Path, change: str) -> None:
    with Store.open(tmp_path) as store:
        recorded(store, [0, 1, 2])
        with store.database.transaction() as connection:
            connection.execute(f"UPDATE outputs SET {change} WHERE key = ?", (evaluation(1).key,))
        with pytest.raises(StoreError, match="outputs of a model"):
            store.outputs.read([evaluation(1).key])
    assert any(finding.kind == "damage" and "outputs" in finding.message for finding in examine(tmp_path))
    repair(tmp_path)
    with Store.open(tmp_path) as store:
        assert set(store.outputs.read(evaluation(n).key for n in (0, 1, 2))) == {evaluation(n).key for n in (0, 2)}
        assert len(store.evaluations.read(evaluation(n).key for n in (0, 1, 2))) == 3
