"""Evaluations come back as they were written, and the better known one is always the one that stays."""

from __future__ import annotations

import atexit
import hashlib
import json
import math
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from run_examples import BEGINNING, DATA, PROTOCOL, Ticking, evaluation, order, question

import msl
from msl.store.evaluation import Evaluation, EvaluationInputs, StoredFailure, evaluation_key
from msl.store.store import Store
from msl.store.store_error import StoreError

PARTS = {
    "model": "m",
    "versions": {"msl": "1", "sklearn": "2"},
    "data": "d",
    "protocol": "p",
    "seed": 3,
    "share": 0.5,
    "repeat": 1,
}

finite = st.floats(allow_nan=False, allow_infinity=False)
texts = st.text(max_size=20)
#: Also half characters, as file names on POSIX have them.
strange_texts = st.text(st.characters(), max_size=20)


def questions() -> st.SearchStrategy[EvaluationInputs]:
    return st.builds(
        EvaluationInputs,
        model=texts,
        versions=st.dictionaries(texts, texts, max_size=3),
        data=texts,
        protocol=texts,
        seed=st.integers(),
        share=finite,
        repeat=st.integers(),
    )


def evaluations(asked: st.SearchStrategy[EvaluationInputs]) -> st.SearchStrategy[Evaluation]:
    numbers = st.floats(allow_nan=False)
    common = {
        "inputs": asked,
        "text": texts,
        "metrics": st.dictionaries(texts, st.floats(), max_size=3),
        "complexity": st.floats(),
        "seconds": st.floats(0, 1e9),
        "fits": st.integers(0, 10**6),
        "fits_saved": st.integers(0, 10**6),
        "folds_skipped": st.integers(0, 100),
        "warnings": st.lists(texts, max_size=3).map(tuple),
    }
    troubles = st.builds(StoredFailure, texts, texts, texts, st.none() | st.integers(0, 2**40))
    losses = st.lists(numbers, min_size=1, max_size=3).map(tuple)
    bounds = st.tuples(finite, finite).map(sorted)
    return st.one_of(
        st.builds(Evaluation, losses=losses, cutoff=st.none() | numbers, **common),
        st.builds(Evaluation, losses=losses, failure=troubles, **common),
        bounds.flatmap(
            lambda pair: st.builds(
                Evaluation, losses=st.just((pair[1],)), bound=st.just(True), cutoff=st.just(pair[0]), **common
            )
        ),
    )


# --- keys ---


def test_a_key_is_the_hash_of_its_parts_spelt_out() -> None:
    spelt = (
        '["msl evaluation",2,{"data":"d","model":"m","protocol":"p","seed":3,"share":0.5,"turn":1,'
        '"versions":{"msl":"1","sklearn":"2"}}]'
    )
    assert evaluation_key(**PARTS) == hashlib.sha256(spelt.encode()).hexdigest()


@pytest.mark.parametrize(
    ("part", "other"),
    [
        ("model", "m2"),
        ("versions", {"msl": "1", "sklearn": "2.1"}),
        ("versions", {"msl": "1"}),
        ("data", "d2"),
        ("protocol", "p2"),
        ("seed", 4),
        ("share", 0.25),
        ("repeat", 2),
    ],
)
def test_every_part_of_a_key_counts(part: str, other: object) -> None:
    assert evaluation_key(**{**PARTS, part: other}) != evaluation_key(**PARTS)


def test_what_means_the_same_has_the_same_key() -> None:
    shuffled = {**PARTS, "versions": {"sklearn": "2", "msl": "1"}}
    assert evaluation_key(**shuffled) == evaluation_key(**PARTS)
    assert evaluation_key(**{**PARTS, "share": 1}) == evaluation_key(**{**PARTS, "share": 1.0})
    assert EvaluationInputs(**PARTS).key == evaluation_key(**PARTS)


# --- what an evaluation may be ---


@given(bound=finite, other=st.none() | finite)
def test_a_bound_answers_only_those_it_beats(bound: float, other: float | None) -> None:
    known = Evaluation(question(1), "knn", (bound,), bound=True, cutoff=bound)
    assert known.answers(other) == (other is not None and bound >= other)
    assert Evaluation(question(1), "knn", (bound,)).answers(other)
    assert Evaluation(question(1), "knn", (math.inf,), failure=StoredFailure("crash", "")).answers(other)


@pytest.mark.parametrize(
    "wrong",
    [
        {"losses": ()},
        {"losses": (math.nan,)},
        {"losses": (0.1,), "bound": True},
        {"losses": (0.1,), "bound": True, "cutoff": 0.2},
        {"losses": (0.1, 0.2), "bound": True, "cutoff": 0.1},
        {"losses": (0.1,), "bound": True, "cutoff": 0.1, "failure": StoredFailure("crash", "")},
    ],
)
def test_an_evaluation_that_cannot_be_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"bound|number"):
        Evaluation(question(1), "knn", **wrong)  # type: ignore[arg-type]


# --- writing and reading ---


@cache
def shared_store() -> Store:
    """One for all examples of the properties: to make a store takes longer than to use it."""
    folder = TemporaryDirectory()
    atexit.register(folder.cleanup)
    return Store.open(Path(folder.name), clock=lambda: BEGINNING)


def emptied_store() -> Store:
    with shared_store().database.transaction() as connection:
        connection.execute("DELETE FROM evaluations")
    return shared_store()


def same(one: Evaluation, other: Evaluation) -> bool:
    """Equal to the last bit, NaN like NaN; zeros may lose their sign where SQLite keeps them."""

    def plain(each: Evaluation) -> str:
        complexity = each.complexity + 0.0
        cutoff = None if each.cutoff is None else each.cutoff + 0.0
        asked = replace(each.inputs, versions=dict(sorted(each.inputs.versions.items())))
        return repr(replace(each, inputs=asked, complexity=complexity, cutoff=cutoff, seconds=each.seconds + 0.0))

    return plain(one) == plain(other)


@settings(max_examples=100)
@given(batch=st.lists(evaluations(questions()), max_size=4, unique_by=lambda one: one.key))
def test_what_is_written_is_read(batch: list[Evaluation]) -> None:
    store = emptied_store()
    store.evaluations.write(batch, run="20251116-025301-lusab")
    found = store.evaluations.read([one.key for one in batch])
    assert found.keys() == {one.key for one in batch}
    for one in batch:
        assert same(found[one.key], replace(one, run="20251116-025301-lusab", created=BEGINNING, tool=msl.__version__))


@settings(max_examples=60)
@given(
    writes=st.lists(st.lists(evaluations(st.sampled_from([question(1), question(2)])), max_size=3), max_size=6),
)
def test_the_better_known_one_stays(writes: list[list[Evaluation]]) -> None:
    """Against a dictionary that is kept by the rule in words: value over failure over bound, high bound over low."""
    model: dict[str, Evaluation] = {}
    store = emptied_store()
    for batch in writes:
        store.evaluations.write(batch)
        for one in batch:
            old = model.get(one.key)
            ranks = [0 if each.bound else 1 if each.failure else 2 for each in (one, old) if each]
            if old is None or ranks[0] > ranks[1] or (ranks == [0, 0] and one.losses[0] > old.losses[0]):
                model[one.key] = one
    found = store.evaluations.read(model)
    assert found.keys() == model.keys()
    for key, one in model.items():
        assert same(found[key], replace(one, created=BEGINNING, tool=msl.__version__))


@given(message=strange_texts)
@settings(max_examples=50)
def test_any_words_of_a_failing_block_can_be_stored(message: str) -> None:
    failed = Evaluation(
        question(1), "knn", (math.inf,), failure=StoredFailure("exception", message, message), warnings=(message,)
    )
    store = emptied_store()
    store.evaluations.write([failed])
    (found,) = store.evaluations.read([failed.key]).values()
    assert found.failure is not None
    assert found.failure.message == message.encode("utf-8", "backslashreplace").decode()


def test_endless_words_are_cut(store: Store) -> None:
    failed = Evaluation(question(1), "knn", (math.inf,), failure=StoredFailure("exception", "x" * 1_000_000))
    store.evaluations.write([failed])
    (found,) = store.evaluations.read([failed.key]).values()
    assert found.failure is not None
    assert found.failure.message == "x" * 3999 + "…"


def test_many_keys_are_read_at_once_and_unknown_ones_left_out(store: Store) -> None:
    written = [evaluation(number) for number in range(1234)]
    store.evaluations.write(written)
    found = store.evaluations.read([one.key for one in written for _ in range(2)] + ["unknown"])
    assert found.keys() == {one.key for one in written}
    assert len(store.evaluations) == 1234
    assert store.evaluations.read([]) == {}


def test_a_batch_is_written_whole_or_not_at_all(store: Store) -> None:
    store.evaluations.write([evaluation(1)])
    unstorable = replace(evaluation(2), metrics={"ber": "a text"})  # type: ignore[dict-item]
    with pytest.raises(ValueError, match="could not convert"):
        store.evaluations.write([evaluation(3), unstorable])
    assert store.evaluations.read([evaluation(3).key]) == {}
    store.evaluations.write([evaluation(3)])
    assert len(store.evaluations) == 2


@pytest.mark.slow
def test_all_that_is_known_of_a_table_comes_in_order(store: Store) -> None:
    run = store.runs.start(order())
    here = [evaluation(number) for number in range(4500)]
    store.evaluations.write(here[:4000], run.id)
    store.evaluations.write([evaluation(number, data="other") for number in range(10)])
    store.evaluations.write(here[4000:])
    told = list(store.evaluations.about(DATA, PROTOCOL))
    assert [one.inputs for one in told] == [one.inputs for one in here]
    values = [one.seconds for one in here if not one.bound and one.failure is None]
    assert store.evaluations.timings(DATA, PROTOCOL) == values
    assert store.evaluations.timings(DATA, "another protocol") == []
    assert store.evaluations.made_by(run.id) == 4000


def test_evaluations_carry_when_and_by_what_they_were_made(tmp_path: Path) -> None:
    with Store.open(tmp_path, clock=Ticking()) as store:
        store.evaluations.write([evaluation(1)])
        store.evaluations.write([evaluation(2)])
        found = store.evaluations.read([evaluation(1).key, evaluation(2).key])
    first, second = found[evaluation(1).key], found[evaluation(2).key]
    assert first.created is not None
    assert second.created is not None
    assert (second.created - first.created).total_seconds() == 1
    assert first.tool == msl.__version__


def test_a_changed_row_is_not_believed(store: Store) -> None:
    """SQLite has no checksums of its own: a flipped bit in a loss would go unseen."""
    store.evaluations.write([evaluation(1)])
    with store.database.transaction() as connection:
        connection.execute("UPDATE evaluations SET losses = ?", (json.dumps([0.0]),))
    with pytest.raises(StoreError, match="checksum") as caught:
        store.evaluations.read([evaluation(1).key])
    assert caught.value.code == "MSL503"
