"""msl compare: paired figures are those of the store or of the same folds, and tests say what they can."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from run_store import Ran
from scipy.stats import t, ttest_1samp
from winner_cases import write_table

from msl.data.read import read_table
from msl.evaluate.dataset import Dataset
from msl.evaluate.evaluator import Evaluator
from msl.report.compare_runs import Winner, winning_model
from msl.report.run_facts import check_stored
from msl.store.store import Store
from msl.store.stored_run import Digests, NewRun

Verb = Callable[..., Any]


@pytest.fixture(autouse=True)
def here(ran: Ran, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ran.folder)


def compared(msl: Verb, *arguments: str) -> dict[str, Any]:
    shown = msl("compare", *arguments, "--json")
    assert shown.code == 0, shown.err
    record: dict[str, Any] = json.loads(shown.out)
    return record


def test_runs_of_two_specs_are_paired_by_table_and_seed(msl: Verb, ran: Ran) -> None:
    record = compared(msl, "lean.msl", "wide.msl")
    assert {run["run"] for run in record["runs"]} == {
        run for (name, _), run in ran.runs.items() if name in ("lean", "wide")
    }
    (pair,) = record["pairs"]
    assert (pair["one"], pair["other"], pair["figure"]) == ("lean", "wide", "test ber")
    with Store.open(ran.store, read_only=True) as store:
        tests = {name: store.runs.get(run).result["test"].get("ber") for name, run in ran.runs.items()}
    expected = {(tests["lean", seed], tests["wide", seed]) for seed in (0, 1, 2)}
    assert set(zip(*pair["values"], strict=True)) == expected
    assert "3 pairs cannot show a difference" in record["note"]
    assert "0.25" in record["note"]


def test_the_table_shows_every_run_and_every_figure(msl: Verb, ran: Ran) -> None:
    shown = msl("compare", "lean.msl", "front.msl")
    lines = shown.out.splitlines()
    assert "error" in lines[0]
    assert "test ber" in lines[0]
    assert ran.runs["front", 0] in shown.out
    assert all(ran.runs["lean", seed] in shown.out for seed in (0, 1, 2))
    assert "no two of these specs" in shown.err
    assert "--folds" in shown.err


def test_folds_are_those_that_the_first_run_was_judged_by(msl: Verb, ran: Ran) -> None:
    """The evaluator, which scores all rows together, agrees with the folds put together again."""
    one, other = ran.runs["front", 0], ran.runs["wide", 0]
    record = compared(msl, one, other, "--folds", "--data", "wine.csv")
    judged = record["folds"]
    assert (judged["measure"], judged["by"], judged["seed"]) == ("error", "cv(folds = 3)", 0)
    table = read_table("wine.csv")
    with Store.open(ran.store, read_only=True) as store:
        winners = [Winner(store.runs.get(run), store.runs.sources(run)) for run in (one, other)]
    spec = check_stored(winners[0].run, winners[0].sources, table.facts).spec
    assert spec is not None
    evaluator = Evaluator(Dataset.of(table), spec.objectives)
    rows = [30, 30, 29]  # 89 rows dealt to three folds
    assert len(table) == sum(rows)
    for winner in winners:
        losses = judged["losses"][winner.run.id]
        pooled = sum(loss * count for loss, count in zip(losses, rows, strict=True)) / sum(rows)
        assert pooled == pytest.approx(evaluator.evaluate(winning_model(winner)).losses[0])
    assert winners[0].run.result["objectives"]["error"] == pytest.approx(
        sum(loss * count for loss, count in zip(judged["losses"][one], rows, strict=True)) / sum(rows)
    )


def test_the_test_of_folds_is_that_of_scipy_and_corrected(msl: Verb, ran: Ran) -> None:
    runs = [ran.runs["lean", 0], ran.runs["front", 0], ran.runs["levels", 0]]
    record = compared(msl, *runs, "--folds", "--data", "wine.csv")
    assert record["folds"]["by"] == "cv(folds = 6)"
    assert [(pair["one"], pair["other"]) for pair in record["pairs"]] == [
        (runs[0], runs[1]),
        (runs[0], runs[2]),
        (runs[1], runs[2]),
    ]
    ps = []
    for pair in record["pairs"]:
        ones, others = (record["folds"]["losses"][pair[side]] for side in ("one", "other"))
        assert pair["values"] == [ones, others]
        differences = [round(a - b, 9) for a, b in zip(ones, others, strict=True)]
        assert pair["equal"] == differences.count(0)
        assert pair["lower"] == sum(difference < 0 for difference in differences)
        ps.append(pair["p"])
        # 89 rows dealt to six folds: the plain test of SciPy, with a variance of 1/6 + tested/trained instead of 1/6.
        tested = np.array([15, 15, 15, 15, 15, 14])
        share = float((tested / (89 - tested)).mean())
        plain = ttest_1samp(differences, 0.0).statistic * math.sqrt((1 / 6) / (1 / 6 + share))
        assert pair["p"] == pytest.approx(2 * t.sf(abs(plain), 5))
    lowest = min(range(3), key=lambda place: ps[place])
    assert record["pairs"][lowest]["holm"] == pytest.approx(min(1.0, 3 * ps[lowest]))
    assert all(pair["holm"] >= pair["p"] for pair in record["pairs"])


def test_estimates_without_folds_get_ten(msl: Verb) -> None:
    record = compared(msl, "levels.msl", "front.msl", "--folds", "--data", "wine.csv")
    assert record["folds"]["by"] == "cv(folds = 10)"
    assert record["note"] is None
    assert all(len(losses) == 10 for losses in record["folds"]["losses"].values())


def test_the_table_is_found_where_the_run_read_it(msl: Verb, ran: Ran) -> None:
    given = compared(msl, "levels.msl", "front.msl", "--folds", "--data", "wine.csv")
    assert compared(msl, "levels.msl", "front.msl", "--folds") == given


def test_for_people_there_is_a_line_for_each_pair(msl: Verb, ran: Ran) -> None:
    shown = msl("compare", ran.runs["lean", 0], ran.runs["front", 0], "--folds", "--data", "wine.csv")
    assert "paired on the same folds: cv(folds = 6) with seed 0" in shown.out
    assert f"{ran.runs['lean', 0]} - {ran.runs['front', 0]}" in shown.out
    assert "rank-biserial" in shown.out


def test_another_table_is_refused(msl: Verb, tmp_path: Path) -> None:
    other = tmp_path / "wine.csv"
    other.write_text(Path("wine.csv").read_text().replace("kind 0", "kind 1", 1))
    shown = msl("compare", "front.msl", "levels.msl", "--folds", "--data", str(other))
    assert (shown.code, shown.out) == (2, "")
    assert "another fingerprint" in shown.err
    shown = msl("compare", "front.msl", "levels.msl", "--folds", "--data", "nowhere.csv")
    assert shown.code == 2
    assert "there is no table `nowhere.csv`" in shown.err


def test_folds_of_different_tables_are_refused(msl: Verb, ran: Ran, tmp_path: Path) -> None:
    write_table("iris", tmp_path)
    spec = tmp_path / "lean.msl"
    spec.write_text((ran.folder / "lean.msl").read_text())
    assert msl("run", str(spec), str(tmp_path / "iris.csv"), "--on", "inprocess", "--quiet").code == 0
    shown = msl("compare", "lean.msl", f"{tmp_path}/@", "--folds")
    assert shown.code == 2
    assert "different tables" in shown.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["@"], "two are needed"),
        (["@", "@"], "two are needed"),
        (["@", "nobody"], "there is no run `nobody`"),
        (["@", "nowhere/@"], "there is no store in nowhere"),
    ],
)
def test_too_few_runs_are_told(msl: Verb, arguments: list[str], words: str) -> None:
    shown = msl("compare", *arguments)
    assert (shown.code, shown.out) == (2, "")
    assert words in shown.err


def test_runs_of_one_spec_have_nothing_to_pair(msl: Verb, ran: Ran) -> None:
    shown = msl("compare", ran.runs["lean", 0], ran.runs["lean", 1])
    assert shown.code == 0
    assert "runs of one spec" in shown.err


@pytest.mark.slow
def test_two_texts_under_one_name_are_two_specs(msl: Verb, ran: Ran, tmp_path: Path) -> None:
    spec = tmp_path / "lean.msl"
    table = next(ran.folder.glob("*.csv"))
    text = (ran.folder / "lean.msl").read_text(encoding="utf-8")
    other = text.replace("search ", "search random(evaluations = 3) then ")
    for written in (text, text + "# a comment is no other spec\n", other):
        spec.write_text(written, encoding="utf-8")
        store = str(tmp_path / ".msl")
        assert msl("run", str(spec), str(table), "--on", "inprocess", "--quiet", "--store", store).code == 0
    assert msl("run", str(spec), str(table), "--on", "inprocess", "--quiet", "--store", store, "--seed", "9").code == 0
    shown = msl("compare", str(spec), "--store", store)
    assert shown.code == 0, shown.err
    assert "runs of one spec" not in shown.err
    assert "lean #1 - lean #2" in shown.out or "lean #2 - lean #1" in shown.out
    assert "lean #3" not in shown.out


def test_a_run_without_a_result_is_named(msl: Verb, ran: Ran, tmp_path: Path) -> None:
    with Store.open(tmp_path / ".msl") as store:
        run = store.runs.start(NewRun("m", "m.msl", {"m.msl": "chain m = naive\n"}, Digests(*"abcde"))).id
        store.runs.end(run, "interrupted")
    shown = msl("compare", "@", f"{tmp_path}/@")
    assert shown.code == 2
    assert f"`{run}` is interrupted and has no result" in shown.err
