"""Runs are remembered with all that made them, found by name, and can be shown to repeat themselves."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from run_examples import BEGINNING, Ticking, asked, evaluation, order

from msl.store.evaluation import StoredQuery
from msl.store.store import Store
from msl.store.store_error import StoreError
from msl.store.stored_run import Event, NewRun, Process, find_run_id, make_run_id, this_process


def start_by(store: Store, process: Process, name: str = "psms") -> str:
    """A run that another process began."""
    run = store.runs.start(order(name)).id
    with store.database.transaction() as connection:
        values = (process.host, process.pid, process.born, run)
        connection.execute("UPDATE runs SET host = ?, pid = ?, born = ? WHERE id = ?", values)
    return run


def gone_process() -> Process:
    """A process of this machine that has ended."""
    script = "from msl.store.stored_run import this_process as p; print(p().pid, p().born)"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    return replace(this_process(), pid=int(told[0]), born=told[1])


# --- beginning and end ---


def test_a_run_is_remembered_with_all_that_made_it(store: Store) -> None:
    ordered = order("psms", seed=2**70)
    run = store.runs.start(ordered)
    assert (run.name, run.spec, run.seed, run.digests) == ("psms", "psms.msl", 2**70, ordered.digests)
    assert (run.versions, run.options) == (ordered.versions, ordered.options)
    assert (run.status, run.started, run.ended, run.process) == ("running", BEGINNING, None, this_process())
    assert store.runs.sources(run.id) == ordered.sources
    store.runs.end(run.id, "finished", {"best": "knn(k = 3)", "objectives": {"ber": np.float64(0.25)}})
    ended = store.runs.get(run.id)
    assert ended.status == "finished"
    assert ended.ended is not None
    assert ended.ended > run.started
    assert ended.result == {"best": "knn(k = 3)", "objectives": {"ber": 0.25}}


def test_sources_shared_by_runs_are_stored_once(store: Store) -> None:
    for _ in range(3):
        store.runs.start(order())
    assert store.database.rows("SELECT count(*) FROM texts") == [(2,)]
    assert store.database.rows("SELECT count(*) FROM sources") == [(6,)]


def test_an_order_without_the_text_of_its_spec_is_refused() -> None:
    with pytest.raises(ValueError, match="is not among the sources"):
        replace(order(), spec="another.msl")


def test_names_of_files_that_are_no_text_can_be_stored(store: Store) -> None:
    strange = "psms-\udcff.msl"
    ordered = order()
    run = store.runs.start(
        NewRun(strange, strange, {strange: "msl 1"}, ordered.digests),
    )
    assert store.runs.sources(run.id) == {"psms-\\udcff.msl": "msl 1"}


def test_figures_that_are_no_plain_data_are_refused(store: Store) -> None:
    run = store.runs.start(order()).id
    with pytest.raises(TypeError, match="a set cannot be stored"):
        store.runs.add_event(run, Event("odd", {"figures": {1, 2}}))


def test_runs_of_the_same_thing_are_found_by_digest(store: Store) -> None:
    first, _, third = (store.runs.start(order(name)).id for name in ("psms", "kms", "psms"))
    assert [run.id for run in store.runs.with_digest(order("psms").digests.run)] == [third, first]


def test_what_does_not_exist_cannot_go_on(store: Store) -> None:
    for act in (
        lambda: store.runs.get("nothing"),
        lambda: store.runs.claim("nothing"),
        lambda: store.runs.end("nothing", "finished"),
        lambda: store.runs.add_event("nothing", Event("odd")),
        lambda: store.record("nothing", [evaluation(1)], [asked(1)]),
    ):
        with pytest.raises(StoreError) as caught:
            act()
        assert caught.value.code == "MSL506"
    assert len(store.evaluations) == 0


# --- who works on it ---


def test_a_run_whose_process_is_gone_is_interrupted(store: Store) -> None:
    run = start_by(store, gone_process())
    assert store.runs.get(run).status == "interrupted"
    assert store.runs.stale() == [run]
    assert store.runs.mark_interrupted() == [run]
    assert store.runs.stale() == []
    assert store.runs.get(run).ended == store.runs.get(run).seen


def test_a_number_that_another_process_has_now_does_not_count(store: Store) -> None:
    reused = replace(this_process(), born="another boot:1")
    assert store.runs.get(start_by(store, reused)).status == "interrupted"


def test_on_another_machine_silence_tells(tmp_path: Path) -> None:
    clock = Ticking(step=timedelta(minutes=10))
    with Store.open(tmp_path, clock=clock) as store:
        run = start_by(store, Process("elsewhere.example", 1))
        assert store.runs.get(run).status == "running"
        with pytest.raises(StoreError, match=r"process 1 on elsewhere\.example"):
            store.runs.claim(run)
        clock.now += timedelta(hours=1)
        assert store.runs.get(run).status == "interrupted"
        assert store.runs.claim(run).process == this_process()


def test_only_one_process_works_on_a_run(store: Store) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        run = start_by(store, Process(this_process().host, other.pid))
        with pytest.raises(StoreError, match=f"process {other.pid}") as caught:
            store.runs.claim(run)
        assert caught.value.code == "MSL511"
        other.communicate(b"\n")
    claimed = store.runs.claim(run)
    assert (claimed.status, claimed.process) == ("running", this_process())
    assert [event.kind for event in store.runs.lifecycle(run)] == ["resumed"]
    assert store.runs.claim(run).id == run


def test_an_ended_run_can_be_taken_up_again(store: Store) -> None:
    run = store.runs.start(order()).id
    store.runs.end(run, "interrupted", {"best": "knn"})
    claimed = store.runs.claim(run)
    assert (claimed.status, claimed.ended, claimed.result) == ("running", None, {"best": "knn"})


# --- asks and events ---


def test_asks_come_back_in_order_to_the_last_bit(store: Store) -> None:
    run, other = store.runs.start(order()).id, store.runs.start(order()).id
    outside = StoredQuery(12, 1, 3, None, (float("inf"), 0.1 + 0.2), complexity=float("nan"), cutoff=float("inf"))
    written = [*(asked(position) for position in range(12)), outside]
    store.record(run, queries=written[7:])
    store.record(run, queries=written[:7])
    store.record(other, queries=[asked(0, "another")])
    assert repr(store.runs.queries(run)) == repr(written)
    assert repr(store.runs.queries(run, 3, 5)) == repr(written[3:6])


def test_a_replay_changes_nothing(store: Store) -> None:
    run = store.runs.start(order()).id
    asks, told = [asked(position) for position in range(5)], [Event("iteration", {"best": 0.5}, 0)]
    store.record(run, map(evaluation, range(5)), asks, told)
    before = [store.database.rows(f"SELECT * FROM {table}") for table in ("evaluations", "asks", "events")]
    again = [replace(one, losses=(0.9,)) for one in asks]  # a bound may be known better by now
    store.record(run, map(evaluation, range(5)), again, told)
    after = [store.database.rows(f"SELECT * FROM {table}") for table in ("evaluations", "asks", "events")]
    assert before == after


@pytest.mark.parametrize("change", [{"key": "other"}, {"vector": (0.0, 0.5)}, {"stage": 1}, {"batch": 9}])
def test_a_replay_that_asks_something_else_is_a_problem(store: Store, change: dict[str, object]) -> None:
    run = store.runs.start(order()).id
    store.record(run, queries=[asked(position) for position in range(5)])
    with pytest.raises(StoreError, match="query 3") as caught:
        store.record(run, [evaluation(9)], [asked(2), replace(asked(3), **change), asked(5)])
    assert caught.value.code == "MSL512"
    assert len(store.runs.queries(run)) == 5
    assert len(store.evaluations) == 0


def test_what_the_strategy_tells_is_apart_from_what_befalls_the_run(store: Store) -> None:
    run = store.runs.start(order()).id
    store.record(run, events=[Event("iteration", {"best": np.array([0.5, np.inf])}, 1)])
    store.runs.add_event(run, Event("time is up"))
    store.record(run, events=[Event("iteration", {"best": [0.7]}, 0), Event("iteration", {"best": "ignored"}, 1)])
    store.runs.add_event(run, Event("time is up"))
    assert [event.figures["best"] for event in store.runs.events(run)] == [[0.7], [0.5, float("inf")]]
    assert [event.kind for event in store.runs.lifecycle(run)] == ["time is up", "time is up"]


# --- names ---


def test_ids_sort_by_time_and_differ_within_a_second(tmp_path: Path) -> None:
    with Store.open(tmp_path, clock=lambda: BEGINNING) as store:
        ids = [store.runs.start(order()).id for _ in range(20)]
        assert len(set(ids)) == 20
        assert store.runs.ids() == ids[::-1]
    assert all(run.startswith("20251116-025301-") and len(run) == 21 for run in ids)
    assert make_run_id("d", BEGINNING + timedelta(days=40)) > max(ids)
    assert make_run_id("d", BEGINNING) == make_run_id("d", BEGINNING)


IDS = ["20251117-080000-sotud", "20251116-025301-lusab", "20251116-025259-lupaz"]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("@", 0),
        ("@0", 0),
        ("@1", 1),
        ("@2", 2),
        (IDS[1], 1),
        ("20251117", 0),
        ("20251116-025259", 2),
        ("sotud", 0),
        ("lus", 1),
    ],
)
def test_a_run_is_found_by_name(name: str, found: int) -> None:
    assert find_run_id(name, IDS) == IDS[found]


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("2025", "MSL507", "`2025` fits 3 runs"),
        ("lu", "MSL507", "write more of it: `20251116-025301-lusab`, `20251116-025259-lupaz`"),
        ("lusap", "MSL506", "did you mean `20251116-025301-lusab`?"),
        ("20251116-025301-lusap", "MSL506", "did you mean `20251116-025301-lusab`?"),
        ("@3", "MSL506", "there are 3 runs"),
        ("@3", "MSL506", "`@2` is the oldest, 20251116-025259-lupaz"),
        ("psms", "MSL506", "the latest runs are `20251117-080000-sotud`"),
        ("", "MSL506", "there is no run ``"),
        ("@x", "MSL506", "there is no run `@x`"),
    ],
)
def test_a_name_that_means_no_run_gets_an_answer(name: str, code: str, words: str) -> None:
    with pytest.raises(StoreError) as caught:
        find_run_id(name, IDS)
    assert caught.value.code == code
    assert words in str(caught.value)


def test_names_in_an_empty_store(store: Store) -> None:
    with pytest.raises(StoreError, match="has no runs yet") as caught:
        store.runs.find("@")
    assert caught.value.code == "MSL506"
    run = store.runs.start(order())
    assert store.runs.find("@").id == run.id
    with pytest.raises(StoreError, match="`@` is the oldest"):
        store.runs.find("@1")
