"""PSMS under other settings: folds, iterations, swarm size, inertia, c1 and c2 (Escalante et al., 2009, tables 5 to 7).

As in the paper, one split of each data set. The three figures of a setting are means over the data sets: the error in
cross-validation of all models tried, the test error of the chosen model, and the test error of all models tried, each
fitted once more on all training rows. Image and splice take hours and are left out, so that only differences between
settings can be compared with the paper's, not the figures themselves.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from time import process_time
from typing import Any

import numpy as np

from benchmarks.benchmark import Benchmark, Workplace
from benchmarks.cell import Cell, Record
from benchmarks.datasets import Split, published_split
from benchmarks.papers.psms_runs import PAPER, program_inertia
from benchmarks.report import Claim, Report, Table, made_by
from benchmarks.significance import compare_pairs, mean
from benchmarks.trial import Watched, outputs_on, shipped_spec, watch_spec
from msl.blocks.base.load import BlockProblem
from msl.evaluate.metrics import ber
from msl.space.values import Model

DATA = tuple(name for name in PAPER if name not in ("image", "splice"))


@dataclass(frozen=True, slots=True)
class Setting:
    """A row of a table: the options that it changes, and the paper's CV BER, test BER and test BER of all models.

    What is only in plots of one data set has neither table nor figures.
    """

    table: int | None
    name: str
    swarm: int
    iterations: int
    paper: tuple[float, float, float] | None
    folds: int = 2
    #: A constant, or None for the ramp of the program from 1.2 to 0.4 over half of the iterations.
    inertia: float | None = None
    c1: float = 2
    c2: float = 2

    @property
    def search(self) -> tuple[float | None, ...]:
        """What is searched, whatever the row is called."""
        return self.swarm, self.iterations, self.folds, self.inertia, self.c1, self.c2


SETTINGS = (
    *(
        Setting(5, f"k = {folds}", 5, 50, paper, folds=folds)
        for folds, paper in ((2, (25.36, 22.99, 25.79)), (5, (25.18, 20.50, 26.30)), (10, (24.54, 20.82, 26.03)))
    ),
    Setting(6, "I = 10", 10, 10, (25.33, 22.17, 27.64)),
    Setting(6, "I = 25", 10, 25, (25.29, 21.88, 27.59)),
    Setting(6, "I = 50", 10, 50, (24.02, 21.12, 26.72)),
    Setting(6, "I = 100", 10, 100, (24.57, 22.81, 27.27)),
    Setting(6, "m = 5", 5, 50, (24.27, 20.81, 25.01)),
    Setting(6, "m = 10", 10, 50, (25.07, 21.64, 25.99)),
    Setting(6, "m = 20", 20, 50, (25.09, 21.76, 26.00)),
    Setting(6, "m = 40", 40, 50, (24.82, 21.45, 25.96)),
    Setting(6, "m = 50", 50, 50, (25.32, 22.54, 26.11)),
    Setting(6, "W = (0, 0, 0)", 5, 50, (23.86, 20.40, 22.46), inertia=0),
    Setting(6, "W = (1.2, 0.5, 0.4)", 5, 50, (24.22, 19.41, 23.38)),
    Setting(6, "W = (1, 0, 1)", 5, 50, (27.62, 21.88, 27.13), inertia=1),
    Setting(7, "c1 = 2, c2 = 2", 5, 50, (23.69, 19.72, 23.92)),
    Setting(7, "c1 = 0, c2 = 2", 5, 50, (26.87, 22.42, 27.13), c1=0),
    Setting(7, "c1 = 2, c2 = 0", 5, 50, (24.99, 21.73, 25.59), c2=0),
    *(
        Setting(None, f"c1 = {c1}, c2 = {c2}, I = {iterations}", 5, iterations, None, c1=c1, c2=c2)
        for iterations in (25, 100)
        for c1, c2 in ((2, 2), (0, 2), (2, 0))
    ),
)
_BY_NAME = {setting.name: setting for setting in SETTINGS}
#: The name under which a setting is run: that of the first row with the same search.
RUN_AS = {
    setting.name: next(first.name for first in SETTINGS if first.search == setting.search) for setting in SETTINGS
}
FIGURES = ("cv", "test", "test of all")
#: The data set of the paper's plots, and what figure 1 has beside the swarm of the usual setting.
FIGURES_ON, PATTERN, USUAL = "heart", "pattern search", "c1 = 2, c2 = 2"
#: What the paper's text compares: the figures, the setting that it calls better, and the others.
COMPARED: tuple[tuple[tuple[str, ...], str, tuple[str, ...]], ...] = (
    (("test",), "k = 5", ("k = 2", "k = 10")),
    (("test",), "I = 50", ("I = 10", "I = 25", "I = 100")),
    (("test",), "I = 10", ("I = 100",)),
    (("test",), "m = 5", ("m = 10", "m = 20", "m = 40", "m = 50")),
    (("cv", "test of all"), "W = (0, 0, 0)", ("W = (1.2, 0.5, 0.4)", "W = (1, 0, 1)")),
    (("test",), "W = (1.2, 0.5, 0.4)", ("W = (0, 0, 0)", "W = (1, 0, 1)")),
    (FIGURES, "c1 = 2, c2 = 2", ("c1 = 0, c2 = 2", "c1 = 2, c2 = 0")),
)


def cells(quick: bool) -> list[Cell]:
    """Each search once, those with the fewest evaluations first."""
    once = [setting for setting in SETTINGS if RUN_AS[setting.name] == setting.name]
    settings = sorted(once, key=lambda setting: setting.folds * setting.swarm * setting.iterations)
    if quick:
        return [Cell("heart", 0, SETTINGS[3].name, _budget(SETTINGS[3]))]
    tables = [Cell(name, 0, setting.name, _budget(setting)) for setting in settings if setting.table for name in DATA]
    plots = [Cell(FIGURES_ON, 0, setting.name, _budget(setting)) for setting in settings if not setting.table]
    return [*tables, *plots, Cell(FIGURES_ON, 0, PATTERN, _budget(_BY_NAME[USUAL]))]


def _budget(setting: Setting) -> str:
    return f"{setting.swarm} × {setting.iterations + 1} evaluations"


def work(cell: Cell, place: Workplace) -> Mapping[str, Any]:
    split = published_split(place.data, cell.data, cell.split)
    start = process_time()
    watched = watch_spec(_spec(cell), split.train, cell.split, place.folder)
    seconds = process_time() - start
    models = list(_models(watched, split))
    return {
        "cv": mean([cv for _, cv, _ in models]),
        "test": _test_error(watched, watched.best(), split),
        "test of all": mean([test for _, _, test in models if test is not None]),
        "cpu": round(seconds, 2),
        "origin": split.origin,
        # Of the other data sets they are in no table, and would be most of the records.
        **({"models": [_rounded(model) for model in models]} if cell.data == FIGURES_ON else {}),
    }


def _rounded(model: tuple[int, float, float | None]) -> list[int | float | None]:
    place, cv, test = model
    return [place, round(cv, 4), None if test is None else round(test, 4)]


def _spec(cell: Cell) -> str:
    if cell.method == PATTERN:
        usual = _BY_NAME[USUAL]
        return shipped_spec("patsms", f"search.evaluations={usual.swarm * (usual.iterations + 1)}")
    setting = _BY_NAME[cell.method]
    text = shipped_spec(
        "psms",
        f"search.swarm={setting.swarm}",
        f"search.iterations={setting.iterations}",
        f"search.inertia={program_inertia(setting.iterations) if setting.inertia is None else setting.inertia}",
        f"search.c1={setting.c1}",
        f"search.c2={setting.c2}",
    )
    return text.replace("folds = 2", f"folds = {setting.folds}")


def _models(watched: Watched, split: Split) -> Iterator[tuple[int, float, float | None]]:
    """The models of all particles in all iterations that could be fitted, as often as they were met: the place in the
    order of evaluation, the error in cross-validation, and the test error."""
    for place, (model, evaluation) in enumerate(watched.found.evaluator.evaluated.values()):
        # What the swarm sees of a model that is worse than its particle's best is a bound; what was computed is not.
        if not evaluation.bound and math.isfinite(evaluation.losses[0]):
            yield place, float(evaluation.losses[0]), _test_error(watched, model, split)


def _test_error(watched: Watched, model: Model, split: Split) -> float | None:
    """None for a model that two folds could be fitted with, and all rows cannot."""
    try:
        outputs, truth = outputs_on(watched.plan, model, split.test)
    except (BlockProblem, ValueError, FloatingPointError):
        return None
    return ber(truth, outputs, np.ones(len(truth)))


# --- The report -------------------------------------------------------------------------------------------------------


def report(records: Sequence[Record]) -> Report:
    tables = [*(_table(number, records) for number in (5, 6, 7)), _pairs_table(records), _models_table(records)]
    tables += _first_figure(records)
    count, whole = len({record.cell for record in records}), len(cells(quick=False))
    ran = (
        f"{count} of {whole} searches on the first split of {', '.join(DATA)}. Image "
        "and splice, which the paper has too, take hours: so compare differences between settings, not the figures "
        "themselves."
    )
    claims = (_inertia_claim(records), _weights_claim(records), _folds_claim(records))
    return Report("papers.psms_settings", "PSMS: its settings", ran, tuple(tables), claims, made_by(records))


def _table(number: int, records: Sequence[Record]) -> Table:
    """The settings of a table that have been run, on the data sets that all of these have."""
    rows: list[tuple[str | int | float, ...]] = []
    found = {setting: _outcomes(records, setting.name) for setting in SETTINGS if setting.table == number}
    run = {setting: of_data for setting, of_data in found.items() if of_data}
    shared = [name for name in DATA if all(name in of_data for of_data in run.values())]
    for setting, of_data in run.items():
        own = [of_data[name] for name in shared]
        if own:
            ours = [100 * mean([outcome[figure] for outcome in own]) for figure in FIGURES]
            pairs = [value for paper, seen in zip(setting.paper or (), ours, strict=True) for value in (paper, seen)]
            rows.append((setting.name, len(own), *pairs, mean([outcome["cpu"] for outcome in own])))
    columns = [column for figure in FIGURES for column in (f"paper, {figure}", figure)]
    return Table(f"Table {number}", ("setting", "data sets", *columns, "CPU s"), tuple(rows))


def _outcomes(records: Sequence[Record], name: str) -> Mapping[str, Mapping[str, Any]]:
    return {record.cell.data: record.outcome for record in records if record.cell.method == RUN_AS[name]}


def _pairs_table(records: Sequence[Record]) -> Table:
    """Every comparison of the paper's text, on the data sets that both settings have."""
    rows: list[tuple[str | int | float, ...]] = []
    for figures, better, others in COMPARED:
        for figure, other in ((figure, other) for figure in figures for other in others):
            ours, theirs = _outcomes(records, better), _outcomes(records, other)
            pairs = [(ours[name][figure], theirs[name][figure]) for name in DATA if name in ours and name in theirs]
            if pairs:
                first, second = ([100 * each for each in column] for column in zip(*pairs, strict=True))
                compared = compare_pairs(first, second)
                counts = (compared.wins, compared.losses, compared.p_value)
                rows.append((figure, better, mean(first), other, mean(second), *counts))
    note = (
        "Errors in percent, means over the data sets; on how many the first is lower and higher, and Wilcoxon's test. "
        "With seven pairs it is below 0.05 only if at least six of them agree."
    )
    columns = ("figure", "setting", "error", "against", "its error", "lower on", "higher on", "p")
    return Table("The paper's comparisons", columns, tuple(rows), (note,))


def _models_table(records: Sequence[Record]) -> Table:
    """What the figures 1 and 3 to 6 plot for one split of heart: the models of the first swarm and of the last."""
    rows: list[tuple[str | int | float | None, ...]] = []
    for setting in SETTINGS:
        outcome = _outcomes(records, setting.name).get(FIGURES_ON)
        if outcome is None or RUN_AS[setting.name] != setting.name:
            continue
        tested = [(place, cv, test) for place, cv, test in outcome["models"] if test is not None]
        first = [model for model in tested if model[0] < setting.swarm]
        last = [model for model in tested if model[0] >= setting.swarm * setting.iterations]
        place, _, lowest = min(tested, key=itemgetter(2))
        means = [100 * mean([model[figure] for model in end]) for figure in (1, 2) for end in (first, last)]
        worst = 100 * max((model[2] for model in last), default=math.nan)
        rows.append((setting.name, *means, worst, 100 * outcome["test"], 100 * lowest, place // setting.swarm))
    columns = (
        *("setting", "cv, first swarm", "cv, last swarm", "test, first swarm", "test, last swarm", "worst of the last"),
        *("test of the winner", "lowest test", "in iteration"),
    )
    note = (
        "Errors in percent, the means of a swarm over its models that could be fitted; iteration 0 is the first swarm. "
        "The paper plots these for one split of heart, which is not known."
    )
    return Table(f"Models of {FIGURES_ON}, figures 1 and 3 to 6", columns, tuple(rows), (note,))


def _first_figure(records: Sequence[Record]) -> list[Table]:
    """Swarm and pattern search on one split: the test errors of the models of figure 1."""
    swarm = _outcomes(records, USUAL).get(FIGURES_ON)
    pattern = next((one.outcome for one in records if one.cell.method == PATTERN), None)
    if swarm is None or pattern is None:
        return []
    size = _BY_NAME[USUAL].swarm
    rows: list[tuple[str | int | float, ...]] = []
    for name, outcome in (("swarm", swarm), (PATTERN, pattern)):
        tested = [(place, cv, test) for place, cv, test in outcome["models"] if test is not None]
        best = min(tested, key=itemgetter(1))
        last = [100 * test for place, _, test in tested if place >= max(model[0] for model in tested) - size + 1]
        lowest = 100 * min(test for _, _, test in tested)
        rows.append((name, best[0] // size, 100 * outcome["test"], min(last), max(last), lowest))
    columns = (
        *("search", "its winner met in iteration", "test of the winner"),
        *("lowest of the last five models", "highest of them", "lowest test of all"),
    )
    note = f"Errors in percent on the test rows; an iteration is {size} evaluations, 0 the first."
    return [Table(f"Swarm and pattern search on one split of {FIGURES_ON}, figure 1", columns, tuple(rows), (note,))]


def _errors(records: Sequence[Record], name: str) -> dict[str, float]:
    return {data: outcome["test"] for data, outcome in _outcomes(records, name).items()}


def _claim(records: Sequence[Record], text: str, best: str, others: Sequence[str], is_better: bool) -> Claim:
    """Whether the test error of a setting is lower than that of others by Wilcoxon's test, or does not differ."""
    first = _errors(records, best)
    found = {name: _errors(records, name) for name in others}
    if len(first) < len(DATA) or any(len(each) < len(DATA) for each in found.values()):
        return Claim(text, None, "not run whole")
    seen, holds = [], True
    for name, errors in found.items():
        compared = compare_pairs(list(first.values()), [errors[data] for data in first])
        significant, lower = compared.p_value < 0.05, mean(list(first.values())) < mean(list(errors.values()))
        holds &= significant and lower if is_better else not significant
        seen.append(f"against {name}: {compared}")
    return Claim(text, holds, "; ".join(seen))


def _inertia_claim(records: Sequence[Record]) -> Claim:
    text = "the test error with W = (1.2, 0.5, 0.4) is lower than with the others, significantly"
    return _claim(records, text, "W = (1.2, 0.5, 0.4)", ("W = (0, 0, 0)", "W = (1, 0, 1)"), True)


def _weights_claim(records: Sequence[Record]) -> Claim:
    text = "the test error with c1 = c2 = 2 is lower than with one of them 0, significantly"
    return _claim(records, text, "c1 = 2, c2 = 2", ("c1 = 0, c2 = 2", "c1 = 2, c2 = 0"), True)


def _folds_claim(records: Sequence[Record]) -> Claim:
    text = "the test error with 2, 5 and 10 folds does not differ significantly"
    return _claim(records, text, "k = 2", ("k = 5", "k = 10"), False)


BENCHMARK = Benchmark("papers.psms_settings", cells, work, report)
