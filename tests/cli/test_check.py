"""msl check on the command line: exit codes, formats, data, standard input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from msl.cli.main import command_line

RUN = CliRunner()
APP = command_line()
GOOD = "use clop\nchain model = standardize >> svc\n"
BAD = "use clop\nchain model = standardise >> svc\n"


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "spec.msl"
    path.write_text(GOOD, encoding="utf-8")
    return path


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    rows = [f"{i % 7},{i * 37 % 11},{'ab'[i % 2]}" for i in range(40)]
    path.write_text("f1,f2,class\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_a_sound_spec_is_fine(spec: Path) -> None:
    result = RUN.invoke(APP, ["check", str(spec)])
    assert result.exit_code == 0
    assert "no problems" in result.output


def test_an_error_exits_with_1_and_points_at_the_line(spec: Path) -> None:
    spec.write_text(BAD, encoding="utf-8")
    result = RUN.invoke(APP, ["check", str(spec)])
    assert result.exit_code == 1
    assert f"{spec}:2:15" in result.output
    assert "did you mean `standardize`?" in result.output


def test_a_warning_does_not_fail(spec: Path) -> None:
    spec.write_text("use clop\nchain model = svc | svc\n", encoding="utf-8")
    result = RUN.invoke(APP, ["check", str(spec)])
    assert result.exit_code == 0
    assert "warning[MSL224]" in result.output


def test_a_missing_file_is_wrong_use_and_the_others_are_still_checked(spec: Path) -> None:
    spec.write_text(BAD, encoding="utf-8")
    result = RUN.invoke(APP, ["check", "gone.msl", str(spec)])
    assert result.exit_code == 2
    assert "MSL021" in result.output


def test_standard_input(spec: Path) -> None:
    result = RUN.invoke(APP, ["check", "-"], input=BAD)
    assert result.exit_code == 1
    assert "<stdin>:2:15" in result.output


def test_json_is_one_document(spec: Path) -> None:
    spec.write_text(BAD, encoding="utf-8")
    result = RUN.invoke(APP, ["check", str(spec), "--format", "json"])
    assert "MSL021" in json.dumps(json.loads(result.stdout))


def test_data_decides_what_depends_on_it(spec: Path, table: Path) -> None:
    spec.write_text("use clop\nchain model = ftest(fmax: 2..2) >> rf\nminimize rmse\n", encoding="utf-8")
    assert RUN.invoke(APP, ["check", str(spec)]).exit_code == 0
    result = RUN.invoke(APP, ["check", str(spec), "--data", str(table)])
    assert result.exit_code == 1
    assert "`rmse` is a metric for regression, and this is classification" in result.output


def test_a_target_that_is_not_there(spec: Path, table: Path) -> None:
    spec.write_text(f"data(target = outcome)\n{GOOD}", encoding="utf-8")
    result = RUN.invoke(APP, ["check", str(spec), "--data", str(table)])
    assert result.exit_code == 1
    assert "`outcome`" in result.output
    assert "class" in result.output


def test_a_table_that_is_not_there(spec: Path) -> None:
    result = RUN.invoke(APP, ["check", str(spec), "--data", "gone.csv"])
    assert result.exit_code == 1
    assert "gone.csv" in result.output
    assert "Traceback" not in result.output
