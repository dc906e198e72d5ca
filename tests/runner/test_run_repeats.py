"""A run that mostly asked for what it knew says so at its end, in what it stores and on its page, and what helps."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from search_cases import write_classes

import msl
from msl.cli.main import main
from msl.cli.shared.summary_text import closing_words
from msl.report.run_account import account_of, account_to_text
from msl.report.run_facts import repeats_words
from msl.store.store import Store

SPACE = "use clop\nchain m = zarbi | naive | neural(units: 2..9, maxiter: 10..14, rest = default)\n"
THREE = SPACE + "minimize ber by cv(folds = 2)\n"
SWARM = "search pso(swarm = 6, iterations = 30)\n"


@pytest.fixture
def searched(tmp_path: Path) -> Callable[[str], dict[str, Any]]:
    table = str(write_classes(tmp_path))

    def run(text: str) -> dict[str, Any]:
        return dict(msl.run(text, table, store=tmp_path / "store").summary)

    return run


@pytest.mark.slow
def test_a_swarm_that_repeats_itself_is_told(searched: Callable[[str], dict[str, Any]], tmp_path: Path) -> None:
    summary = searched(THREE + SWARM)
    assert summary["evaluations"] == 6 * 31
    assert summary["repeats"] == summary["evaluations"] - summary["outside"] - summary["new"]
    assert summary["repeats"] > 100
    words = f"{summary['repeats']} of 186 proposals were repeats; `auto` proposes each model once"
    assert words in closing_words(summary, tmp_path / "store")
    with Store.open(tmp_path / "store", read_only=True) as store:
        assert words in account_to_text(account_of(store, summary["run"]))
    # what another run had evaluated is reused, and no repeat
    again = searched(THREE + SWARM + "seed 0\n")
    assert (again["repeats"], again["new"]) == (summary["repeats"], 0)


@pytest.mark.slow
def test_what_helps_helps(searched: Callable[[str], dict[str, Any]]) -> None:
    as_printed = searched(THREE + SWARM)
    helped = searched(THREE + "search pso(swarm = 6, iterations = 30, floor = 2, restart = 1)\n")
    every_model = 2 + 8 * 5
    assert as_printed["new"] < every_model
    assert helped["new"] + helped["reused"] - helped["repeats"] == every_model
    assert repeats_words(helped) is None or "no more models" in str(repeats_words(helped))
    assert repeats_words(searched(THREE + "search auto(evaluations = 40)\n")) is None


def test_a_space_that_is_known_ends_the_search(searched: Callable[[str], dict[str, Any]]) -> None:
    space = "use clop\nchain m = zarbi | naive | neural(units: 2..6, maxiter = 10, rest = default)\n"
    summary = searched(space + "search pso(swarm = 6, iterations = 30, restart = 1)\n")
    assert summary["ending"] == "all 7 models were evaluated"
    assert (summary["new"], summary["evaluations"] < 60) == (7, True)


@pytest.mark.slow
def test_splits_of_their_own_are_no_repeats(searched: Callable[[str], dict[str, Any]]) -> None:
    summary = searched(
        "use clop\nchain m = zarbi | naive\nsearch occam_ga(population = 6, generations = 5, shuffle = true)\n"
    )
    assert summary["repeats"] == 0
    assert summary["evaluations"] > 30
    confirmed = searched("use clop\nchain m = zarbi | naive\nsearch grid then confirm(top = 2, repeats = 4)\n")
    assert confirmed["repeats"] == 0


def test_few_repeats_are_not_worth_a_word() -> None:
    assert repeats_words({"repeats": 15, "evaluations": 30}) is None
    assert repeats_words({"repeats": 16, "evaluations": 30}) is not None
    assert repeats_words({"repeats": 9, "evaluations": 10}) is None
    assert repeats_words({"evaluations": 100}) is None


@pytest.mark.slow
def test_the_object_of_a_run_has_the_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = tmp_path / "spec.msl"
    spec.write_text(THREE + SWARM, encoding="utf-8")
    table = str(write_classes(tmp_path))
    monkeypatch.setattr("sys.argv", ["msl", "run", str(spec), table, "--json", "--on", "inprocess"])
    with pytest.raises(SystemExit):
        main()
    assert json.loads(capsys.readouterr().out)["repeats"] > 100
