"""Code from elsewhere that changes its process: no evaluation but its own is any different for it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import executor_models as em
import pytest
from leaking_blocks import LEAKS

from msl.cli.shared.load_spec import load
from msl.evaluate.outcome import Outcome
from msl.runner.loop import search
from msl.runner.plan import make_plan
from msl.runner.session import RunRequest, start_or_resume
from msl.store.evaluation import StoredQuery
from msl.store.store import Store
from msl.workers.executor import Executor
from msl.workers.fork_server import ForkServer
from msl.workers.local import LocalExecutor, open_executor
from msl.workers.task import Job, Task

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="worker processes are killed as Linux does")

SCALER = em.step("sklearn.preprocessing:StandardScaler")


@pytest.fixture(scope="module")
def fork_server() -> Iterator[ForkServer]:
    with ForkServer() as shared:
        yield shared


def job() -> Job:
    plain = em.job(rows=90)
    return Job(plain.dataset, plain.objectives, 3, ("leaking_blocks",), plain.cache_bytes)


def sensitive(marker: float) -> Task:
    return Task(em.model(em.step("leaking_blocks:Sensitive", "learner", marker=marker)))


def own(number: int) -> Task:
    """A model of scikit-learn, whose scaler may have been patched."""
    kind = em.step("sklearn.svm:SVC", "learner", C=1.0 + number, gamma=0.1)
    return Task(em.model(SCALER, kind))


def leak(what: str) -> Task:
    return Task(em.model(em.step("leaking_blocks:Leak", what=what), em.learner()))


@pytest.fixture(scope="module")
def expected() -> list[tuple[float, ...]]:
    """The losses of models in processes where nothing has leaked: the one that runs the tests may be any."""
    with LocalExecutor(job(), 1) as executor:
        victims = [each for number in range(len(LEAKS)) for each in (sensitive(number), own(number))]
        return [executor.submit(task).result().losses for task in victims]


@pytest.mark.parametrize("workers", [1, 2, 3, "inprocess"])
def test_nothing_leaks(fork_server: ForkServer, expected: list[tuple[float, ...]], workers: int | str) -> None:
    tasks = [each for number, what in enumerate(LEAKS) for each in (leak(what), sensitive(number), own(number))]
    with opened(workers, fork_server) as executor:
        outcomes = list(executor.map(tasks))
    victims = [outcome for place, outcome in enumerate(outcomes) if place % 3]
    assert [outcome.failure for outcome in victims] == [None] * len(victims)
    assert [outcome.losses for outcome in victims] == expected
    assert len({outcome.losses for outcome in victims}) > 5
    assert [told(outcome) for outcome in outcomes[::3]] == LEAKING.setdefault("told", [told(o) for o in outcomes[::3]])


#: What the leaking models themselves came to, the first time: the same every time.
LEAKING: dict[str, list[object]] = {}


def told(outcome: Outcome) -> object:
    return outcome.losses, outcome.failure and (outcome.failure.cause, outcome.failure.message)


def opened(workers: int | str, fork_server: ForkServer) -> Executor:
    return LocalExecutor(job(), workers, fork_server) if isinstance(workers, int) else open_executor(job(), workers)


SPEC = f"""
block leak: transformer "leaking_blocks:Leak" {{ what: {" | ".join(f'"{what}"' for what in LEAKS)}, marker: real 0..1 }}
block sensitive: learner for classification "leaking_blocks:Sensitive" {{ marker: real -5..5 }}
use clop
chain m = (leak | standardize)? >> (sensitive | zarbi | naive)
minimize error by cv(folds = 3)
search random(evaluations = 16) then pso(swarm = 4, iterations = 2)
"""


def test_a_search_is_the_same_for_any_number_of_workers(tmp_path: Path) -> None:
    """Every question, every answer and the winner; and so for a run that was stopped and goes on."""
    request = commissioned(tmp_path)
    found = [searched(request, tmp_path / f"with {workers}", "local", workers) for workers in (1, 2, 3)]
    assert sum(asked.losses[0] < 1.0 for asked in found[0]) > 12
    assert found[1] == found[0]
    assert found[2] == found[0]
    searched(request, tmp_path / "in process", "inprocess", most=11)
    assert searched(request, tmp_path / "in process", "inprocess") == found[0]


def searched(
    request: RunRequest, folder: Path, on: str, workers: int | None = None, most: int | None = None
) -> list[StoredQuery]:
    """Every question and answer of a search, without the last fits."""
    plan = request.plan
    with Store.open(folder) as store, open_executor(plan.job, on, workers) as executor:
        run, _ = start_or_resume(store, request)
        only = None if most is None else range(most)
        ending = search(plan, store, run, executor, only=only).ending
        store.runs.end(run, ending, {})
        return store.runs.queries(run)


def commissioned(folder: Path) -> RunRequest:
    import numpy as np

    rng = np.random.default_rng(4)
    kinds = np.arange(90) % 3
    rows = rng.normal(0, 0.6, (90, 3)) + kinds[:, None]
    lines = [
        ",".join(f"{value:.3f}" for value in row) + f",{'abc'[kind]}" for row, kind in zip(rows, kinds, strict=True)
    ]
    table, spec = folder / "table.csv", folder / "spec.msl"
    table.write_text("\n".join(["f1,f2,f3,class", *lines]) + "\n", encoding="utf-8")
    spec.write_text(SPEC, encoding="utf-8")
    loaded = load(str(spec), str(table))
    assert loaded.table is not None
    plan = make_plan(loaded.spec, loaded.table, ("leaking_blocks",))
    return RunRequest(plan, loaded.source, loaded.checked.sources, str(table))
