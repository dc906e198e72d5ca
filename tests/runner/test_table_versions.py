"""Earlier versions of a table: found by their rows, told apart, and good for models to start from."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from msl.data.options import DataOptions
from msl.data.read import read_table
from msl.runner.plan import Plan, make_plan
from msl.runner.session import RunRequest, run_plan
from msl.runner.spec_source import checked_spec, read_spec
from msl.runner.table_versions import EarlierTable, find_earlier_table, start_file_text
from msl.store.lock import Lock, differences, lock_to_text, text_to_lock
from msl.store.store import Store

SPEC = """use sklearn
data(target = y)
chain m = k_neighbors(n_neighbors: int 1..9, rest = default) | gaussian_nb(rest = default)
minimize balanced_accuracy by cv(folds = 2)
search grid(steps = 5)
"""
TEXT = SPEC.replace("minimize", "maximize")
OLD = pl.DataFrame(
    {
        "x": [i * 7919 % 101 / 10 + i % 2 for i in range(60)],
        "day": [f"2024-01-{1 + i % 28:02}" for i in range(60)],
        "y": ["no", "yes"] * 30,
    }
)
NEW = pl.concat([OLD, OLD.head(6).with_columns(x=pl.col("x") + 0.05)])


def planned(frame: pl.DataFrame, text: str = TEXT) -> Plan:
    table = read_table(frame, options=DataOptions(target="y"))
    spec, _ = checked_spec(read_spec(text), table.facts)
    return make_plan(spec, table)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a run on the old table."""
    place = tmp_path_factory.mktemp("store")
    source = read_spec(TEXT)
    run_plan(RunRequest(plan=planned(OLD), source=source, sources=(source,), data="old.csv"), place)
    return place


def earlier(folder: Path, frame: pl.DataFrame, text: str = TEXT) -> EarlierTable | None:
    with Store.open(folder, read_only=True) as store:
        return find_earlier_table(store, planned(frame, text))


def test_rows_that_were_added_are_told(folder: Path) -> None:
    found = earlier(folder, NEW)
    assert found is not None
    assert (found.changes.same, found.difference) == (60, "6 rows added")
    assert found.evaluations == 10
    assert str(found).startswith("from an earlier version of this table: 10 evaluations (6 rows added; run ")
    assert found.data == planned(OLD).digests.data
    assert found.parent() == {"data": found.data, "added": 6, "removed": 0, "changed": 0}


@pytest.mark.parametrize(
    ("frame", "difference"),
    [
        (OLD.head(59), "1 row removed"),
        (OLD[::-1], "the same rows in another order"),
        (OLD.with_columns(x=pl.when(pl.int_range(60) == 7).then(99.0).otherwise("x")), "1 row changed"),
        (OLD.select("y", "day", "x").head(50), "10 rows removed"),
        (OLD.with_columns(x=pl.col("x") + 1.0), None),
        (OLD.with_columns(z=pl.col("x")), None),
        (OLD.head(20).vstack(OLD.with_columns(x=pl.col("x") + 1.0)), "40 rows added, 20 changed"),
        (OLD, None),
    ],
)
def test_versions_have_half_of_their_rows_in_common_and_the_same_columns(
    folder: Path, frame: pl.DataFrame, difference: str | None
) -> None:
    found = earlier(folder, frame)
    if difference == "40 rows added, 20 changed":  # only a third of the old rows is left
        assert found is None
    else:
        assert (None if found is None else found.difference) == difference


def test_evaluations_by_another_protocol_are_none_of_this_one(folder: Path) -> None:
    assert earlier(folder, NEW, TEXT.replace("folds = 2", "folds = 3")) is None


def test_the_best_models_of_the_earlier_version_can_be_evaluated_first(folder: Path, tmp_path: Path) -> None:
    plan = planned(NEW)
    with Store.open(folder, read_only=True) as store:
        found = find_earlier_table(store, plan)
        assert found is not None
        text = start_file_text(store, plan, found)
    chains = [line for line in text.splitlines() if line.startswith("chain ")]
    values = [float(text.splitlines()[text.splitlines().index(line) - 1][2:]) for line in chains]
    assert len(chains) == 5
    assert values == sorted(values, reverse=True)
    assert min(values) > 0.0
    (tmp_path / "start.msl").write_text(text, encoding="utf-8")
    spec = tmp_path / "s.msl"
    spec.write_text(TEXT.replace("search grid(steps = 5)", 'search start("start.msl")'), encoding="utf-8")
    checked, _ = checked_spec(read_spec(spec), plan.table.facts)
    assert len(make_plan(checked, plan.table).stages[0].points) == 5


def test_rows_that_cannot_be_read_are_no_earlier_version(folder: Path) -> None:
    (rows,) = (folder / "models").glob("*.rows")
    content = rows.read_bytes()
    try:
        for damaged in (b"", content[:-3], b"x" + content):
            rows.write_bytes(damaged)
            assert earlier(folder, NEW) is None
    finally:
        rows.write_bytes(content)


def test_a_lock_names_the_parent_and_does_not_compare_it() -> None:
    lock = Lock(0, {"data": "d"}, parent={"data": "e", "added": 6, "removed": 0, "changed": 1})
    text = lock_to_text(lock)
    assert text.endswith('[parent]\nadded = 6\nchanged = 1\ndata = "e"\nremoved = 0\n')
    assert text_to_lock(text) == lock
    assert differences(lock, Lock(0, {"data": "d"})) == []
    assert "parent" not in lock_to_text(Lock(0, {"data": "d"}))
