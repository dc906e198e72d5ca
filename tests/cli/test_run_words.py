"""msl run in words: what it says at the beginning, on the way and at the end; what the command line may change."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from msl import run as run_spec
from msl.cli.shared.load_spec import load
from msl.cli.shared.progress_display import Lines, Picture, Silence, frame, last_words, open_display
from msl.cli.shared.summary_text import closing_words
from msl.runner.loop import Progress
from msl.runner.plan import Plan, make_plan

Run = Callable[..., Any]
SPEC = "use clop\nchain m = standardize? >> (zarbi | naive) >> bias\nminimize ber by cv(folds = 3)\nsearch grid\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    for name, rows in (("train", 60), ("test", 30)):
        lines = ["f1,f2,class,other"]
        for place in range(rows):
            kind = place % 2
            lines.append(f"{kind + rng.normal(0, 0.5):.3f},{rng.normal():.3f},{'ab'[kind]},{'xy'[place % 3 == 0]}")
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "m.msl").write_text(SPEC, encoding="utf-8")
    return tmp_path


def run(msl: Run, *arguments: str, code: int = 0) -> dict[str, Any]:
    shown = msl("run", "m.msl", "train.csv", "--target", "class", "--on", "inprocess", "--json", *arguments)
    assert shown.code == code, shown.err
    found: dict[str, Any] = json.loads(shown.out)
    return found


# --- the end ---

SUMMARY: dict[str, Any] = {
    "run": "20260102-030405-lusab",
    "best": "standardize >> naive",
    "objectives": {"ber": 0.12345},
    "interval": {"ber": [0.05, 0.21]},
    "complexity": 12.0,
    "evaluations": 55,
    "new": 40,
    "reused": 15,
    "outside": 0,
    "failures": 2,
    "fits": 120,
    "fits_saved": 30,
    "seconds": 3.21,
    "ending": "finished",
    "kept": 0,
    "outside_space": 0,
    "preferred": [
        {"choice": "learn", "block": "naive", "asked": 30, "share": 0.6, "best_share": 0.9},
        {"choice": "learn", "block": "zarbi", "asked": 20, "share": 0.4, "best_share": 0.1},
        {"choice": "scale", "block": "standardize", "asked": 25, "share": 0.5, "best_share": 0.5},
        {"choice": "scale", "block": "none", "asked": 25, "share": 0.5, "best_share": 0.5},
    ],
}

END = """\
standardize >> naive

final model   the best model
estimate      ber = 0.1235 (95 % interval 0.05 … 0.21)
ber           balanced error rate: 1 − balanced accuracy
complexity    12
choices       learn: naive in 90 % of the best (60 % of all), zarbi in 10 % of the best (40 % of all)
evaluations   55 (40 new, 15 reused, 2 failed)
fits          120 (30 saved by caching)
ended         finished after 3.2 s
files         .msl/models/20260102-030405-lusab.*

next: msl show lusab, msl predict lusab TABLE
"""

FULL_END = """\
standardize >> naive

final model   the soft vote of 3 models: better than the best model alone, error 0.09 against 0.1
estimate      error = 0.09 (95 % interval 0.06 … 0.22)
test          error = 0.125
test gap      error +0.035 (test minus estimate)
best model    estimate error = 0.1 (95 % interval 0.05 … 0.21), features = 2, test error = 0.15
complexity    12
front         2 models, from error = 0.1, features = 2 to error = 0.3, features = 1
evaluations   55 (40 new, 15 reused, 2 failed)
store         kept 312, outside 18, new 40
fits          120 (30 saved by caching)
ended         interrupted after 3.2 s
files         /elsewhere/models/20260102-030405-lusab.*

interrupted: run the same command again to continue
"""


def test_the_end_for_people() -> None:
    assert closing_words(SUMMARY, Path(".msl")) == END


def test_the_end_with_all_that_there_may_be() -> None:
    first, last = {"error": 0.1, "features": 2.0}, {"error": 0.3, "features": 1.0}
    full = SUMMARY | {
        "objectives": first,
        "interval": {"error": [0.05, 0.21], "features": None},
        "test": {"error": 0.15},
        "gap": {"error": 0.05},
        "front": [{"model": "a", "objectives": first}, {"model": "b", "objectives": last}],
        "ensemble": ["a", "b", "c"],
        "ensemble_objectives": {"error": 0.09},
        "ensemble_interval": {"error": [0.06, 0.22]},
        "ensemble_test": {"error": 0.125},
        "voting": "soft",
        "used": {"model": "ensemble", "why": "better than the best model alone, error 0.09 against 0.1"},
        "kept": 312,
        "outside_space": 18,
        "ending": "interrupted",
        "preferred": [],
    }
    assert closing_words(full, Path("/elsewhere"), interrupted=True) == FULL_END
    assert "next: msl show lusab --store /elsewhere" in closing_words(full, Path("/elsewhere"))


#: What there is to say of a run without a model that was fitted.
JUDGED_ONLY = (
    "run objectives evaluations reused outside failures fits fits_saved seconds ending kept outside_space new".split()
)


def test_the_end_without_a_winner() -> None:
    text = closing_words(SUMMARY | {"best": None, "failures": 9, "outside": 3}, Path(".msl"))
    assert text.startswith("no model could be evaluated: 9 failed, 3 outside the space\n")


def test_the_end_where_the_best_cannot_be_fitted_on_all_rows() -> None:
    judged = {name: value for name, value in SUMMARY.items() if name in JUDGED_ONLY} | {"best": "naive"}
    text = closing_words(judged, Path(".msl"), causes="the best models cannot be fitted on all rows")
    assert text.startswith("naive\n\nthe best models cannot be fitted on all rows\n")
    assert "msl predict" not in text


def test_a_run_says_how_it_begins_and_ends(msl: Run) -> None:
    shown = msl("run", "m.msl", "train.csv", "--test", "test.csv", "--target", "class", "--on", "inprocess")
    assert shown.code == 0
    assert re.match(r"run \S+ starts: 60 rows, 3 features, 3 dimensions, seed 0\n +\d", shown.err)
    assert re.search(
        r"^estimate      ber = \S+ \(95 % interval \S+ … \S+\), corrected for choosing the best of 6 models$",
        shown.out,
        re.MULTILINE,
    )
    assert re.search(
        r"^search        ber = \S+ is the best that the search found, which is partly luck$", shown.out, re.MULTILINE
    )
    assert re.search(r"^test gap      ber [+-]", shown.out, re.MULTILINE)
    assert "evaluations   6 (6 new, 0 reused, 0 failed)" in shown.out
    Path("m.msl").write_text(SPEC.replace("zarbi | naive", "naive | klogistic"), encoding="utf-8")
    again = msl("run", "m.msl", "train.csv", "--target", "class", "--on", "inprocess")
    assert "stored evaluations of this table: kept 3, outside 3\n" in again.err
    assert "store         kept 3, outside 3, new 3\n" in again.out


def test_a_run_of_which_nothing_comes_fails(msl: Run) -> None:
    text = 'block odd: learner for classification "sklearn.svm:NuSVC" { nu = 0.99999 }\nchain m = odd\n'
    Path("m.msl").write_text(text + "search random(evaluations = 1)\n", encoding="utf-8")
    shown = msl("run", "m.msl", "test.csv", "--target", "other", "--on", "inprocess", "--quiet")
    assert (shown.code, shown.err) == (1, "")
    assert shown.out.startswith("no model could be evaluated: 1 failed")
    assert "1 × exception in odd\n    ValueError: " in shown.out
    assert "    help: narrow the domain that leads there" in shown.out


def test_all_causes_are_told_where_nothing_could_be_evaluated(msl: Run) -> None:
    blocks = """\
block nus: learner for classification "sklearn.svm:NuSVC" { nu: 2.5 | 3.5 }
block wild: learner for classification "sklearn.neighbors:KNeighborsClassifier" { n_neighbors: 991 | 992 | 993 }
chain m = nus | wild
search grid
"""
    Path("m.msl").write_text(blocks, encoding="utf-8")
    shown = msl("run", "m.msl", "train.csv", "--target", "class", "--on", "inprocess", "--quiet")
    assert shown.code == 1, shown.err
    assert shown.out.startswith("no model could be evaluated: 5 failed")
    assert shown.out.index("3 × exception in wild") < shown.out.index("2 × exception in nus")
    assert shown.out.count("    help: ") == 2
    Path("m.msl").write_text(f"data(target = class)\n{blocks}", encoding="utf-8")
    with pytest.raises(
        ValueError, match=r"none of 5 models could be evaluated \(3 × \w+ in wild: .*; 2 × \w+ in nus: "
    ):
        run_spec("m.msl", "train.csv", store="elsewhere")


# --- what the command line changes ---


def test_settings_and_targets_change_the_run_and_what_is_stored(msl: Run, here: Path) -> None:
    from msl.store.store import Store

    found = run(msl, "--set", "search=random(evaluations = 9)", "--set", "search.evaluations=3", "--seed", "7")
    assert (found["evaluations"], found["data"]["target"]) == (3, "class")
    with Store.open(here / ".msl", read_only=True) as store:
        (known,) = store.runs.all()
        text = store.runs.sources(known.id)["m.msl"]
    assert (known.seed, known.spec) == (7, "m.msl")
    assert "search random(evaluations = 3)\n" in text
    assert text.endswith('data(target = "class")\nseed 7\n')
    assert (here / "m.msl").read_text(encoding="utf-8") == SPEC
    assert run(msl, "--set", "seed=7", "--set", "search=random(evaluations = 3)")["digest"] == found["digest"]
    assert run(msl, "--set", "data.target=other")["data"]["target"] == "class"  # what is said last counts


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--set", "serch.steps=2"], 1, "did you mean `search`?"),
        (["--set", "search.step=2"], 1, "--> --set:1:8"),
        (["--set", "search.steps=x"], 1, "`x` is not a value of `steps`"),
        (["--set", "search.steps"], 1, "`search.steps` has no value"),
        (["--target", "clas"], 1, "clas"),
        (["--test", "nowhere.csv"], 2, "nowhere.csv"),
        (["--on", "inprocess", "--jobs", "2"], 2, "leave it out"),
        (["--locked"], 2, "there is no lock file m.lock"),
        (["--tls-key", "k.pem"], 2, "certificates are for a scheduler at tls://host:port, and this runs on local"),
        (["--on", "tls://host"], 2, "`tls://host` is no address of a Dask scheduler: write `tls://host:port`"),
        (["--on", "tls://h:1", "--tls-ca", "m.msl"], 2, "`--tls-cert` and `--tls-key` are missing"),
    ],
)
def test_mistakes_are_told_before_anything_runs(
    msl: Run, here: Path, arguments: list[str], code: int, words: str
) -> None:
    shown = msl("run", "m.msl", "train.csv", *arguments)
    assert shown.code == code
    assert words in shown.err
    assert "Traceback" not in shown.err
    assert not (here / ".msl").exists()


def test_a_table_before_its_spec_is_told(msl: Run, here: Path) -> None:
    (here / "swapped.msl").write_text(SPEC)
    outcome = msl("run", "train.csv", "swapped.msl")
    assert outcome.code == 2
    assert "`train.csv` is read as the spec" in outcome.err
    assert "name `swapped.msl` before `train.csv`" in outcome.err


@pytest.mark.slow
def test_an_ensemble_of_one_is_no_vote(msl: Run, here: Path) -> None:
    (here / "one.msl").write_text(SPEC.replace("search grid", "search grid(evaluations = 1)\nensemble vote"))
    shown = msl("run", "one.msl", "train.csv").out
    assert "final model   the best model alone: there is no other model that could vote with it" in shown


def test_a_test_table_needs_its_target(msl: Run, here: Path) -> None:
    lines = (here / "test.csv").read_text(encoding="utf-8").splitlines()
    (here / "blind.csv").write_text("\n".join(line.rsplit(",", 2)[0] + ",x" for line in lines), encoding="utf-8")
    blind = (here / "blind.csv").read_text(encoding="utf-8").replace("f1,f2,x", "f1,f2,other")
    (here / "blind.csv").write_text(blind, encoding="utf-8")
    shown = msl("run", "m.msl", "train.csv", "--target", "class", "--test", "blind.csv")
    assert shown.code == 2
    assert "lacks the target `class`" in shown.err


# --- progress ---


def plan_of(text: str) -> Plan:
    Path("p.msl").write_text(text, encoding="utf-8")
    loaded = load("p.msl", "train.csv")
    assert loaded.table is not None
    return make_plan(loaded.spec, loaded.table)


def progress(**changes: Any) -> Progress:
    fields: dict[str, Any] = {
        "evaluations": 20,
        "reused": 3,
        "failures": 0,
        "outside": 0,
        "fits": 100,
        "fits_saved": 40,
        "best": (0.25,),
        "best_text": "standardize >> naive >> bias",
        "front": 1,
        "lowest": (0.25,),
        "seconds": 10.0,
    }
    return Progress(**fields | changes)


def shown_frame(plan: Plan, now: Progress, *arguments: Any, **more: Any) -> list[str]:
    console = Console(width=100, no_color=True)
    with console.capture() as capture:
        console.print(frame(plan, now, *arguments, **more))
    return [line.rstrip() for line in capture.get().splitlines()]


HEAD = "data(target = class)\nuse clop\nchain m = zarbi | naive\n"


def test_the_picture_has_the_best_the_pace_and_the_costs() -> None:
    plan = plan_of(HEAD + "search pso(swarm = 10, iterations = 9)\n")
    lines = shown_frame(plan, progress())
    assert lines[0].startswith("20 of 100 evaluations  ━━━━")
    assert lines[0].endswith("0:10, about 0:40 left")
    assert lines[1:] == ["best ber 0.25", "standardize >> naive >> bias", "100 fits, 40 saved, 3 reused"]
    within = shown_frame(plan, progress(done=5, wanted=10, failures=2, outside=1), 2.0, True)
    assert within[0].startswith("25 of 100 evaluations")
    assert "0:12, about 0:36 left" in within[0]
    assert within[3] == "100 fits, 40 saved, 3 reused, 2 failed, 1 outside the space"
    assert within[4] == "stopping after this batch; Ctrl-C once more stops at once"


def test_the_picture_of_a_budget_and_of_a_front() -> None:
    timed = plan_of(HEAD + "search pso(swarm = 10, iterations = 999)\nbudget(time = 2h)\n")
    assert shown_frame(timed, progress(evaluations=1))[0].endswith("0:10, 1:59:50 left of the budget")
    two = plan_of(HEAD + "minimize error by cv(folds = 3), complexity\nsearch cmdpso(swarm = 4, iterations = 2)\n")
    lines = shown_frame(two, progress(best=(0.1, 9.0), lowest=(0.1, 2.0), front=4))
    assert lines[1] == "front of 4, best error 0.1, complexity 2"
    none = shown_frame(timed, progress(best=None, best_text="", evaluations=0))
    assert none[1:] == ["nothing evaluated yet", "100 fits, 40 saved, 3 reused"]


def test_lines_tell_what_is_better_and_then_rarely(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Lines(plan_of(HEAD + "search grid\n"))
    for count, best in ((5, None), (10, 0.5), (20, 0.5), (30, 0.25), (63, 0.25), (64, 0.25), (100, 0.25), (300, 0.25)):
        lines.show(progress(evaluations=count, best=None if best is None else (best,)))
        lines.show(progress(evaluations=count, best=(0.1,), done=1, wanted=9))
    told = capsys.readouterr().err.splitlines()
    assert [int(line.split()[1]) for line in told] == [10, 30, 64, 300]
    assert told[1] == "   10.0s      30 evaluations, 3 reused  best ber 0.25"


def test_the_last_fits_are_told_of(msl: Run, capsys: pytest.CaptureFixture[str]) -> None:
    voting = HEAD + "search grid\nensemble vote(top = 3)\n"
    Lines(plan_of(HEAD + "search grid\n")).finishing(0, 2)
    assert capsys.readouterr().err == ""
    picture = shown_frame(plan_of(voting), progress(evaluations=20), last=last_words(plan_of(voting)))
    assert picture[-1] == "fitting the winner on all rows, evaluating and fitting the ensemble…"
    assert "left" not in picture[0]
    alone = plan_of(HEAD + "search grid\n")
    assert shown_frame(alone, progress(), last=last_words(alone))[-1] == "fitting the winner on all rows…"
    lines = Lines(plan_of(voting))
    for done in range(5):
        lines.finishing(done, 4)
    assert capsys.readouterr().err == "searched; fitting the winner on all rows, evaluating and fitting the ensemble\n"
    Path("vote.msl").write_text(f"{SPEC}ensemble vote(top = 3)\n", encoding="utf-8")
    shown = msl("run", "vote.msl", "train.csv", "--target", "class", "--on", "inprocess")
    assert shown.err.endswith("searched; fitting the winner on all rows, evaluating and fitting the ensemble\n")
    assert "final model   the " in shown.out


@pytest.mark.parametrize(
    ("terminal", "quiet", "environment", "kind"),
    [
        (True, False, {"TERM": "xterm"}, Picture),
        (True, False, {"TERM": "dumb"}, Lines),
        (True, False, {"TERM": "xterm", "CI": "true"}, Lines),
        (False, False, {"TERM": "xterm"}, Lines),
        (True, True, {"TERM": "xterm"}, Silence),
    ],
)
def test_a_picture_is_for_terminals_alone(
    monkeypatch: pytest.MonkeyPatch, terminal: bool, quiet: bool, environment: dict[str, str], kind: type
) -> None:
    monkeypatch.delenv("CI", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    plan = plan_of(HEAD + "search grid\n")
    monkeypatch.setattr(
        "msl.cli.shared.progress_display.sys", SimpleNamespace(stderr=SimpleNamespace(isatty=lambda: terminal))
    )
    assert type(open_display(plan, quiet)) is kind


# --- trouble from outside ---


def test_a_place_that_does_not_answer_is_told_and_starts_no_run(
    msl: Run, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from msl.store.store import Store
    from msl.workers.dask import ClusterUnreachable

    def refuse(*arguments: object) -> None:
        raise ClusterUnreachable("no Dask scheduler answers at dask://localhost:1")

    monkeypatch.setattr("msl.runner.session.open_executor", refuse)
    shown = msl("run", "m.msl", "train.csv", "--target", "class", "--on", "dask://localhost:1")
    assert shown.code == 2
    assert shown.err.startswith("error: no Dask scheduler answers at dask://localhost:1\n")
    with Store.open(here / ".msl", read_only=True) as store:
        assert store.runs.ids() == []


@pytest.mark.slow
def test_workers_that_break_leave_a_run_to_go_on_with(msl: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from msl.store.store import Store
    from msl.workers.fork_server import ForkServerError
    from msl.workers.in_process import InProcessExecutor

    pso = ("--set", "search=pso(swarm = 3, iterations = 3)", "--set", "minimize=logloss by cv(folds = 3)")
    whole = run(msl, *pso, "--store", "whole")
    calls = 0

    def break_later(self: Any, task: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls > 3:
            raise ForkServerError("the process that starts workers dies: it said nothing")
        return before(self, task)

    before = InProcessExecutor.submit
    with monkeypatch.context() as patched:
        patched.setattr(InProcessExecutor, "submit", break_later)
        shown = msl("run", "m.msl", "train.csv", "--target", "class", "--on", "inprocess", *pso)
    assert shown.code == 2
    assert "the process that starts workers dies" in shown.err
    assert "the same command goes on from there" in shown.err
    with Store.open(here / ".msl", read_only=True) as store:
        (known,) = store.runs.all()
    assert known.status == "interrupted"
    resumed = run(msl, *pso)
    assert (resumed["run"], resumed["best"]) == (known.id, whole["best"])
