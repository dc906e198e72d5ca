"""Trial: a spec searched on the training rows of a split by MSL itself, and its winner judged on the test rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.datasets import TARGET, Split
from msl.data.read import read_like, read_table
from msl.diagnostics.source import Source
from msl.language.override import override_text, text_to_override
from msl.runner.choose_winner import choose_winner, refit, winner_chain
from msl.runner.loop import SearchResult, search
from msl.runner.plan import Plan, make_plan
from msl.runner.session import Result, RunRequest, run_plan, start_or_resume
from msl.runner.spec_source import checked_spec, statement_to_options
from msl.space.values import Model
from msl.store.store import Store
from msl.workers.local import open_executor

SPECS = Path(__file__).parent.parent / "specs"


@dataclass(frozen=True, slots=True, eq=False)
class Watched:
    """A search with all that its strategy did on the way."""

    plan: Plan
    found: SearchResult

    def best(self) -> Model:
        """The model that the run would give: the lowest loss of all, the simplest on ties."""
        winner = choose_winner(self.plan, self.found).best
        assert winner is not None, "a benchmark has models that can be evaluated"
        return winner.model

    def chosen(self) -> list[Model]:
        """What the strategy itself answers at its end: its best model, or its front."""
        events = [event for event in self.found.events if event.chosen]
        search_space = self.plan.search_spaces[-1]
        models = [search_space.decode(told.vector) for told in (events[-1].chosen if events else ())]
        return [model for model in models if isinstance(model, Model)]


def shipped_spec(name: str, *changes: str) -> str:
    """The text of a spec of `specs/`, changed as `--set` does: `shipped_spec("psms", "search.swarm=10")`."""
    path = SPECS / f"{name}.msl"
    source = Source(path.name, path.read_text(encoding="utf-8"), str(path))
    return override_text(source, [text_to_override(change) for change in changes]).source.text


def run_spec(text: str, frame: pl.DataFrame, seed: int, folder: Path) -> Result:
    """A spec run on a table in this process, as `msl run` would; `use "psms.msl"` in it means the one of `specs/`."""
    return run_plan(commissioned(text, frame, seed), folder)


def watch_spec(text: str, frame: pl.DataFrame, seed: int, folder: Path) -> Watched:
    """A spec searched on a table, for what the strategy noted and chose rather than for the winner of the run."""
    request = commissioned(text, frame, seed)
    plan = request.plan
    with Store.open(folder) as store:
        run, _ = start_or_resume(store, request)
        with open_executor(plan.job, "inprocess") as executor:
            found = search(plan, store, run, executor)
        store.runs.end(run, "finished", {})
    return Watched(plan, found)


def commissioned(text: str, frame: pl.DataFrame | str, seed: int) -> RunRequest:
    """A spec made ready to run on a table, in memory or in a file."""
    source = Source("benchmark.msl", text, str(SPECS / "benchmark.msl"))
    spec, _ = checked_spec(source)
    table = read_table(frame, options=statement_to_options(spec.data))
    spec, checked = checked_spec(source, table.facts)
    return RunRequest(make_plan(replace(spec, seed=seed), table), source, checked.sources)


def try_spec(
    text: str, split: Split, seed: int, folder: Path, more: Callable[[Result], Mapping[str, Any]] = lambda result: {}
) -> dict[str, Any]:
    """What a cell keeps of a search: the estimate, the test error, the winner, where the time went, and `more`."""
    start = process_time()
    result = run_spec(text, split.train, seed, folder)
    searched = process_time() - start
    truth = split.test[TARGET].to_list()
    labels = result.trained.predict(result.trained.read(split.test)).tolist()
    return {
        "ber": balanced_error(truth, labels),
        "error": error_rate(truth, labels),
        "estimate": next(iter(result.objectives.values())),
        "model": result.best,
        "evaluations": len(result.evaluations),
        "failures": result.failures,
        "cpu": round(searched, 2),
        "learners": _learners(result.evaluations),
        "origin": split.origin,
        **more(result),
    }


def outputs_on(plan: Plan, model: Model, test: pl.DataFrame) -> tuple[NDArray[Any], NDArray[Any]]:
    """A model fitted on every row of the plan: its outputs for the test rows, and what would be right."""
    table = read_like(plan.table.schema, test)
    assert table.y is not None, "test rows have their target"
    return refit(plan, winner_chain(plan, model)).outputs(table.X), table.y


def error_on(plan: Plan, model: Model, test: pl.DataFrame) -> float:
    outputs, truth = outputs_on(plan, model, test)
    return float(np.mean(outputs.argmax(axis=1) != truth))


def balanced_error(truth: Sequence[Any], predicted: Sequence[Any]) -> float:
    """The error rate of each class, averaged over the classes that the test rows have."""
    right, labels = _right(truth, predicted), np.asarray([str(label) for label in truth])
    return float(np.mean([1.0 - right[labels == label].mean() for label in np.unique(labels)]))


def error_rate(truth: Sequence[Any], predicted: Sequence[Any]) -> float:
    return float(1.0 - _right(truth, predicted).mean())


def _right(truth: Sequence[Any], predicted: Sequence[Any]) -> NDArray[np.bool_]:
    return np.array([str(true) == str(label) for true, label in zip(truth, predicted, strict=True)])


def _learners(evaluations: Sequence[Any]) -> dict[str, list[float]]:
    """For each learner how many models had it, and the seconds that went to them."""
    counts: Counter[str] = Counter()
    seconds: dict[str, float] = {}
    for row in evaluations:
        steps = [step.split("(")[0].strip() for step in row["model"].split(" >> ")]
        learner = steps[-2] if steps[-1] == "bias" and len(steps) > 1 else steps[-1]
        counts[learner] += 1
        seconds[learner] = seconds.get(learner, 0.0) + row["seconds"]
    return {name: [count, round(seconds[name], 2)] for name, count in counts.most_common()}
