"""info, sample, decode, diff, draw and blocks on the command line."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from msl.cli.main import command_line

RUN = CliRunner()
APP = command_line()
SPECS = Path(__file__).parents[2] / "specs"


def run(*arguments: str, code: int = 0) -> str:
    result = RUN.invoke(APP, list(arguments))
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result.stdout


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "table.csv"
    rows = [",".join(str(i * (j + 3) % 17) for j in range(6)) + f",{'abc'[i % 3]}" for i in range(60)]
    path.write_text("f1,f2,f3,f4,f5,f6,class\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return str(path)


def info(name: str, *arguments: str) -> dict[str, object]:
    found: dict[str, object] = json.loads(run("info", str(SPECS / name), "--json", *arguments))
    return found


def test_the_papers_figures() -> None:
    assert info("kms.msl")["models"] == 4420
    psms = info("psms_paper.msl")
    assert (psms["models"], psms["structures"], psms["codes"], psms["dimensions"]) == (None, 1880, 2080, 16)
    program = info("psms.msl")  # without svcrfe
    assert (program["models"], program["structures"], program["dimensions"]) == (None, 1880 - 15 * 10, 16)


def test_a_table_decides_dimensions(table: str) -> None:
    assert info("mopso.msl")["dimensions"] is None
    mopso = info("mopso.msl", "--data", table)
    assert (mopso["dimensions"], mopso["models"]) == (6, 2**6)


def test_separate_encoding_has_more_dimensions() -> None:
    assert info("psms_paper.msl", "--encoding", "separate")["dimensions"] == 62


def test_the_text_for_people_names_the_slots() -> None:
    text = run("info", str(SPECS / "psms_paper.msl"))
    assert "1,880 in 2,080 structural codes" in text
    assert "fmax" in text


@pytest.mark.slow
def test_samples_are_the_same_for_the_same_seed_and_read_back(table: str) -> None:
    spec = str(SPECS / "psms.msl")
    first = run("sample", spec, "--data", table, "-n", "20", "--seed", "3")
    assert first == run("sample", spec, "--data", table, "-n", "20", "--seed", "3")
    assert first != run("sample", spec, "--data", table, "-n", "20", "--seed", "4")
    for line in first.splitlines()[:5]:
        vector = run("decode", spec, line, "--data", table).strip()
        assert run("decode", spec, vector, "--data", table).splitlines()[0] == line


def test_a_space_that_needs_a_table_says_so() -> None:
    result = RUN.invoke(APP, ["sample", str(SPECS / "psms.msl")])
    assert result.exit_code == 2
    assert "--data" in result.output


def test_a_vector_of_the_wrong_length_and_a_model_outside() -> None:
    spec = str(SPECS / "kms.msl")
    assert RUN.invoke(APP, ["decode", spec, "0.1 0.2"]).exit_code == 2
    outside = (
        "kernel_map(references = kmeans, n = 4, points = centers, distance = angle, kernel = linear) >> naive_bayes"
    )
    result = RUN.invoke(APP, ["decode", spec, outside])
    assert result.exit_code == 1
    assert "require kernel_map.points is centroids" in result.output


def test_diff_of_a_file_with_itself_is_empty() -> None:
    assert run("diff", str(SPECS / "psms.msl"), str(SPECS / "psms.msl")) == ""


def test_diff_shows_what_changed(tmp_path: Path) -> None:
    new = tmp_path / "new.msl"
    text = (SPECS / "psms_paper.msl").read_text(encoding="utf-8")
    new.write_text(
        text.replace("kridge | rf | lssvm", "kridge | lssvm").replace("swarm = 5", "swarm = 7"), encoding="utf-8"
    )
    shown = run("diff", str(SPECS / "psms_paper.msl"), str(new), code=1)
    assert "- alternative rf" in shown
    assert "search pso.swarm: 5 -> 7" in shown
    assert "in 1,880 structures -> infinitely many models in 1,692 structures" in shown
    record = json.loads(run("diff", str(SPECS / "psms_paper.msl"), str(new), "--json", code=1))
    assert record["structures"] == [1880, 1692]


def test_diff_reads_revisions_from_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    spec = tmp_path / "spec.msl"
    spec.write_text("use clop\nchain m = svc | rf\n", encoding="utf-8")
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run(["git", *identity, *command], check=True, cwd=tmp_path)
    spec.write_text("use clop\nchain m = svc | rf | naive\n", encoding="utf-8")
    assert "+ alternative naive" in run("diff", "HEAD:spec.msl", "spec.msl", code=1)
    assert RUN.invoke(APP, ["diff", "HEAD:gone.msl", "spec.msl"]).exit_code == 2


FOREST = "use clop\nchain m = {} >> bias\n"
RELATED = [
    ("rf(units: 10..50) | rf(units: 51..1000)", "rf(units: 10..1000)", 0, "same", ""),
    ("rf | rf(units: 20..30)", "rf", 0, "same", ""),
    ("((normalize >> rf) | rf)", "(normalize? >> rf)", 0, "same", "the same models, written otherwise"),
    ("rf(units: 10..50)", "rf(units: 10..60)", 1, "widened", "every model of the old space is in the new one"),
    ("rf(units: 10..50)", "rf(units: 20..50)", 1, "narrowed", "every model of the new space was in the old one"),
    ("rf(units: 10..50)", "rf(units: 20..60)", 1, "changed", "each space has models that the other lacks"),
    ("rf(units: 10..50)", "rf(units: int 10..50 log)", 1, "same", "the same models, with numbers on other scales"),
    ("(gs >> rf)", "(gs(fmax: 4..9) >> rf)", 1, "undecided", "give a table with --data"),
    ("(gs >> rf)", "(gs(fmax: min(4, n_features)..min(9, n_features)) >> rf)", 1, "narrowed", "in the old one"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("old", "new", "code", "relation", "said"), RELATED)
def test_diff_says_how_the_sets_relate(tmp_path: Path, old: str, new: str, code: int, relation: str, said: str) -> None:
    paths = [tmp_path / "old.msl", tmp_path / "new.msl"]
    for path, learner in zip(paths, (old, new), strict=True):
        path.write_text(FOREST.format(f"({learner})" if "|" in learner else learner), encoding="utf-8")
    shown = run("diff", *map(str, paths), code=code)
    assert said in shown
    assert bool(shown) is bool(said)
    record = json.loads(run("diff", *map(str, paths), "--json", code=code))
    assert (record["relation"], record["same"]) == (relation, code == 0)
    assert (record["digests"][0] == record["digests"][1]) is (not said)


def test_diff_of_a_broken_spec_is_trouble(tmp_path: Path) -> None:
    broken = tmp_path / "broken.msl"
    broken.write_text("chain m = ", encoding="utf-8")
    assert RUN.invoke(APP, ["diff", str(broken), str(SPECS / "kms.msl")]).exit_code == 2


def test_draw_writes_svg_and_a_tree(tmp_path: Path) -> None:
    assert "kernel_map" in run("draw", str(SPECS / "kms.msl"))
    picture = tmp_path / "kms.svg"
    run("draw", str(SPECS / "kms.msl"), "-o", str(picture))
    assert picture.read_text(encoding="utf-8").lstrip().startswith("<svg")


def test_blocks() -> None:
    assert "relief" in run("blocks")
    assert "gamma" in run("blocks", "clop.svc")
    assert "search pso" in run("blocks", "pso")
    assert {row["role"] for row in json.loads(run("blocks", "--role", "kernel", "--json"))} == {"kernel"}
    assert "`k: best …`" in run("blocks", "knn")
    assert "best …" not in run("blocks", "logistic")
    assert [row["path"] for row in json.loads(run("blocks", "ada_boost", "--json"))] == ["n_estimators"]
    assert RUN.invoke(APP, ["blocks", "svcc"]).exit_code == 2
