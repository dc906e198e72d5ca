"""Compare runs in a table and with paired tests: by table and seed (Wilcoxon's), or by fold (the corrected t-test)."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import PurePath

import numpy as np

from msl.blocks.base.load import BlockProblem
from msl.check.names.scoring_declarations import DEFAULT_METRICS, metric_named
from msl.check.read_models import text_to_model
from msl.data.table import Table
from msl.diagnostics.source import Source
from msl.diagnostics.user_error import UserError
from msl.evaluate.cross_validate import SplitOutputs
from msl.evaluate.dataset import Dataset
from msl.evaluate.metrics import load_metric, score
from msl.evaluate.outcome import failure_of
from msl.evaluate.resampling import Resampling, ResamplingPlan
from msl.evaluate.splits import Split
from msl.language import ast
from msl.language.parser import text_to_ast
from msl.language.printer import ast_to_text
from msl.report.paired_tests import SignedRank, holm, least_p, resampled_p, signed_rank
from msl.report.run_facts import check_stored, read_stored, stored_source
from msl.report.text_tables import aligned, shown
from msl.space.spec import Estimate, Metric, Objective, metrics_of
from msl.space.values import Model
from msl.store.stored_run import Run

_SHORT = 12
_USUAL_LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class Pairing:
    """Figures of two competitors, pair by pair, and the test of their differences.

    `p` is that of Wilcoxon's test, or of the corrected t-test where the pairs are folds; `corrected` is p after Holm.
    """

    one: str
    other: str
    figure: str
    ones: tuple[float, ...]
    others: tuple[float, ...]
    test: SignedRank
    p: float
    corrected: float

    @property
    def mean_difference(self) -> float:
        return sum(a - b for a, b in zip(self.ones, self.others, strict=True)) / len(self.ones)


#: Figure -> competitor -> place -> value; two values at the same place are a pair.
Figures = Mapping[str, Mapping[str, Mapping[object, float]]]


def paired(figures: Figures, share_tested: float | None = None) -> list[Pairing]:
    """Every two competitors that have places in common, figure by figure, corrected for being so many tests.

    With `share_tested` the places are folds, which share the rows that are fitted on.
    """
    found: list[tuple[str, str, str, tuple[float, ...], tuple[float, ...]]] = []
    for figure, by_competitor in figures.items():
        for one, other in combinations(by_competitor, 2):
            common = [place for place in by_competitor[one] if place in by_competitor[other]]
            if common:
                ones, others = (tuple(by_competitor[name][place] for place in common) for name in (one, other))
                found.append((one, other, figure, ones, others))
    differences = [[a - b for a, b in zip(ones, others, strict=True)] for *_, ones, others in found]
    tests = [signed_rank(each) for each in differences]
    ps = (
        [test.p for test in tests]
        if share_tested is None
        else [resampled_p(each, share_tested) for each in differences]
    )
    triples = zip(found, tests, ps, holm(ps), strict=True)
    return [Pairing(*names, test, p, corrected) for names, test, p, corrected in triples]


def figures_by_place(runs: Sequence[Run], labels: Mapping[str, str] | None = None) -> Figures:
    """The results of runs by spec, table and seed; of equal runs the first counts.

    `labels` tells specs apart, by run; without them a spec is the name of its file. Figures are tests on rows that the
    search has not seen where every run has one, else the estimates.
    """
    kind = "test" if all(run.result.get("test") for run in runs) else "objectives"
    if labels is None:
        by_file = spec_labels(runs)
        labels = {run.id: by_file[run.spec] for run in runs}
    found: dict[str, dict[str, dict[object, float]]] = {}
    for run in runs:
        for name, value in (run.result.get(kind) or {}).items():
            figure = f"test {name}" if kind == "test" else name
            places = found.setdefault(figure, {}).setdefault(labels[run.id], {})
            places.setdefault((run.digests.data, run.seed), float(value))
    return found


def spec_labels(runs: Sequence[Run]) -> dict[str, str]:
    """A name for each spec: that of its file, or the whole path where two files have one name."""
    specs = dict.fromkeys(run.spec for run in runs)
    stems = [PurePath(spec).stem for spec in specs]
    return {spec: stem if stems.count(stem) == 1 else spec for spec, stem in zip(specs, stems, strict=True)}


def labels_by_text(runs: Sequence[Run], texts: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """A name for the spec of each run; where one file has had several texts, they are numbered as they come.

    `texts` are the sources of each run. A seed, a table's options and the layout make no other spec.
    """
    by_file = spec_labels(runs)
    known: dict[str, list[tuple[str, ...]]] = {}
    numbers: dict[str, int] = {}
    for run in runs:
        own = known.setdefault(run.spec, [])
        said = _said(run, texts[run.id])
        if said not in own:
            own.append(said)
        numbers[run.id] = own.index(said) + 1
    return {run.id: by_file[run.spec] + (f" #{numbers[run.id]}" if len(known[run.spec]) > 1 else "") for run in runs}


def _said(run: Run, texts: Mapping[str, str]) -> tuple[str, ...]:
    """The statements of a spec without seed and data, and the files that it uses."""
    main = Source(run.spec, texts.get(run.spec, ""))
    file, problems = text_to_ast(main)
    if problems:
        return (main.text,)
    own = [ast_to_text(item) for item in file.statements if not isinstance(item, ast.Seed | ast.Data)]
    return (*own, *(text for name, text in sorted(texts.items()) if name != run.spec))


def runs_table(runs: Sequence[Run], labels: Mapping[str, str] | None = None) -> str:
    """One line per run; `labels` distinguish versions of one file."""
    objectives = list(dict.fromkeys(name for run in runs for name in run.result.get("objectives") or {}))
    tests = list(dict.fromkeys(name for run in runs for name in run.result.get("test") or {}))
    heading = ["run", "spec", "table", "seed", *objectives, *(f"test {name}" for name in tests)]
    rows = [[*heading, "evaluations", "seconds"]]
    for run in runs:
        result = run.result
        estimates = [shown((result.get("objectives") or {}).get(name)) for name in objectives]
        tested = [shown((result.get("test") or {}).get(name)) for name in tests]
        counts = [shown(result.get("evaluations")), shown(result.get("seconds"))]
        number = (labels or {}).get(run.id, "").rpartition(" #")
        spec = f"{run.spec} #{number[2]}" if number[1] else run.spec
        rows.append([run.id, spec, table_name(run), str(run.seed), *estimates, *tested, *counts])
    return aligned(rows, right=range(3, len(rows[0])))


def table_name(run: Run) -> str:
    """The file name of the table where it is known, else the beginning of its fingerprint."""
    path = (run.result.get("data") or {}).get("path")
    return PurePath(path).name if path else run.digests.data[:_SHORT]


def pairings_table(pairings: Sequence[Pairing]) -> str:
    """A line for each test, and what its columns mean."""
    heading = ("pair", "figure", "pairs", "lower", "higher", "equal", "mean difference", "p", "Holm", "effect")
    rows = [heading]
    for each in pairings:
        test = each.test
        rows.append(
            (
                f"{each.one} - {each.other}",
                each.figure,
                str(len(each.ones)),
                str(test.lower),
                str(test.higher),
                str(test.zeros),
                shown(each.mean_difference),
                shown(each.p),
                shown(each.corrected),
                f"{test.effect:+.3f}",
            )
        )
    return aligned(rows, right=range(2, len(heading)))


def too_little(pairings: Sequence[Pairing], by_folds: bool = False) -> str | None:
    """A note where there are too few pairs for any significant result, or all are of one table."""
    most = max((len(each.ones) for each in pairings), default=0)
    if by_folds:
        return "a single fold says nothing of chance" if most == 1 else None
    if not most or least_p(most) <= _USUAL_LEVEL:
        return None
    pairs = "1 pair" if most == 1 else f"{most} pairs"
    return f"{pairs} cannot show a difference: with so few, p is never below {least_p(most):.3g}"


# --- Losses by fold: the best models of runs, fitted again on the same folds ------------------------------------------


_FOLDS = Estimate(
    "cv",
    "msl.evaluate:cv",
    (("folds", 10), ("repeats", 1), ("subsample", 1.0), ("shuffle", False)),
    follows_order=True,
)


class NoFolds(UserError):
    """Models that cannot be compared fold by fold, and why."""


@dataclass(frozen=True, slots=True)
class Winner:
    """A run with the texts that its model is read with."""

    run: Run
    sources: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class FoldLosses:
    """One metric of every winner on every fold; `by` is the estimate that made the folds, and `share_tested` are the
    rows that are tested for one that is fitted on."""

    metric: str
    by: str
    seed: int
    losses: Mapping[str, tuple[float, ...]]
    share_tested: float


def fold_losses(winners: Sequence[Winner], table: Table, trusted: Collection[str] = ()) -> FoldLosses:
    """Fits each winner on the folds of the first run, or on ten folds if its estimate has none.

    Raises NoFolds for a run without a winner, or with one that cannot be evaluated on this table.
    """
    first = winners[0].run
    objective = _objective(winners[0], table)
    dataset = Dataset.of(table)
    estimate = objective.estimate if objective is not None and objective.estimate.held_out == "folds" else _FOLDS
    metric = _metric(objective, dataset.task)
    try:
        load_metric(metric, trusted)
    except BlockProblem as problem:
        raise NoFolds(f"{problem.message}; {problem.help}") from None
    trial = ResamplingPlan(dataset, [estimate], first.seed).resampling(estimate, 0, 1.0, 0)
    found = {one.run.id: _losses(one, dataset, trial, metric, trusted) for one in winners}
    share = float(np.mean([len(split.test) / max(1, len(split.train)) for split in _folds(trial)]))
    return FoldLosses(metric.name, _written(estimate), first.seed, found, share)


def _folds(trial: Resampling) -> list[Split]:
    """The part of the bootstrap that scores training rows is no fold."""
    return [split for split in trial.splits if split.pool or not trial.estimate.training_weight]


def _objective(winner: Winner, table: Table) -> Objective | None:
    spec = check_stored(winner.run, winner.sources, table.facts).spec
    return None if spec is None or not spec.objectives else spec.objectives[0]


def _metric(objective: Objective | None, task: str) -> Metric:
    """The first metric of the first objective that is computed from predictions; else the default of the task."""
    metrics = () if objective is None else metrics_of(objective.loss)
    fitting = [metric for metric in metrics if not metric.of_model and metric.relative_to is None]
    if not fitting:
        return metric_named(DEFAULT_METRICS[task])
    return fitting[0] if fitting[0].on_test is None else metric_named(fitting[0].on_test)


def _losses(
    winner: Winner, dataset: Dataset, trial: Resampling, metric: Metric, trusted: Collection[str]
) -> tuple[float, ...]:
    model, seed = winning_model(winner), winner.run.seed
    losses = []
    fitted = SplitOutputs(dataset, seed, trusted)
    for split in _folds(trial):
        try:
            outputs = fitted.of(model, split)
        except Exception as reason:
            failure = failure_of(reason, "")  # raises what is a bug
            raise NoFolds(f"the winner of `{winner.run.id}` cannot be fitted: {failure.message}") from None
        losses.append(score(metric, dataset.y[split.test], outputs))
    if not all(map(math.isfinite, losses)):
        raise NoFolds(f"`{metric.name}` has no value on some folds, which are too small for it")
    return tuple(losses)


def winning_model(winner: Winner) -> Model:
    """The best model of a run, read with the names of its own spec."""
    best = winner.run.result.get("best")
    if best is None:
        raise NoFolds(f"the run `{winner.run.id}` has no best model")
    model, problems = text_to_model(str(best), stored_source(winner.run, winner.sources), read_stored(winner.sources))
    if model is None:
        why = problems[0].message if problems else "it is no model"
        raise NoFolds(f"the best model of `{winner.run.id}` cannot be read again: {why}")
    return model


def _written(estimate: Estimate) -> str:
    named = dict(estimate.options)
    shown = [f"{name} = {named[name]}" for name in ("folds", "repeats", "samples") if named.get(name, 1) != 1]
    return f"{estimate.name}({', '.join(shown)})"
