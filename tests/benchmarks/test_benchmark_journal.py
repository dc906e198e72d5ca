"""The journal: finished cells survive a kill, and a benchmark goes on with the rest."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks import registry
from benchmarks.benchmark import Benchmark, Workplace
from benchmarks.cell import Cell, Record
from benchmarks.journal import Journal
from benchmarks.report import Report, made_by
from benchmarks.workers import cell_folder, run_cells

CELLS = [Cell(name, split, "m", "2 evaluations") for split in (0, 1) for name in ("a", "b/c")]


def record(cell: Cell, value: float = 1.0) -> Record:
    return Record(cell, {"ber": value}, 0.5, "2025-01-01", "code")


def test_what_is_written_is_read(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "new" / "j.jsonl")
    assert journal.read() == []
    for cell in CELLS:
        journal.write(record(cell))
    assert journal.read() == [record(cell) for cell in CELLS]


def test_the_later_record_of_a_cell_counts(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j.jsonl")
    journal.write(record(CELLS[0], 1.0))
    journal.write(record(CELLS[0], 2.0))
    assert journal.read() == [record(CELLS[0], 2.0)]


def test_records_know_what_they_were_run_with(tmp_path: Path) -> None:
    """Which is written down when it changes, not with every record."""
    journal = Journal(tmp_path / "j.jsonl")
    old, new = {"numpy": "1"}, {"numpy": "2"}
    written = [replace(record(cell), environment=old if place < 2 else new) for place, cell in enumerate(CELLS)]
    for one in written:
        Journal(journal.path).write(one)
    assert [one.environment for one in journal.read()] == [old, old, new, new]
    assert journal.path.read_text().count("environment") == 2
    assert made_by(journal.read())["versions"] == {"numpy": "1 and 2"}
    assert made_by(journal.read()[:2])["versions"] == {"numpy": "1"}


def test_a_torn_line_costs_only_itself(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j.jsonl")
    journal.write(record(CELLS[0]))
    journal.write(record(CELLS[1]))
    whole = journal.path.read_bytes()
    journal.path.write_bytes(whole[:-20])
    assert journal.read() == [record(CELLS[0])]
    journal.write(record(CELLS[2]))
    assert journal.read() == [record(CELLS[0]), record(CELLS[2])]


def _benchmark(worked: list[Cell], broken: Sequence[Cell] = ()) -> Benchmark:
    def work(cell: Cell, place: Workplace) -> Mapping[str, Any]:
        worked.append(cell)
        place.folder.mkdir(parents=True)
        if cell in broken:
            raise RuntimeError("no such luck\nwith details")
        return {"ber": 0.25}

    return Benchmark("tried", lambda quick: CELLS, work, lambda records: Report("tried", "T", "", ()))


def test_only_what_is_missing_is_worked(tmp_path: Path, monkeypatch) -> None:
    worked: list[Cell] = []
    benchmark = _benchmark(worked)
    monkeypatch.setitem(registry.BENCHMARKS, "tried", benchmark)
    Journal(tmp_path / "tried.jsonl").write(record(CELLS[1]))
    run_cells(benchmark, CELLS, tmp_path, tmp_path, 1, lambda line: None)
    assert worked == [CELLS[0], CELLS[2], CELLS[3]]
    run_cells(benchmark, CELLS, tmp_path, tmp_path, 1, lambda line: None)
    assert len(worked) == 3
    assert not cell_folder(tmp_path, "tried", CELLS[0]).exists()


def test_a_cell_that_fails_is_told_of_and_tried_again(tmp_path: Path, monkeypatch) -> None:
    worked: list[Cell] = []
    said: list[str] = []
    benchmark = _benchmark(worked, broken=[CELLS[0]])
    monkeypatch.setitem(registry.BENCHMARKS, "tried", benchmark)
    run_cells(benchmark, CELLS, tmp_path, tmp_path, 1, said.append)
    assert len(Journal(tmp_path / "tried.jsonl").read()) == 3
    assert any("no such luck" in line and CELLS[0].key in line for line in said)
    assert "with details" in (tmp_path / "failures.log").read_text()
    assert cell_folder(tmp_path, "tried", CELLS[0]).exists(), "its evaluations are kept for the next time"


def test_what_needs_another_package_is_left_for_later(tmp_path: Path, monkeypatch) -> None:
    worked: list[Cell] = []
    benchmark = replace(_benchmark(worked), can_work=lambda cell: cell.data == "a")
    monkeypatch.setitem(registry.BENCHMARKS, "tried", benchmark)
    said: list[str] = []
    run_cells(benchmark, CELLS, tmp_path, tmp_path / "store", 1, said.append)
    assert {cell.data for cell in worked} == {"a"}
    assert said[:1] == ["tried: 0 of 4 cells are done, 2 to go"]
    run_cells(_benchmark(worked), CELLS, tmp_path, tmp_path / "store", 1, said.append)
    assert len(worked) == 4
