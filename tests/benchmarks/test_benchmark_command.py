"""The command, its reports and the document, on a small table written here."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score

from benchmarks.__main__ import main
from benchmarks.benchmark import Workplace
from benchmarks.cell import Cell, Record
from benchmarks.contestants import Budget, OutOfTime, ask_and_tell, try_ours, try_search
from benchmarks.datasets import drawn_split
from benchmarks.journal import Journal
from benchmarks.markdown import report_to_markdown, table_to_markdown
from benchmarks.registry import BENCHMARKS
from benchmarks.report import Table
from benchmarks.results import fullest, write_results
from benchmarks.speed import MODULES, measure_speed, speed_report
from benchmarks.trial import balanced_error


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A table under the name of one that the quick protocol of psms uses."""
    X, y = make_classification(70, 4, random_state=0, class_sep=2.0)
    table = pl.DataFrame(X, schema=[f"f{place}" for place in range(4)]).with_columns(pl.Series("class", 2 * y - 1))
    table.write_csv(tmp_path / "heart.csv")
    (tmp_path / "raetsch_split_sizes.json").write_text(json.dumps({"heart": {"n_train": 40}}))
    return tmp_path


@pytest.mark.slow
def test_a_benchmark_runs_writes_and_goes_on(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store, written = tmp_path / "store", tmp_path / "out.json"
    command = ["papers.psms", "--quick", "--only", "heart/0/pattern", "--data", str(folder), "--store", str(store)]
    assert main([*command, "--json", str(written)]) == 0
    assert "0 of 1 cells are done" in capsys.readouterr().err
    (report,) = json.loads(written.read_text())
    assert report["made"]["cells"] == 1
    assert report["name"] == "papers.psms"
    assert main(command) == 0
    assert "1 of 1 cells are done, 0 to go" in capsys.readouterr().err
    document = tmp_path / "results.md"
    assert write_results(store, document) == 1
    assert "PSMS" in document.read_text()


@pytest.mark.slow
def test_settings_of_the_swarm_keep_the_errors_of_every_model(folder: Path, tmp_path: Path) -> None:
    """Those too that are worse than the best of their particle, of which the swarm itself sees a bound only."""
    settings = BENCHMARKS["papers.psms_settings"]
    (cell,) = settings.cells(True)
    outcome = settings.work(cell, Workplace(folder, tmp_path / "work"))
    models = outcome["models"]
    assert len(models) > 80
    assert outcome["cv"] == pytest.approx(np.mean([cv for _, cv, _ in models]), abs=1e-4)
    assert all(0 <= test <= 1 for _, _, test in models if test is not None)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing", "--data", "."], "no benchmark is called nothing"),
        (["papers.kms"], "--data"),
        (["papers.kms", "--data", "/no/such/folder"], "--data"),
        (["papers.kms", "--data", ".", "--jobs", "0"], "--jobs"),
    ],
    ids=["name", "no-data", "no-folder", "jobs"],
)
def test_mistakes_are_told(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("name", BENCHMARKS)
def test_every_benchmark_reports_on_nothing_and_names_its_cells_once(name: str) -> None:
    benchmark = BENCHMARKS[name]
    report = benchmark.report([])
    assert report.name == name
    assert report.title in report_to_markdown(report)
    assert all(claim.holds is None for claim in report.claims)
    for quick in (True, False):
        keys = [cell.key for cell in benchmark.cells(quick)]
        assert len(set(keys)) == len(keys) > 0


@pytest.mark.parametrize("name", ["papers.psms", "papers.mopso", "papers.hermite", "peers"])
def test_an_interrupted_benchmark_is_balanced(name: str) -> None:
    """No data set has a split before all have the one before it."""
    cells = BENCHMARKS[name].cells(False)
    assert [cell.split for cell in cells] == sorted(cell.split for cell in cells)
    first = {cell.data for cell in cells if cell.split == 0}
    assert first == {cell.data for cell in cells}


def _records(cells: Sequence[Cell]) -> list[Record]:
    return [Record(cell, {"ber": 0.1, "kms": 0.2}, 1.0, "2025-01-01", "code") for cell in cells]


def test_full_records_go_before_quick_ones() -> None:
    kms = BENCHMARKS["papers.kms"]
    quick, full = _records(kms.cells(True)), _records(kms.cells(False)[:9])
    assert fullest(kms, quick) == quick
    assert fullest(kms, [*quick, *full]) == full


def test_a_report_says_whether_the_paper_is_reached() -> None:
    kms = BENCHMARKS["papers.kms"]
    records = _records([cell for cell in kms.cells(False) if cell.data == "banana"][:3])
    table = kms.report(records).tables[0]
    drawn = table.columns.index("drawn splits")
    assert table.rows[0][:3] == ("banana", 11.84, 12.11)
    assert table.rows[0][drawn : drawn + 2] == (3, pytest.approx(10.0))
    assert table.rows[0][drawn + 4 :] == ("reached", pytest.approx(20.0))


def test_published_and_drawn_splits_and_our_own_additions_stand_apart() -> None:
    psms = BENCHMARKS["papers.psms"]
    cells = [cell for cell in psms.cells(False) if cell.data == "heart"]
    records = [
        Record(cell, {"ber": 0.1 if cell.method == "program" else 0.3, "origin": origin}, 1.0, "2025-01-01", "code")
        for cell in cells
        for origin in ["published" if cell.split < 6 else "drawn"]
    ]
    published, drawn, _, _, _, ours = psms.report(records).tables
    assert published.rows[0][:4] == ("heart", 6, 17.35, pytest.approx(10.0))
    assert drawn.rows[0][:4] == ("heart", 4, 17.35, pytest.approx(10.0))
    assert "improved" not in published.columns
    assert ours.rows[0][ours.columns.index("improved")] == pytest.approx(30.0)


def test_other_votes_and_budgets_stand_apart_from_the_paper_s_protocol() -> None:
    kms = BENCHMARKS["papers.kms"]
    cells = [cell for cell in kms.cells(False) if cell.data == "heart" and cell.split < 4]
    printed = [cell for cell in cells if (cell.method, cell.budget) == ("kmse", "128 evaluations")]
    others = [cell for cell in cells if cell not in printed and not cell.method.startswith(("printed", "program"))]
    later = [Record(cell, {"ber": 0.4}, 1.0, "2025-01-01", "code") for cell in others]
    alone, both = kms.report(_records(printed)), kms.report([*_records(printed), *later])
    assert both.tables[0] == alone.tables[0]
    drawn = both.tables[0].columns.index("drawn splits")
    assert both.tables[0].rows[0][drawn : drawn + 2] == (4, pytest.approx(10.0))
    table = both.tables[1]
    assert {"KMSE, 256 evaluations", "soft", "balanced", "balanced soft"} < set(table.columns)
    heart = next(row for row in table.rows if row[0] == "heart")
    assert heart[2:5] == (pytest.approx(40.0), pytest.approx(0.0), "above")
    assert both.claims == alone.claims, "what was not run on all nine sets is not judged"


def test_a_report_tells_published_splits_from_drawn_ones() -> None:
    kms = BENCHMARKS["papers.kms"]
    cells = [cell for cell in kms.cells(False) if cell.data == "banana" and cell.method == "kmse"][:3]
    of_split = {0: "published", 1: "drawn", 2: "drawn"}
    records = [
        Record(cell, {"ber": 0.1, "kms": 0.2, "origin": of_split[cell.split]}, 1.0, "2025-01-01", "code")
        for cell in cells
    ]
    report = kms.report(records)
    assert "1 published, 2 drawn with the published sizes" in report.ran
    table = report.tables[0]
    columns = [table.columns.index(f"{origin} splits") for origin in ("published", "drawn")]
    assert [table.rows[0][column] for column in columns] == [1, 2]


def test_methods_are_told_against_both_of_ours() -> None:
    figures = {"msl": 0.2, "msl vote": 0.1, "random": 0.2}
    records = [
        Record(Cell(f"d{place}", 0, method, "40 evaluations"), {"ber": ber}, 1.0, "2025-01-01", "code")
        for method, ber in figures.items()
        for place in range(6)
    ]
    table = BENCHMARKS["peers"].report(records).tables[0]
    rows = {row[0]: row[3:5] for row in table.rows}
    assert table.columns[3:5] == ("against msl", "against msl vote")
    assert rows == {
        "msl vote": ("0/0/6, 0.031", None),
        "msl": (None, "6/0/0, 0.031"),
        "random": ("0/6/0", "6/0/0, 0.031"),
    }
    assert "6 data sets, 6 splits of them" in table.notes[0]


def test_records_of_peers_are_shown_where_the_peers_are_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    peers = BENCHMARKS["peers"]
    records = _records([cell for cell in peers.cells(False) if cell.data == "heart" and cell.split == 0])
    monkeypatch.setattr("benchmarks.peers.find_spec", lambda name: None)
    assert fullest(peers, records) == records
    assert {row[0] for row in peers.report(records).tables[1].rows} >= {"tpe", "smac", "flaml", "tpot"}
    lacking = {record.cell.method for record in records if not peers.can_work(record.cell)}
    assert lacking == {"tpe", "smac", "flaml", "tpot"}
    without = peers.report([record for record in records if record.cell.method != "tpot"])
    assert "Not run: tpot." in without.ran


def test_time_used_up_by_asking_is_no_failure() -> None:
    class Facade:
        def ask(self) -> Any:
            return type("Info", (), {"config": {}})

    class Race:
        is_over = False

    def judge(config: Any) -> float:
        raise OutOfTime

    pytest.importorskip("smac")
    ask_and_tell(Facade(), judge, Race())  # type: ignore[arg-type]


def _speed_record(part: str, sizes: str, figures: list[list[Any]]) -> Record:
    return Record(Cell(part, 0, "speed", sizes), {"figures": figures}, 1.0, "2025-01-01", "code")


def test_full_figures_of_speed_go_before_quick_ones_part_by_part() -> None:
    records = [
        _speed_record("blocks", "full", [["a fit", 4.0, 3.0, "times as fast"]]),
        _speed_record("blocks", "quick", [["a fit", 1.0, 3.0, "times as fast"]]),
        _speed_record("executors", "quick", [["memory", 3.0, 2.5, "copies of the table"], ["a bound", 1.0, None, "x"]]),
    ]
    for order in (records, records[::-1]):
        report = speed_report(order)
        rows = {row[1]: row[2:] for row in report.tables[0].rows}
        assert rows["a fit"] == (4.0, 3.0, "times as fast", "yes", "full")
        assert rows["memory"] == (3.0, 2.5, "copies of the table", "no", "quick")
        assert rows["a bound"][3] is None
        assert report.claims[0].seen == "1 of 2"
        assert "In full: blocks. " in report.ran


def test_parts_of_speed_are_measured_one_by_one_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not measured this time stays as it was measured before."""
    Journal(tmp_path / "speed.jsonl").write(_speed_record("blocks", "quick", [["a fit", 4.0, 3.0, "times as fast"]]))
    said: list[str] = []
    monkeypatch.setattr("benchmarks.faults.measure", lambda quick: [("kills", 1.0, 2.0, "searches that differ")])
    measure_speed(quick=True, only="faults", store=tmp_path, say=said.append)
    assert said == ["speed: faults"]
    report = speed_report(Journal(tmp_path / "speed.jsonl").read())
    assert [row[1] for row in report.tables[0].rows] == ["a fit", "kills"]


@pytest.mark.parametrize("part", MODULES)
def test_every_part_of_speed_has_something_that_measures_it(part: str) -> None:
    """Some are measured against peers, which need not be installed."""
    assert callable(pytest.importorskip(f"benchmarks.{part}", exc_type=ImportError).measure)


def test_tables_line_up() -> None:
    table = Table("T", ("name", "figure"), (("x", 1.5), ("long name", None), ("tiny", 0.00123)))
    heading, _, *lines = table_to_markdown(table).splitlines()
    assert heading == "### T"
    assert len({len(line) for line in lines}) == 1
    assert lines[2:] == ["| x         |   1.50 |", "| long name |      – |", "| tiny      | 0.0012 |"]


def test_balanced_error_is_scikit_learns() -> None:
    rng = np.random.default_rng(0)
    truth, predicted = rng.integers(0, 4, 200), rng.integers(0, 4, 200)
    expected = 1 - balanced_accuracy_score(truth, predicted)
    assert balanced_error(truth.tolist(), predicted.tolist()) == pytest.approx(expected)


@pytest.mark.slow
def test_peers_use_their_evaluations_and_no_more(folder: Path) -> None:
    split = drawn_split(pl.read_csv(folder / "heart.csv"), "heart", 0, 0.6)
    outcome = try_search("random", split, Budget.of("3 evaluations"), 0, folder)
    assert outcome["evaluations"] == 3
    assert 0 <= outcome["ber"] <= 1
    assert 0 <= outcome["estimate"] <= 1


@pytest.mark.slow
def test_ours_has_the_same_budget(folder: Path) -> None:
    split = drawn_split(pl.read_csv(folder / "heart.csv"), "heart", 0, 0.6)
    outcome = try_ours("msl", split, Budget.of("6 evaluations"), 0, folder / "store")
    assert outcome["evaluations"] <= 6
