"""msl show: everything about one run, or one part of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from run_store import SPECS, WIDE, Ran

from msl.store.store import Store
from msl.store.stored_run import Digests, Event, NewRun

Verb = Callable[..., Any]


@pytest.fixture(autouse=True)
def here(ran: Ran, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ran.folder)


def result_of(ran: Ran, name: str, seed: int = 0) -> dict[str, Any]:
    with Store.open(ran.store, read_only=True) as store:
        return dict(store.runs.get(ran.runs[name, seed]).result)


def test_a_run_is_shown_with_its_winner_its_figures_and_its_origin(msl: Verb, ran: Ran) -> None:
    shown = msl("show", ran.runs["lean", 1])
    result = result_of(ran, "lean", 1)
    assert (shown.code, shown.err) == (0, "")
    assert result["best"] in shown.out
    assert f"estimate     ber = {result['corrected']['objectives']['ber']:.4g}" in shown.out
    assert f"search       ber = {result['objectives']['ber']:.4g} is the best that the search found" in shown.out
    assert result["test_table"]["look"] == 2
    assert f"look 2       ber = {result['test']['ber']:.4g}" in shown.out
    assert "no test any more: another run was scored on this table" in shown.out
    assert "seed         1" in shown.out
    assert "scikit-learn" in shown.out
    assert f"run {result['digest'][:16]}" in shown.out
    assert f"{ran.runs['lean', 1]}.skops" in shown.out
    assert "run again    msl run " in shown.out
    assert "seed=1" in shown.out


def test_the_latest_run_is_shown_by_default(msl: Verb, ran: Ran) -> None:
    assert msl("show").out == msl("show", "@").out
    assert ran.runs["levels", 0] in msl("show").out


def test_a_front_is_a_table_of_its_models(msl: Verb, ran: Ran) -> None:
    shown = msl("show", "front.msl").out
    front = result_of(ran, "front")["front"]
    assert f"front of {len(front)} model" in shown
    assert all(point["model"] in shown for point in front)
    lines = shown[shown.index("front of") :].splitlines()
    assert lines[1].split() == ["error", "features", "model"]
    assert lines[2].split()[0] == f"{front[0]['objectives']['error']:.4g}"


def test_failures_are_grouped_with_an_example_and_advice(msl: Verb, ran: Ran) -> None:
    with Store.open(ran.store, read_only=True) as store:
        keys = dict.fromkeys(asked.key for asked in store.runs.queries(ran.runs["wide", 0]) if asked.key)
        stored = store.evaluations.read(keys)
        failed = [stored[key] for key in keys if stored[key].failure is not None]
    assert len(failed) >= 2
    shown = msl("show", ran.runs["wide", 0]).out
    assert f"{len(failed)} × exception in components" in shown
    assert failed[0].text in shown
    assert failed[1].text not in shown
    assert "help: narrow the domain" in shown
    every = msl("show", ran.runs["wide", 0], "--failures").out
    assert all(one.text in every for one in failed)
    (record,) = json.loads(msl("show", ran.runs["wide", 0], "--failures", "--json").out)
    assert [one["model"] for one in record["models"]] == [one.text for one in failed]
    assert msl("show", "lean.msl", "--failures").out == "no model failed\n"


def test_the_model_alone_is_a_spec_that_checks(msl: Verb, ran: Ran, tmp_path: Path) -> None:
    text = msl("show", "lean.msl", "--model").out
    path = tmp_path / "winner.msl"
    path.write_text(text, encoding="utf-8")
    assert msl("check", str(path)).code == 0
    assert json.loads(msl("info", str(path), "--json").out)["models"] == 1


@pytest.mark.parametrize("name", list(SPECS))
def test_the_spec_alone_is_the_text_of_then(msl: Verb, name: str) -> None:
    """As it was searched: a seed of the command line is part of it."""
    shown = msl("show", f"{name}.msl", "--spec").out
    assert shown.startswith(SPECS[name])
    assert shown.removeprefix(SPECS[name]) in ("", "seed 0\n", "seed 2\n")


def test_a_record_has_all_of_it(msl: Verb, ran: Ran) -> None:
    record = json.loads(msl("show", "wide.msl", "--json").out)
    assert record["run"] == ran.runs["wide", 2]
    assert record["result"] == result_of(ran, "wide", 2)
    assert record["status"] == "finished"
    assert record["failures"][0]["cause"] == "exception"
    assert set(record["digests"]) == {"space", "run", "data", "evaluation", "search"}
    assert record["again"].endswith("seed=2")


def test_the_trace_has_a_line_for_each_event(msl: Verb, ran: Ran) -> None:
    with Store.open(ran.store, read_only=True) as store:
        events = store.runs.events(ran.runs["wide", 0])
    shown = msl("show", ran.runs["wide", 0], "--trace").out
    swarm, _, rest = shown.partition("\n\n")
    iterations = [event for event in events if event.kind == "iteration"]
    heading, *lines = swarm.splitlines()[1:]
    assert len(lines) == len(iterations) == 3
    for line, event in zip(lines, iterations, strict=True):
        cells = dict(zip(heading.split(), line.split(), strict=True))
        assert int(cells["iteration"]) == event.figures["iteration"]
        assert int(cells["models"]) == len(event.figures["losses"])
        assert float(cells["best"]) == pytest.approx(event.figures["best"], rel=1e-3)
        assert int(cells["invalid"]) == sum(loss == float("inf") for loss in event.figures["losses"])
    assert "stage 2: one line per sweep" in rest
    assert "ended: all evaluations are used" in rest
    assert [one["kind"] for one in json.loads(msl("show", ran.runs["wide", 0], "--trace", "--json").out)] == [
        event.kind for event in events
    ]


def test_levels_are_shown_as_the_paper_prints_them(msl: Verb) -> None:
    lines = msl("show", "levels.msl", "--trace").out.splitlines()
    assert lines[1].split() == ["level", "channel", "score", "values"]
    assert lines[2].split()[:2] == ["0", "ref"]
    scores = [line.split("  ") for line in lines[3:] if line.startswith("1")]
    assert {row[1].strip() for row in ([cell for cell in cells if cell] for cells in scores)} <= {
        "ref + k",
        "ref + distance",
    }
    assert sum("*" in line for line in lines) >= 1
    assert 50 < float(lines[2].split()[2]) < 100  # accuracy in per cent


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--model", "--spec"], "different parts"),
        (["--trace", "--failures"], "different parts"),
        (["--model", "--json"], "not JSON"),
        (["nobody"], "there is no run `nobody`"),
    ],
)
def test_wrong_uses_are_told(msl: Verb, arguments: list[str], words: str) -> None:
    shown = msl("show", *arguments)
    assert (shown.code, shown.out) == (2, "")
    assert words in shown.err


def test_a_run_without_a_result_says_how_to_go_on(msl: Verb, tmp_path: Path) -> None:
    with Store.open(tmp_path / ".msl") as store:
        run = store.runs.start(NewRun("wide", "wide.msl", {"wide.msl": WIDE}, Digests(*"abcde"), seed=4)).id
        store.runs.end(run, "interrupted")
        store.runs.claim(run)
        store.runs.end(run, "interrupted")
    shown = msl("show", "@", "--store", str(tmp_path))
    assert shown.code == 0
    assert "interrupted" in shown.out
    assert "`msl run wide.msl DATA` resumes it" in shown.out
    assert "resumed 1 time\n" in shown.out
    assert "no best model" in msl("show", "@", "--model", "--store", str(tmp_path)).err
    assert "no trace yet" in msl("show", "@", "--trace", "--store", str(tmp_path)).err


def test_all_that_a_result_may_hold_is_shown(msl: Verb, tmp_path: Path) -> None:
    result = {
        "best": "standardize >> naive",
        "objectives": {"ber": 0.125},
        "interval": {"ber": [0.05, 0.25]},
        "test": {"ber": 0.2},
        "gap": {"ber": 0.075},
        "ending": "time is up",
        "ensemble": ["naive", "zarbi"],
        "ensemble_objectives": {"ber": 0.1},
        "ensemble_interval": {"ber": [0.05, 0.2]},
        "ensemble_test": {"ber": 0.15},
        "used": {"model": "ensemble", "why": "better than the best model alone"},
        "preferred": [
            {"choice": "learn", "block": "naive", "asked": 6, "share": 0.75, "best_share": 1.0},
            {"choice": "learn", "block": "svc", "asked": 0, "share": 0.0, "best_share": 0.0},
        ],
        "judged": {"classes": ["a", "b"], "confusion": [[7, 1], [2, 90]]},
        "data": {
            "path": "t.csv",
            "rows": 100,
            "features": 4,
            "task": "classification",
            "target": "y",
            "classes": [1, 2],
        },
    }
    with Store.open(tmp_path / ".msl") as store:
        run = store.runs.start(NewRun("wide", "wide.msl", {"wide.msl": WIDE}, Digests(*"abcde"))).id
        store.runs.end(run, "finished", result)
    lines = [line.split() for line in msl("show", "@", "--store", str(tmp_path)).out.splitlines()]
    for expected in (
        "final model the vote of 2 models: better than the best model alone",
        "estimate ber = 0.1 (95 % interval 0.05 … 0.2)",
        "test ber = 0.15",
        "test gap ber = 0.05",
        "best model estimate ber = 0.125 (95 % interval 0.05 … 0.25), test ber = 0.2",
        "data t.csv, 100 rows, 4 features, classification of `y`, 2 classes",
        "ensemble of 2 models, estimate ber = 0.1, test ber = 0.15",
        "learn naive 6 75% 100%",
        "true \\ predicted a b",
        "b 2 90",
        "run again msl run wide.msl t.csv",
        f"reproduce msl replay {run}",
    ):
        assert expected.split() in lines, expected
    assert not any("svc" in line for line in lines)


def test_what_another_package_tells_is_shown_too(msl: Verb, tmp_path: Path) -> None:
    text = "use clop\nchain m = naive\nmaximize auc by cv()\n"
    figures = {"round": 1, "best": -0.75, "losses": [-0.75, float("inf")], "mood": "good", "sure": True, "stage": 0}
    with Store.open(tmp_path / ".msl") as store:
        run = store.runs.start(NewRun("m", "m.msl", {"m.msl": text}, Digests(*"abcde"))).id
        store.record(run, events=[Event("round", figures, 0)])
    heading, line = msl("show", "@", "--trace", "--store", str(tmp_path)).out.splitlines()[1:]
    cells = dict(zip(heading.split(), line.split(), strict=True))
    expected = {"round": "1", "best": "0.75", "models": "2", "invalid": "1", "lowest": "0.75", "mood": "good"}
    assert expected.items() <= cells.items()
    assert cells["sure"] == "yes"


def test_commands_name_a_store_of_another_name(msl: Verb, tmp_path: Path) -> None:
    with Store.open(tmp_path / "kept") as store:
        run = store.runs.start(NewRun("wide", "wide.msl", {"wide.msl": WIDE}, Digests(*"abcde"))).id
        store.runs.end(run, "finished", {"best": None, "test_failure": "odd rows"})
    told = msl("show", "@", "--store", str(tmp_path / "kept")).out
    assert f"msl run wide.msl DATA --store {tmp_path / 'kept'}" in told
    assert f"msl replay {run} --store {tmp_path / 'kept'}" in told
    assert "the final model cannot predict the test table: odd rows" in told
