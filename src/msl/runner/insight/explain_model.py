"""What a model looks at: its columns by permutation, the effect of the foremost ones, and the rows it is furthest off.

All of it is measured on rows that were held out, by models fitted to the others, on the splits that the model was
evaluated on. Columns are those of the table: what was made of one date or text is permuted together.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, rankdata
from sklearn import config_context

from msl.blocks.base.block import Floats
from msl.blocks.base.build import model_to_chain
from msl.blocks.base.chain import probabilities
from msl.blocks.base.load import estimator_code, is_raised_by_estimator
from msl.data.table import Table
from msl.data.target import spell_label
from msl.diagnostics.user_error import UserError
from msl.evaluate.final_fits import COMMON_FOLDS, OutputsRequest, request_stream
from msl.evaluate.metrics import score
from msl.evaluate.outcome import MetricFailed
from msl.runner.choose_members import row_metric
from msl.runner.confidence_intervals import requested_resampling, row_estimates
from msl.runner.plan import Plan
from msl.space.to_text import model_to_text
from msl.space.values import Model

#: A stream of random numbers, so that no two uses of one seed draw the same.
_STREAM = 12
_MOST_FITS, _MOST_ROWS, _DRAWS = 20, 4000, 100
#: Repeats of a permutation: fewer where there are many columns.
_REPEATS, _MANY_COLUMNS, _FEWER_REPEATS = 5, 60, 2
_MOST_EFFECTS, _MOST_VALUES, _MOST_EFFECT_ROWS = 5, 12, 600
_MOST_CLASSES, _MOST_SYMBOLS = 6, 8
_MOST_WORST, _SHOWN_COLUMNS = 10, 5
#: From this association on, columns are said to go together; and the most columns that are compared.
_TOGETHER, _MOST_COMPARED, _MOST_COMPARED_ROWS = 0.8, 200, 5000


@dataclass(frozen=True, slots=True)
class ColumnImportance:
    """How much the loss grows on held-out rows if the values of one column, or of several together, are shuffled.

    `is_certain`: it is above 0, and above the luck in the choice of the model, beyond chance (p < 0.05, for all columns
    together by Holm's method).
    """

    columns: tuple[str, ...]
    importance: float
    interval: tuple[float, float]
    is_certain: bool


@dataclass(frozen=True, slots=True)
class Effect:
    """What a model says on the average if a column has this value in all rows: a partial dependence.

    `series` has a line for each class that is shown, or one; `low` and `high` are the ends of the folds' own models.
    """

    column: str
    values: tuple[float | str, ...]
    outputs: str
    series: dict[str, tuple[float, ...]]
    low: dict[str, tuple[float, ...]]
    high: dict[str, tuple[float, ...]]

    @property
    def is_number(self) -> bool:
        return not isinstance(self.values[0], str)


@dataclass(frozen=True, slots=True)
class WorstRow:
    """A row that the models fitted to others are far off; `row` counts the rows of the table from 1."""

    row: int
    truth: str
    predicted: str
    off: float
    values: dict[str, str]


@dataclass(frozen=True, slots=True)
class ModelExplanation:
    """`loss` is that of the held-out rows as they are; `notes` say what was left out."""

    model: str
    metric: str
    value: float
    rows: int
    folds: int
    columns: tuple[ColumnImportance, ...]
    together: tuple[ColumnImportance, ...]
    effects: tuple[Effect, ...]
    worst: tuple[WorstRow, ...]
    off: str
    notes: tuple[str, ...] = ()

    def to_record(self) -> dict[str, Any]:
        return dict(asdict(self))


def explain_model(plan: Plan, model: Model, repeat: int = 0, luck: float = 0.0) -> ModelExplanation:
    """Fits a model on each split that it was evaluated on and asks it; raises UserError if it cannot be fitted.

    `luck` is by how much its loss on these rows is too low because they helped to choose it. Shuffling any column, even
    one of noise, can undo that much.
    """
    try:
        with warnings.catch_warnings(), config_context(assume_finite=True, skip_parameter_validation=True):
            warnings.simplefilter("ignore")  # the run has told them
            return _Explainer(plan, model, repeat, max(luck, 0.0)).explanation()
    except MetricFailed as failed:
        raise UserError(f"the held-out rows cannot be scored: {failed}") from None
    except Exception as reason:
        if isinstance(reason, UserError) or not is_raised_by_estimator(reason):
            raise
        words = (str(reason).strip() or "no words").splitlines()[0]
        raise UserError(f"the model cannot be fitted on a part of the rows: {words}") from reason


@dataclass(frozen=True, slots=True, eq=False)
class _HeldOutRows:
    """The fitted model of a split, and the rows that it has not seen."""

    chain: Any
    rows: NDArray[np.intp]
    X: Floats


class _Explainer:
    def __init__(self, plan: Plan, model: Model, repeat: int, luck: float) -> None:
        self._plan, self._model, self._repeat, self._luck = plan, model, repeat, luck
        self._table, self._dataset = plan.table, plan.job.dataset
        self._metric = row_metric(plan)
        self._sign = -1.0 if self._metric.larger_is_better else 1.0
        self._notes: list[str] = []

    def explanation(self) -> ModelExplanation:
        self._held = list(self._fitted())
        self._rows = np.concatenate([one.rows for one in self._held])
        self._base = self._outputs(self._held)
        self._drawn = self._bootstrap()
        units = column_units(self._table)
        columns = self._important(units)
        together = [names for names in associated_columns(self._table) if len(names) > 1]
        joint = self._important(
            [(names, [slot for (name,), slots in units if name in names for slot in slots]) for names in together]
        )
        effects = [
            self._effect(units, one) for place, one in enumerate(columns[:_MOST_EFFECTS]) if one.is_certain or not place
        ]
        return ModelExplanation(
            model_to_text(self._model),
            self._metric.name,
            self._sign * self._loss(self._base, None),
            len(self._rows),
            len(self._held),
            tuple(columns),
            tuple(joint),
            tuple(effects),
            tuple(self._worst([one.columns[0] for one in columns[:_SHOWN_COLUMNS]])),
            "1 − the probability of the true class" if self._table.classes else "the distance to the true value",
            (*self._notes, *self._about_rows()),
        )

    # --- fits ---

    def _fitted(self) -> Iterator[_HeldOutRows]:
        plan, dataset = self._plan, self._dataset
        resampling = None
        for estimate in row_estimates(plan)[:1]:
            request = OutputsRequest(self._model, estimate, request_stream(self._model), self._repeat)
            resampling = requested_resampling(plan, request)
            if len(resampling.splits) > _MOST_FITS or resampling.estimate.training_weight:
                resampling = None
        if resampling is None:
            resampling = requested_resampling(plan, OutputsRequest(self._model, COMMON_FOLDS))
            self._notes.append("measured on five folds, since the estimate of the run has none of its own, or too many")
        total = sum(len(split.test) for split in resampling.splits)
        rng = np.random.default_rng([plan.seed, _STREAM, 0])
        if total > _MOST_ROWS:
            self._notes.append(f"measured on {_MOST_ROWS:,} of {total:,} held-out rows")
        for split in resampling.splits:
            test = np.asarray(split.test)
            if total > _MOST_ROWS:
                most = max(1, round(len(test) * _MOST_ROWS / total))
                test = np.sort(rng.choice(test, min(most, len(test)), replace=False))
            chain = model_to_chain(self._model, dataset.task, plan.seed, plan.job.trusted, dataset.columns)
            weights = None if dataset.weights is None else np.array(dataset.weights[split.train])
            with estimator_code:
                chain.fit_arrays(dataset.X[split.train], dataset.y[split.train], dataset.n_classes, weights)
            yield _HeldOutRows(chain, test, np.array(dataset.X[test]))

    def _outputs(self, held: Sequence[_HeldOutRows], matrices: Sequence[Floats] | None = None) -> Floats:
        with estimator_code:
            of = [one.X for one in held] if matrices is None else matrices
            return np.concatenate([one.chain.outputs(X) for one, X in zip(held, of, strict=True)])

    def _loss(self, outputs: Floats, counts: Floats | None) -> float:
        """The loss of the held-out rows, each so many times."""
        weights = None if self._dataset.weights is None else self._dataset.weights[self._rows]
        if counts is not None:
            weights = counts if weights is None else weights * counts
        return self._sign * score(self._metric, self._dataset.y[self._rows], outputs, weights)

    # --- columns ---

    def _bootstrap(self) -> list[Floats]:
        """How often each held-out row is drawn: whole groups where there are groups."""
        rng = np.random.default_rng([self._plan.seed, _STREAM, 1])
        groups = self._dataset.population.groups
        _, unit = np.unique(self._rows if groups is None else groups[self._rows], return_inverse=True)
        size = int(unit.max()) + 1
        drawn = [np.bincount(rng.integers(0, size, size), minlength=size)[unit].astype(float) for _ in range(_DRAWS)]
        return [one for one in drawn if self._is_scored(one)]

    def _is_scored(self, counts: Floats) -> bool:
        """Whether the metric has a value, which it may not have where a class is missing."""
        try:
            return math.isfinite(self._loss(self._base, counts))
        except MetricFailed:
            return False

    def _important(self, units: Sequence[tuple[tuple[str, ...], list[int]]]) -> list[ColumnImportance]:
        repeats = _REPEATS if len(units) <= _MANY_COLUMNS else _FEWER_REPEATS
        base = self._loss(self._base, None)
        of_draws = np.array([self._loss(self._base, one) for one in self._drawn])
        found: list[tuple[tuple[str, ...], float, Floats]] = []
        for names, slots in units:
            shuffled = [self._outputs(self._held, list(self._shuffled(slots, again))) for again in range(repeats)]
            value = float(np.mean([self._loss(one, None) for one in shuffled])) - base
            drawn = np.array([self._loss(shuffled[n % repeats], one) for n, one in enumerate(self._drawn)])
            found.append((names, value, drawn - of_draws))
        certain = _certain([value - self._luck for _, value, _ in found], [drawn for _, _, drawn in found])
        rows = [
            ColumnImportance(names, value, _interval(value, drawn), is_certain)
            for (names, value, drawn), is_certain in zip(found, certain, strict=True)
        ]
        return sorted(rows, key=lambda one: (-one.importance, one.columns))

    def _shuffled(self, slots: list[int], again: int) -> Iterator[Floats]:
        rng = np.random.default_rng([self._plan.seed, _STREAM, 2, slots[0], again])
        for one in self._held:
            X = one.X.copy()
            X[:, slots] = X[rng.permutation(len(X))][:, slots]
            yield X

    # --- effects ---

    def _effect(self, units: Sequence[tuple[tuple[str, ...], list[int]]], one: ColumnImportance) -> Effect:
        slots = next(slots for names, slots in units if names == one.columns)
        slot = slots[0]
        if len(slots) > 1:  # of the parts of a date or a text, the one that matters most by itself
            base = self._loss(self._base, None)
            of = [self._loss(self._outputs(self._held, list(self._shuffled([s], 0))), None) - base for s in slots]
            slot = slots[int(np.argmax(of))]
        column = self._table.schema.columns[slot]
        grid = _grid(self._table.X[:, slot], column.kind == "symbolic")
        some = [_thin(held.X, _MOST_EFFECT_ROWS // len(self._held) + 1) for held in self._held]
        names = self._shown_classes()
        said = np.array([[self._mean_said(value, slot, X, held) for X, held in zip(some, self._held, strict=True)]
                         for value in grid])  # fmt: skip
        sizes = np.array([len(X) for X in some], dtype=float)
        means = np.einsum("vfk,f->vk", said, sizes / sizes.sum())
        values = tuple(_cell(self._table, slot, value) if column.kind == "symbolic" else float(value) for value in grid)
        series = {name: tuple(map(float, means[:, place])) for place, name in enumerate(names)}
        low = {name: tuple(map(float, said.min(axis=1)[:, place])) for place, name in enumerate(names)}
        high = {name: tuple(map(float, said.max(axis=1)[:, place])) for place, name in enumerate(names)}
        words = "mean probability" if self._table.classes else f"mean {self._table.target}"
        return Effect(column.name, values, words, series, low, high)

    def _mean_said(self, value: float, slot: int, X: Floats, held: _HeldOutRows) -> Floats:
        changed = X.copy()
        changed[:, slot] = value
        with estimator_code:
            outputs = held.chain.outputs(changed)
        if not self._table.classes:
            return np.array([float(np.mean(outputs))])
        shares: Floats = probabilities(outputs).mean(axis=0)
        return shares[-1:] if len(self._table.classes) == 2 else shares[:_MOST_CLASSES]

    def _shown_classes(self) -> list[str]:
        labels = [spell_label(one) for one in self._table.classes]
        if not labels:
            return [self._table.target]
        return labels[-1:] if len(labels) == 2 else labels[:_MOST_CLASSES]

    # --- rows ---

    def _worst(self, shown: Sequence[str]) -> Iterator[WorstRow]:
        y, labels = self._dataset.y[self._rows], self._table.classes
        if labels:
            shares = probabilities(self._base)
            off = 1.0 - shares[np.arange(len(y)), y]
            predicted = [spell_label(labels[place]) for place in shares.argmax(axis=1)]
            truth = [spell_label(labels[place]) for place in y]
        else:
            off = np.abs(self._base - y)
            predicted, truth = [f"{one:.4g}" for one in self._base], [f"{one:.4g}" for one in y]
        slots = {name: place for place, name in enumerate(self._table.names) if name in shown}
        seen: set[int] = set()
        for place in np.lexsort((self._rows, -off)):
            row = int(self._rows[place])
            if row in seen or len(seen) >= _MOST_WORST:
                continue
            seen.add(row)
            values = {name: _cell(self._table, slots[name], self._table.X[row, slots[name]])
                      for name in shown if name in slots}  # fmt: skip
            yield WorstRow(row + 1, truth[place], predicted[place], float(off[place]), values)

    def _about_rows(self) -> Iterator[str]:
        if self._luck > 0:
            yield (
                f"these rows helped to choose the model, which makes its {self._metric.name} about {self._luck:.2g} "
                "too good; columns whose shuffling costs no more than that are not told apart from chance"
            )
        if self._table.n_sampled_from:
            yield f"rows are numbered among the {len(self._table):,} that were drawn from the table"
        elif self._table.n_dropped:
            yield f"rows are numbered without the {self._table.n_dropped:,} that have no target"
        if len(self._table.classes) > _MOST_CLASSES:
            yield f"effects are shown for {_MOST_CLASSES} of {len(self._table.classes)} classes"


def _interval(value: float, drawn: Floats) -> tuple[float, float]:
    if not len(drawn):
        return (value, value)
    low, high = np.percentile(drawn, [2.5, 97.5])
    return float(min(low, value)), float(max(high, value))


def _certain(values: Sequence[float], drawn: Sequence[Floats]) -> list[bool]:
    """Which are above 0 beyond chance, all of them together, by Holm's method."""
    chances = []
    for value, one in zip(values, drawn, strict=True):
        error = float(np.std(one, ddof=1)) if len(one) > 1 else 0.0
        chances.append(float(norm.sf(value / error)) if error > 0 else (0.0 if value > 0 and len(one) > 1 else 1.0))
    found, rejects = [False] * len(chances), True
    for done, place in enumerate(np.argsort(chances, kind="stable")):
        rejects = rejects and chances[place] * (len(chances) - done) < 0.05
        found[place] = rejects
    return found


def column_units(table: Table) -> list[tuple[tuple[str, ...], list[int]]]:
    """The columns of the table as it was read, each with the features that it became."""
    made = {name: one.source for one in table.schema.derived for name in one.names}
    found: dict[str, list[int]] = {}
    for slot, name in enumerate(table.names):
        found.setdefault(made.get(name, name), []).append(slot)
    return [((name,), slots) for name, slots in found.items()]


def associated_columns(table: Table) -> list[tuple[str, ...]]:
    """Groups of columns that go together: numbers by their rank correlation, symbols by Cramér's V.

    A model may use any of them in place of the others, so that each alone seems to matter less than it does.
    """
    made = {name for one in table.schema.derived for name in one.names}
    slots = [slot for slot, name in enumerate(table.names) if name not in made][:_MOST_COMPARED]
    X = _thin(table.X, _MOST_COMPARED_ROWS)
    symbolic = [table.schema.columns[slot].kind == "symbolic" for slot in slots]
    filled = np.column_stack([_filled(X[:, slot]) for slot in slots]) if slots else np.empty((len(X), 0))
    ranks = rankdata(filled, axis=0)
    group = list(range(len(slots)))
    for one in range(len(slots)):
        for other in range(one + 1, len(slots)):
            if symbolic[one] != symbolic[other]:
                continue
            pair = (filled[:, one], filled[:, other]) if symbolic[one] else (ranks[:, one], ranks[:, other])
            if (_cramer(*pair) if symbolic[one] else _linear(*pair)) >= _TOGETHER:
                old, new = group[other], group[one]
                group = [new if each == old else each for each in group]
    names = [table.names[slot] for slot in slots]
    return [tuple(n for n, g in zip(names, group, strict=True) if g == each) for each in dict.fromkeys(group)]


def _filled(column: Floats) -> Floats:
    """Missing values as one more value below all others."""
    known = column[~np.isnan(column)]
    return np.where(np.isnan(column), (known.min() if len(known) else 0.0) - 1.0, column)


def _linear(one: Floats, other: Floats) -> float:
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        return 0.0
    return abs(float(np.corrcoef(one, other)[0, 1]))


def _cramer(one: Floats, other: Floats) -> float:
    _, a = np.unique(one, return_inverse=True)
    _, b = np.unique(other, return_inverse=True)
    shape = (int(a.max()) + 1, int(b.max()) + 1)
    if min(shape) < 2 or shape[0] * shape[1] > len(a):
        return 0.0
    counts = np.zeros(shape)
    np.add.at(counts, (a, b), 1.0)
    expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0, keepdims=True) / len(a)
    chi = float(((counts - expected) ** 2 / expected).sum())
    return math.sqrt(chi / len(a) / (min(shape) - 1))


def _grid(values: Floats, is_symbolic: bool) -> Floats:
    known = values[~np.isnan(values)]
    if not len(known):
        return np.array([0.0])
    if is_symbolic:
        codes, counts = np.unique(known, return_counts=True)
        return codes[np.argsort(-counts, kind="stable")][:_MOST_SYMBOLS]
    distinct = np.unique(known)
    if len(distinct) <= _MOST_VALUES:
        return distinct
    return np.unique(np.percentile(known, np.linspace(2.5, 97.5, _MOST_VALUES)))


def _thin(X: Floats, most: int) -> Floats:
    return X if len(X) <= most else X[np.unique(np.linspace(0, len(X) - 1, most).round().astype(int))]


def _cell(table: Table, slot: int, value: float) -> str:
    column = table.schema.columns[slot]
    if math.isnan(value):
        return "missing"
    return column.categories[int(value)] if column.kind == "symbolic" else f"{value:.4g}"
