"""msl report: where the page goes, what real runs look like in it, and clear words where there is none."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Callable
from pathlib import Path

import pytest
from page_reader import read_page, section
from report_runs import swarm, write_story
from winner_cases import Finished, write_table

from msl.cli.main import main

Msl = Callable[..., tuple[int, str, str]]


@pytest.fixture
def msl(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Msl:
    """`msl("report", "@")`: the exit code and what was written."""

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["msl", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        written = capsys.readouterr()
        return int(left.value.code or 0), written.out, written.err

    return run


def test_the_page_of_a_run_is_kept_in_its_store(msl: Msl, tmp_path: Path) -> None:
    run = write_story(swarm(), tmp_path / "store")
    code, out, err = msl("report", "@", "--store", str(tmp_path / "store"))
    path = tmp_path / "store" / "reports" / f"{run}.html"
    assert (code, out, err) == (0, f"{path}\n", "")
    assert run in read_page(path.read_text(encoding="utf-8")).all("title")[0].words


def test_a_file_can_be_named_and_is_the_same_page(msl: Msl, tmp_path: Path) -> None:
    run = write_story(swarm(), tmp_path / "store")
    store, file = str(tmp_path / "store"), tmp_path / "page.html"
    assert msl("report", run, "--store", store, "-o", str(file))[:2] == (0, f"{file}\n")
    msl("report", run, "--store", store)
    assert file.read_bytes() == (tmp_path / "store" / "reports" / f"{run}.html").read_bytes()


def test_it_opens_in_the_browser_when_asked(msl: Msl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = write_story(swarm(), tmp_path / "store")
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address) or len(opened) == 1)
    told = [msl("report", run, "--store", str(tmp_path / "store"), "--open") for _ in range(2)]
    assert opened[0] == (tmp_path / "store" / "reports" / f"{run}.html").as_uri()
    assert [code for code, _, _ in told] == [0, 0]
    assert [err for _, _, err in told] == ["", "no browser could be started: open the file by hand\n"]


@pytest.mark.parametrize(
    ("name", "words"), [("zzzzz", "there is no run `zzzzz`"), ("@7", "there is no run `@7`: there is 1 run")]
)
def test_a_run_that_is_not_there(msl: Msl, tmp_path: Path, name: str, words: str) -> None:
    write_story(swarm(), tmp_path / "store")
    code, out, err = msl("report", name, "--store", str(tmp_path / "store"))
    assert (code, out) == (2, "")
    assert words in err
    assert "Traceback" not in err


def test_a_store_that_is_not_there(msl: Msl, tmp_path: Path) -> None:
    code, _, err = msl("report", "@", "--store", str(tmp_path / "nowhere"))
    assert code == 2
    assert "there is no store in" in err


def test_a_file_that_cannot_be_written(msl: Msl, tmp_path: Path) -> None:
    write_story(swarm(), tmp_path / "store")
    code, out, err = msl("report", "@", "--store", str(tmp_path / "store"), "-o", str(tmp_path / "no" / "page.html"))
    assert (code, out) == (2, "")
    assert "cannot write" in err


def test_a_store_whose_reports_cannot_be_written(msl: Msl, tmp_path: Path) -> None:
    """A file where the folder of reports should be: what a full or read-only folder ends in, for root as well."""
    write_story(swarm(), tmp_path / "store")
    (tmp_path / "store" / "reports").rmdir()
    (tmp_path / "store" / "reports").write_text("")
    code, out, err = msl("report", "@", "--store", str(tmp_path / "store"))
    assert (code, out) == (2, "")
    assert "-o FILE" in err


@pytest.mark.parametrize("name", ["own_blocks", "branches"])
def test_runs_as_the_engine_leaves_them(
    name: str, msl: Msl, finished: Callable[[str], Finished], tmp_path: Path
) -> None:
    done = finished(name)
    assert msl("report", done.run, "--store", str(done.store), "-o", str(tmp_path / "page.html"))[0] == 0
    root = read_page((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert section(root, "winner").all("img")
    assert "4 evaluations" in section(root, "timings").words


SEARCHES = {
    "pso(swarm = 3, iterations = 3)": "Particles",
    "pattern(evaluations = 12)": "Sweeps of pattern search",
    "best_first(channels = [learn, scale])": "Levels of best-first search",
    "auto(evaluations = 24)": "Arms",
    "halving(evaluations = 12)": "Rungs of successive halving",
    "occam_ga(population = 6, generations = 3)": "Generations",
    "random(evaluations = 4) then pso(swarm = 3, iterations = 2)": "Particles: pso",
}


@pytest.mark.slow
@pytest.mark.parametrize("strategy", SEARCHES)
def test_what_real_strategies_tell_is_shown(strategy: str, msl: Msl, tmp_path: Path) -> None:
    spec = tmp_path / "spec.msl"
    spec.write_text(
        "use clop\npart scale = standardize(center: bool) | normalize\n"
        "part learn = naive | zarbi | kridge(rest = default)\n"
        f"chain m = scale >> learn\nminimize ber by cv(folds = 2)\nsearch {strategy}\n",
        encoding="utf-8",
    )
    table = write_table("iris", tmp_path)
    code, _, err = msl("run", str(spec), str(table), "--test", str(table), "--on", "inprocess", "--quiet")
    assert code == 0, err
    assert msl("report", "@", "--store", str(tmp_path / ".msl"))[0] == 0
    (file,) = (tmp_path / ".msl" / "reports").iterdir()
    root = read_page(file.read_text(encoding="utf-8"))
    search = section(root, "search")
    assert SEARCHES[strategy] in [heading.words for heading in search.all("h3")]
    assert os.fspath(table) in section(root, "reproduce").words
    names = [one.attributes["id"] for one in root.all("section")]
    names = [name for name in names if name != "top"]  # the best models, where their places say something
    assert names == ["winner", "search", "comparison", "preferred", "mistakes", "timings", "spec", "reproduce"]


def test_a_front_as_a_swarm_finds_it(msl: Msl, tmp_path: Path) -> None:
    spec = tmp_path / "spec.msl"
    spec.write_text(
        "use sbm\nchain m = keep(features: vector(n_features) of bool) >> knn(k = 3, rest = default)\n"
        "minimize error by cv(folds = 2), features\nsearch cmdpso(swarm = 6, iterations = 3)\n",
        encoding="utf-8",
    )
    table = write_table("iris", tmp_path)
    assert msl("run", str(spec), str(table), "--on", "inprocess", "--quiet")[0] == 0
    assert msl("report", "@", "--store", str(tmp_path / ".msl"))[0] == 0
    (file,) = (tmp_path / ".msl" / "reports").iterdir()
    root = read_page(file.read_text(encoding="utf-8"))
    assert "The front as it grew" in [heading.words for heading in section(root, "search").all("h3")]
    assert section(root, "front").all("figure")
