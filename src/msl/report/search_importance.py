"""What mattered in a search: how much each choice and parameter decides whether a model is among the best quarter.

The measure is local, and conditional on activity, after PED-ANOVA (Watanabe et al., 2023) and its conditional form
(Baba et al., 2026): the Pearson divergence between the density of a parameter among the good models and among all
models, among those alone in which it is active, and then weighted by how many these are. Stated as an analysis of
variance, it is the share of the variance of "is among the best quarter" that the parameter explains by itself.

Searches do not draw evenly, and of a branch that a swarm has left early few models are known. So the densities are not
those of the evaluated models: a Gaussian process that knows these says what the losses of models drawn as the space
draws them may be (`loss_process`). Each of its draws has an order of the decisions. What is told of the order is what
nearly all draws have in common, so that where a search has hardly been nothing is told.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from msl.diagnostics.user_error import UserError
from msl.encode.codec import Codec, space_to_codec
from msl.encode.layout import Meaning
from msl.encode.sample import sample
from msl.report.run_facts import check_stored
from msl.space.best import without_best
from msl.space.formulas import Facts
from msl.space.membership import NotInSpace
from msl.space.spec import Space, Spec
from msl.space.values import Model
from msl.store.evaluation import Evaluation
from msl.store.store import Files, Store, write_atomically

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

#: The share of the models that count as good.
GOOD = 0.25
FEWEST = 20
_MODELS, _DRAWS, _MOST_MODELS = 1536, 100, 1000
#: A decision matters more than another if it explains a hundredth more in 99 of 100 draws.
_MORE, _SURE = 0.01, 0.99
#: Losses have to be foreseen better than so many permutations of them, of so many models at most.
_PERMUTATIONS, _MOST_PERMUTED = 19, 250
_BINS = 8
#: A stream of random numbers, so that no two uses of one seed draw the same.
_STREAM = 11
#: Kinds of decisions whose levels have no order.
_UNORDERED = ("choice", "bool", "subset", "order", "arrangement")
_SUFFIX = ".facts.json"


# --- the facts about the table that the bounds of a space depend on, kept with each run -------------------------------


def save_facts(files: Files, run: str, facts: Facts) -> None:
    """Keeps what the space of a run depends on, so that its models can be looked at without the table."""
    write_atomically(files.model(run, _SUFFIX), json.dumps(asdict(facts), ensure_ascii=False) + "\n")


def read_facts(files: Files, run: str) -> Facts | None:
    """What was kept; None for a run of an older version."""
    try:
        record = json.loads(files.model(run, _SUFFIX).read_text(encoding="utf-8"))
        known = {field.name for field in fields(Facts)}
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in record.items()
        }
        return Facts(**{name: value for name, value in values.items() if name in known})
    except (OSError, ValueError, TypeError, AttributeError):
        return None


# --- the evaluated models of a run as a table -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class EvaluatedModels:
    """The models of a run as points of a cube with one dimension for every decision, and what each came to.

    `losses` has a column for each objective, infinite for a failure; `bound` says that a loss is a lower bound.
    """

    spec: Spec
    codec: Codec
    models: tuple[Model, ...]
    evaluations: tuple[Evaluation, ...]
    shares: Floats
    active: Flags
    losses: Floats
    bound: Flags

    def __len__(self) -> int:
        return len(self.models)

    @property
    def meanings(self) -> tuple[Meaning, ...]:
        """What each dimension means; with an encoding that shares none, that is one thing."""
        return tuple(dimension.meanings[0] for dimension in self.codec.dimensions)

    @property
    def failed(self) -> Flags:
        return np.array([one.failure is not None for one in self.evaluations], dtype=np.bool_)


def evaluated_models(store: Store, run: str, facts: Facts | None = None) -> EvaluatedModels:
    """The models that a run evaluated on all rows, each once; raises UserError where they cannot be read."""
    found = store.runs.get(run)
    facts = facts or read_facts(store.files, run)
    checked = check_stored(found, store.runs.sources(run), facts)
    if checked.spec is None:
        raise UserError("this version of msl does not accept the spec of the run any more", "run the spec again")
    spec = checked.spec
    searched, _ = without_best(spec.space)
    codecs = {name: _codec(searched, name) for name in {_encoding(stage) for stage in spec.search}}
    whole = _codec(searched, "separate")
    queries = [query for query in store.runs.queries(run) if query.key is not None and query.vector is not None]
    stored = store.evaluations.read(query.key for query in queries if query.key is not None)
    rows: dict[str, tuple[Model, Evaluation, Floats]] = {}
    for query in queries:
        one = stored.get(str(query.key))
        if one is None or one.inputs.share != 1.0 or one.inputs.repeat != 0 or one.key in rows:
            continue
        codec = codecs[_encoding(spec.search[min(query.stage, len(spec.search) - 1)])]
        if len(query.vector or ()) != codec.n_dimensions:
            raise UserError("the space of the run cannot be rebuilt without its table", "name the table of the run")
        model = codec.decode(np.array([query.vector]))[0]
        if isinstance(model, Model) and (vector := _encoded(whole, model)) is not None:
            rows[one.key] = (model, one, vector)
    vectors = np.array([vector for _, _, vector in rows.values()]).reshape(len(rows), whole.n_dimensions)
    batch = whole.decode(vectors)
    evaluations = tuple(one for _, one, _ in rows.values())
    objectives = max((len(one.losses) for one in evaluations), default=1)
    losses = np.array([_losses(one, objectives) for one in evaluations]).reshape(len(rows), objectives)
    return EvaluatedModels(
        spec,
        whole,
        tuple(model for model, _, _ in rows.values()),
        evaluations,
        batch.snapped,
        batch.active,
        losses,
        np.array([one.bound for one in evaluations], dtype=np.bool_),
    )


def _encoding(stage: Any) -> Literal["shared", "separate"]:
    return "separate" if dict(stage.call.options).get("encoding") == "separate" else "shared"


def _codec(space: Space, encoding: Literal["shared", "separate"]) -> Codec:
    try:
        return space_to_codec(space, encoding)
    except UserError:
        raise UserError("the space of the run depends on its table", "name the table of the run") from None


def _encoded(codec: Codec, model: Model) -> Floats | None:
    try:
        return codec.encode(model)
    except NotInSpace:
        return None


def _losses(one: Evaluation, objectives: int) -> list[float]:
    """The loss of each objective; a race says nothing of the others than its own, and a failure of none."""
    found = [loss if one.failure is None else math.inf for loss in one.losses]
    return found + [math.inf] * (objectives - len(found))


# --- importance -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Decision:
    """How much a choice or parameter matters: the share of what decides about good models that it explains by itself.

    `interval` has 95 % of the draws; `is_certain` says that it explains a hundredth or more in nearly all, and that
    losses are foreseen better than by chance. `place` is the first and the last place that it may have in the order of
    all. `best` says where good models lie; `active` is the number of models that have the decision.
    """

    name: str
    domain: str
    importance: float
    interval: tuple[float, float]
    is_certain: bool
    place: tuple[int, int]
    active: int
    best: str


@dataclass(frozen=True, slots=True)
class Importance:
    """What mattered for one objective, the most important first; or `why` nothing can be said."""

    objective: str
    models: int
    decisions: tuple[Decision, ...] = ()
    why: str = ""

    def to_record(self) -> dict[str, Any]:
        record = asdict(self)
        for one in record["decisions"]:
            one["interval"], one["place"] = list(one["interval"]), list(one["place"])
        record["decisions"] = list(record["decisions"])
        return record


def search_importance(evaluated: EvaluatedModels, seed: int) -> list[Importance]:
    """What mattered in a search, for each objective."""
    names = [objective.text for objective in evaluated.spec.objectives] or ["loss"]
    return [
        _of_objective(evaluated, place, name, seed)
        for place, name in enumerate(names)
        if place < evaluated.losses.shape[1] or evaluated.losses.shape[1] == 0
    ]


def _of_objective(evaluated: EvaluatedModels, place: int, name: str, seed: int) -> Importance:
    losses = evaluated.losses[:, place]
    known = np.isfinite(losses)
    number = int(known.sum())
    if why := _why_not(losses[known], len(evaluated), evaluated.codec.n_dimensions):
        return Importance(name, number, why=why)
    usable = known | evaluated.failed
    chosen = np.flatnonzero(usable)
    if len(chosen) > _MOST_MODELS:
        chosen = chosen[np.unique(np.linspace(0, len(chosen) - 1, _MOST_MODELS).round().astype(int))]
    whole = with_whole_losses(evaluated, place)
    # What failed is worse than anything, but not so much that it is all that trees look at.
    values = np.where(known, whole, float(whole[known].max()))[chosen]
    shares, active = evaluated.shares[chosen], evaluated.active[chosen]
    rng = np.random.default_rng([seed, _STREAM, place])
    units = [unit for unit in _units(evaluated.meanings) if active[:, unit[2]].any()]
    space = drawn_models(evaluated.codec, rng)
    found = measured(shares, active, values, space, rng)
    draws = np.column_stack([found[:, slots].sum(axis=1) for _, _, slots in units])
    is_told = beyond_chance(shares, active, values, space, rng)
    certain = is_told & ((draws > _MORE).mean(axis=0) >= _SURE)
    above = is_told & surely_above(draws)
    good = values <= np.quantile(values, GOOD)
    decisions = []
    for number_of, (label, domain, slots) in enumerate(units):
        here, own = active[:, slots].any(axis=1), draws[:, number_of]
        low, high = np.percentile(own, [2.5, 97.5])
        value = float(own.mean())
        meaning = evaluated.meanings[slots[0]]
        decisions.append(
            Decision(
                label,
                domain,
                value,
                (float(min(low, value)), float(max(high, value))),
                bool(certain[number_of]),
                (1 + int(above[:, number_of].sum()), len(units) - int(above[number_of].sum())),
                int(here.sum()),
                _where_good(meaning, shares[here & good][:, slots[0]]) if len(slots) == 1 else "",
            )
        )
    decisions.sort(key=lambda one: (-one.importance, one.name))
    return Importance(name, number, tuple(decisions))


def with_whole_losses(evaluated: EvaluatedModels, place: int) -> Floats:
    """The losses, where those of races that were cut short stand for all folds.

    Such a loss is a lower bound just above the cutoff, as if every fold left out had been perfect. Where losses are at
    least 0, it is what its folds came to as if the others were like them; else the mean of the losses above it.
    """
    losses, bound = evaluated.losses[:, place].copy(), evaluated.bound
    if not bound.any():
        return losses
    exact = losses[~bound & np.isfinite(losses)]
    skipped = np.array([one.folds_skipped for one in evaluated.evaluations], dtype=np.float64)
    options: dict[str, Any] = (
        dict(evaluated.spec.objectives[place].estimate.options) if evaluated.spec.objectives else {}
    )
    folds = float(options.get("folds", 0)) * float(options.get("repeats", 1))
    folds = max(folds, float(skipped[bound].max()) + 1.0)
    is_positive = len(exact) > 0 and float(exact.min()) >= 0
    for row in np.flatnonzero(bound):
        above = exact[exact >= losses[row]]
        if is_positive and skipped[row] > 0:
            losses[row] *= folds / (folds - skipped[row])
        elif len(above):
            losses[row] = float(above.mean())
    return losses


def _why_not(losses: Floats, models: int, dimensions: int) -> str:
    if dimensions == 0:
        return "the space has nothing open"
    if len(losses) == 0:
        return f"none of {models} models could be evaluated" if models else "no model was evaluated"
    if len(losses) < FEWEST:
        return f"{len(losses)} models with a loss are too few to say what mattered: it takes {FEWEST}"
    if np.ptp(losses) == 0:
        return f"all {len(losses)} models have the same loss"
    return ""


@dataclass(frozen=True, slots=True, eq=False)
class DrawnModels:
    """Models drawn as the space draws them."""

    shares: Floats
    active: Flags
    levels: list[int | None]
    is_choice: list[bool]


def drawn_models(codec: Codec, rng: np.random.Generator) -> DrawnModels:
    batch = sample(codec, _MODELS, rng)
    kinds = [dimension.kind for dimension in codec.dimensions]
    levels = [dimension.levels for dimension in codec.dimensions]
    return DrawnModels(batch.snapped, batch.active, levels, [kind in _UNORDERED for kind in kinds])


def measured(shares: Floats, active: Flags, losses: Floats, space: DrawnModels, rng: np.random.Generator) -> Floats:
    """The importance of each dimension in each draw of what the losses of the drawn models may be."""
    from msl.report.loss_process import Decisions, fit_process  # only here, because it takes long to import

    decisions = Decisions.of(space.levels, space.is_choice)
    process = fit_process(decisions, decisions.points(shares, active), losses, rng)
    drawn = process.draw(decisions.points(space.shares, space.active), _DRAWS, rng)
    good = (drawn <= np.quantile(drawn, GOOD, axis=1, keepdims=True)).astype(np.float64)
    return np.array([explained(one, space.shares, space.active, space.levels) for one in good])


def beyond_chance(shares: Floats, active: Flags, losses: Floats, space: DrawnModels, rng: np.random.Generator) -> bool:
    """Whether losses are foreseen from those of other models better than any permutation of them (p < 0.05)."""
    from msl.report.loss_process import Decisions, fit_process  # as above

    if len(losses) > _MOST_PERMUTED:
        some = np.sort(rng.choice(len(losses), _MOST_PERMUTED, replace=False))
        shares, active, losses = shares[some], active[some], losses[some]
    decisions = Decisions.of(space.levels, space.is_choice)
    points = decisions.points(shares, active)
    found = fit_process(decisions, points, losses, rng).foreseen
    return bool(np.ptp(losses) > 0) and all(
        fit_process(decisions, points, rng.permutation(losses), rng).foreseen < found for _ in range(_PERMUTATIONS)
    )


def surely_above(draws: Floats) -> Flags:
    """Whether the decision of a row matters more than that of a column."""
    return np.asarray((draws[:, :, None] > draws[:, None, :] + _MORE).mean(axis=0) >= _SURE)


def explained(good: Floats, shares: Floats, active: Flags, levels: Sequence[int | None]) -> Floats:
    """For each dimension the share of the variance of `good` that it explains where it is active.

    That is the Pearson divergence of its density among the good of these models from that among all of them, times the
    share of models that are active and the square of how often these are good, as a share of the whole variance. What
    the bins would explain by chance is taken off.
    """
    rate = float(good.mean())
    whole = rate * (1.0 - rate)
    found = np.zeros(shares.shape[1])
    if whole <= 0:
        return found
    for slot, level_count in enumerate(levels):
        here = active[:, slot]
        if here.sum() < 2 * _BINS:
            continue
        bins = level_count if level_count is not None and level_count <= 2 * _BINS else _BINS
        of = np.minimum((shares[here, slot] * bins).astype(np.intp), bins - 1)
        own = good[here]
        counts = np.bincount(of, minlength=bins).astype(np.float64)
        filled = counts > 1
        means = np.bincount(of, weights=own, minlength=bins)[filled] / counts[filled]
        weight = counts[filled] / counts[filled].sum()
        between = float((weight * (means - own.mean()) ** 2).sum())
        by_chance = float((weight * means * (1.0 - means) / (counts[filled] - 1.0)).sum())
        found[slot] = max(between - by_chance, 0.0) * float(here.mean()) / whole
    return found


def _units(meanings: Sequence[Meaning]) -> list[tuple[str, str, list[int]]]:
    """Dimensions with one meaning together, such as those of a vector, with a name and a domain."""
    found: dict[tuple[str, str, str], list[int]] = {}
    for slot, meaning in enumerate(meanings):
        found.setdefault((meaning.path, meaning.alternative, meaning.range), []).append(slot)
    paths = [path for path, _, _ in found]
    units = []
    for (path, alternative, domain), slots in found.items():
        label = path if paths.count(path) == 1 or not alternative else f"{path} ({alternative})"
        units.append((label, domain, slots))
    return units


def level_names(meaning: Meaning) -> list[str] | None:
    """The names of the levels of a choice, in their order; None for a number."""
    if meaning.kind == "bool":
        return ["false", "true"]
    return list(meaning.options) if len(meaning.options) == meaning.levels else None


def _where_good(meaning: Meaning, shares: Floats) -> str:
    """Where the good models lie: the most frequent alternatives, or the middle half of a number."""
    if not len(shares):
        return "none of the good models has it"
    if names := level_names(meaning):
        levels = np.minimum((shares * len(names)).astype(np.intp), len(names) - 1)
        counts = np.bincount(levels, minlength=len(names))
        first = int(counts.argmax())
        return f"{names[first]} in {100 * counts[first] / len(shares):.0f} % of the good"
    if meaning.ends is None or meaning.kind not in ("int", "real"):
        return ""
    return "mostly {} to {}".format(*(value_at(meaning, float(one)) for one in np.percentile(shares, [25, 75])))


def value_at(meaning: Meaning, share: float) -> str:
    """The value of a number at a share of its range."""
    assert meaning.ends is not None
    low, high = meaning.ends
    value = low + share * (high - low)
    value = 10.0**value if meaning.scale == "log" else value
    return f"{value:.0f}" if meaning.kind == "int" else f"{value:.3g}"


def importance_records(found: Iterable[Importance]) -> list[dict[str, Any]]:
    return [one.to_record() for one in found]
