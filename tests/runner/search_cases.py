"""Small tables and searches in this process, shared by the tests of the engine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from msl.blocks.ensembles import CommitteeClassifier, CommitteeRegressor
from msl.cli.shared.load_spec import load
from msl.runner.choose_members import EnsembleMembers
from msl.runner.choose_winner import Verdict, choose_winner, winner_chain
from msl.runner.finish import Ensemble, Finished, finish
from msl.runner.loop import SearchResult, search
from msl.runner.plan import Plan, make_plan
from msl.runner.session import RunRequest, start_or_resume
from msl.runner.time_limit import FinalTasks, TimeLimit, final_costs
from msl.store.store import Store
from msl.workers.local import open_executor

SPACE = "use clop\npart scale = standardize | normalize | none\npart learn = zarbi | naive\nchain m = scale >> learn\n"


def write_classes(folder: Path, rows: int = 90, groups: bool = False) -> Path:
    """Three classes that overlap a little; `groups` adds a column of groups of three rows."""
    rng = np.random.default_rng(4)
    lines = ["f1,f2,f3,class" + (",who" if groups else "")]
    for place in range(rows):
        kind = place % 3
        values = (kind + rng.normal(0, 0.6), rng.normal(), -kind + rng.normal(0, 0.9))
        lines.append(",".join(f"{value:.3f}" for value in values) + f",{'abc'[kind]}" + (f",{place // 3}" * groups))
    path = folder / "classes.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_numbers(folder: Path, rows: int = 60) -> Path:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(rows, 3))
    y = X @ [1.0, -2.0, 0.5] + rng.normal(0, 0.5, rows)
    lines = ["f1,f2,f3,y", *(",".join(f"{value:.4f}" for value in (*row, one)) for row, one in zip(X, y, strict=True))]
    path = folder / "numbers.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@dataclass(frozen=True)
class Searched:
    plan: Plan
    found: SearchResult
    verdict: Verdict
    run: str


def commissioned(folder: Path, text: str, table: Path) -> RunRequest:
    """A spec that is written to a file, and its plan."""
    spec = folder / "spec.msl"
    spec.write_text(text, encoding="utf-8")
    loaded = load(str(spec), str(table))
    assert loaded.table is not None
    return RunRequest(make_plan(loaded.spec, loaded.table), loaded.source, loaded.checked.sources, str(table))


def searched(folder: Path, text: str, table: Path, store: str = ".msl") -> Searched:
    """A search from its beginning to its verdict."""
    request = commissioned(folder, text, table)
    plan = request.plan
    with Store.open(folder / store) as opened, open_executor(plan.job, "inprocess") as executor:
        run, _ = start_or_resume(opened, request)
        found = search(plan, opened, run, executor)
        opened.runs.end(run, "finished", {})
    return Searched(plan, found, choose_winner(plan, found), run)


def finished(case: Searched) -> Finished:
    """The end of a run in this process, with all the time that it takes."""
    with open_executor(case.plan.job, "inprocess") as executor:
        tasks = FinalTasks(executor, TimeLimit(), final_costs(case.plan, case.found))
        done = finish(case.plan, case.found, case.verdict, tasks)
    assert isinstance(done, Finished)
    return done


def ensemble_of(case: Searched) -> Ensemble:
    found = finished(case).ensemble
    assert found is not None
    return found


def build_committee(plan: Plan, members: EnsembleMembers) -> Any:
    """The ensemble as an estimator, not yet fitted."""
    kind = CommitteeClassifier if plan.job.dataset.n_classes else CommitteeRegressor
    return kind([winner_chain(plan, one.model) for one in members.candidates], members.weights, members.voting)
