"""A file format is added by one module in the folder of formats, or by an entry point of another package."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from msl.data import formats, read
from msl.data.data_errors import DataError
from msl.data.read import read_like, read_table

FORMAT = """
import polars as pl
from msl.data.raw_columns import TableFormat

def read(path, hints):
    return pl.read_ndjson(path)

FORMAT = TableFormat("JSON lines", (".jsonl",), read)
NOTHING = 7
"""
SPEC = "msl 1\nuse clop\nchain model = naive >> bias\nminimize ber by cv(folds = 2)\nsearch random(evaluations = 2)\n"
ROWS = [{"x": float(x), "z": x % 3, "class": "a" if x < 10 else "b"} for x in range(20)]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "data.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    return path


def install(place: Path, target: str = "lines:FORMAT") -> None:
    """As pip would leave it."""
    (place / "lines.py").write_text(FORMAT)
    info = place / "lines-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lines\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[msl.tables]\njsonl = {target}\n")


@pytest.fixture(params=["by a package", "in the folder"])
def known(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "by a package":
        install(tmp_path)
        monkeypatch.syspath_prepend(str(tmp_path))
    else:
        (tmp_path / "more").mkdir()
        (tmp_path / "more" / "jsonl.py").write_text(FORMAT)
        monkeypatch.setattr(formats, "__path__", [*formats.__path__, str(tmp_path / "more")])


@pytest.mark.usefixtures("known")
def test_a_file_of_an_added_format_is_a_table(table: Path) -> None:
    found = read_table(table)
    assert found.names == ("x", "z")
    assert found.X[:, 0].tolist() == [float(x) for x in range(20)]
    assert read_like(found.schema, table).X.tolist() == found.X.tolist()
    same = table.with_suffix(".csv")
    pl.DataFrame(ROWS).write_csv(same)
    assert read_table(same).fingerprint == found.fingerprint


@pytest.mark.usefixtures("known")
def test_damage_and_emptiness_are_told_for_every_format(table: Path) -> None:
    table.write_text('{"x": 1, "class": "a"')
    with pytest.raises(DataError, match="is JSON lines, but damaged"):
        read_table(table)


@pytest.mark.usefixtures("known")
def test_messages_name_the_formats_that_are_known(tmp_path: Path) -> None:
    (tmp_path / "data.bin").write_bytes(b"\0\1\2")
    with pytest.raises(DataError) as raised:
        read_table(tmp_path / "data.bin")
    assert raised.value.problems[0].help in (
        "save the data as CSV, Arrow, JSON lines or Parquet",
        "save the data as CSV, Arrow, Parquet or .jsonl",
    )
    folder = tmp_path / "empty"
    folder.mkdir()
    with pytest.raises(DataError) as raised:
        read_table(folder)
    assert "Parquet" in raised.value.problems[0].help
    assert "name a CSV" in raised.value.problems[0].help
    (folder / "a.jsonl").write_text("{}")
    with pytest.raises(DataError) as raised:
        read_table(folder)
    assert "such as" in raised.value.problems[0].help
    assert "a.jsonl" in raised.value.problems[0].help


def test_without_it_the_file_is_read_as_text(table: Path) -> None:
    assert read.find_format(table).name == "CSV"


@pytest.mark.parametrize(
    ("target", "message"),
    [("lines:missing", "of the package `lines` cannot be loaded"), ("lines:NOTHING", "is not a `TableFormat`")],
)
def test_a_format_that_cannot_be_loaded_is_told(
    table: Path, monkeypatch: pytest.MonkeyPatch, target: str, message: str
) -> None:
    install(table.parent, target)
    monkeypatch.syspath_prepend(str(table.parent))
    with pytest.raises(DataError, match=message):
        read_table(table)


def test_the_first_bytes_decide_whatever_the_name(tmp_path: Path) -> None:
    pl.DataFrame(ROWS).write_parquet(tmp_path / "data.csv")
    assert read.find_format(tmp_path / "data.csv").name == "Parquet"
    (tmp_path / "data.parquet").write_text("x,class\n1,a\n2,b\n")
    assert read.find_format(tmp_path / "data.parquet").name == "CSV"


@pytest.mark.slow
def test_check_and_run_agree(table: Path) -> None:
    place = table.parent
    install(place)
    (place / "spec.msl").write_text(SPEC)

    def msl(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", "from msl.cli.main import main; main()", *arguments]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(place), *sys.path])}
        return subprocess.run(command, capture_output=True, text=True, cwd=place, env=env, check=False)

    checked = msl("check", "spec.msl", "--data", "data.jsonl")
    assert checked.returncode == 0, checked.stderr
    ran = msl("run", "spec.msl", "data.jsonl", "--on", "inprocess", "--json")
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["objectives"]["ber"] < 0.2
