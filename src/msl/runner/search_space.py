"""Turn a space of models into a search space: dimensions, groups and channels, and the models of points."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np

from msl.encode.codec import Codec, space_to_codec
from msl.encode.layout import Dimension, Encoding
from msl.encode.sample import enumerate_models, sample
from msl.evaluate.dataset import Dataset
from msl.evaluate.resampling import ResamplingPlan
from msl.search.base import Flags, SearchSpace, Vector, Vectors
from msl.space.best import MOST_TRIED, Domains, largest_model, worded_models
from msl.space.defaults import closed, leading_to, learners_in
from msl.space.enumerate.count import count
from msl.space.evaluate_conditions import UNDEFINED, occurrences, parameter
from msl.space.fit_costs import Size, declared_seconds, path_of
from msl.space.formulas import Facts
from msl.space.membership import NotInSpace
from msl.space.nodes import BlockUse, Node, bottom_up
from msl.space.resolve import resolve
from msl.space.spec import Budget, Estimate, Space
from msl.space.to_text import value_to_text
from msl.space.values import BlockValue, Model

_STRUCTURE = ("choice", "subset", "order", "arrangement", "count", "unit")
_ORDERED = ("ordered", "count", "int", "real", "place", "bool", "unit")
_MOST_CACHED = 10_000


#: More columns of 0 and 1 hardly cost more, since they are nearly always 0.
_MOST_WIDE = 100
#: What trying the values of a `best` parameter takes on a path, in evaluations of the largest value.
_OF_PATH = 1.5
#: The share of a run's time that one evaluation may take, as declared; in any case so many times the cheapest learner.
_SHARE_OF_TIME, _TIMES_THE_CHEAPEST = 0.2, 4.0


@dataclass(frozen=True, slots=True)
class EvaluationCosts:
    """What evaluations take by the declarations of their learners: so many fits of this size; `most` is the seconds of
    one from which on `auto` and `halving` do not propose it."""

    size: Size
    fits: int
    task: str
    most: float = math.inf

    @classmethod
    def of(cls, dataset: Dataset, estimate: Estimate, budget: Budget, seed: int) -> EvaluationCosts | None:
        """None for an estimate that this table cannot give."""
        rows, columns = len(dataset.y), dataset.columns
        fitted, predicted, fits = rows, rows, 1
        if estimate.held_out in ("one", "folds"):  # each row left out once has its shortcuts
            try:
                splits = ResamplingPlan(dataset, [estimate], seed).resampling(estimate, 0, 1.0, 0).splits
            except ValueError:
                return None
            fitted, predicted, fits = len(splits[0].train), len(splits[0].test), len(splits)
        many = (min(len(columns.symbols[place]), _MOST_WIDE) for place in columns.symbolic if columns.symbols)
        wide = columns.n_columns - len(columns.symbolic) + sum(many)
        size = Size(fitted, predicted, columns.n_columns, wide, dataset.n_classes if dataset.n_classes > 2 else 1)
        limits = [budget.each, None if budget.time is None else _SHARE_OF_TIME * budget.time]
        return cls(size, fits, dataset.task, min((each for each in limits if each is not None), default=math.inf))

    def seconds(self, model: Model, share: float = 1.0) -> float:
        """Those of an evaluation, on a share of the rows."""
        rows, predicted = max(1, round(share * self.size.rows)), max(1, round(share * self.size.predicted))
        return self.fits * declared_seconds(model, replace(self.size, rows=rows, predicted=predicted))


@dataclass(frozen=True, eq=False)
class ModelSearchSpace(SearchSpace):
    """The search space of a space of models; create it with `space_to_search_space`."""

    codec: Codec
    #: What the words in place of `best` parameters stand for.
    domains: Domains = field(default_factory=dict)
    #: The space itself, if there is one.
    root: Node | None = None
    costs: EvaluationCosts | None = None

    @cached_property
    def references(self) -> Sequence[Vector]:
        return (self.start,) if self.root is None else _references(self.codec, self.root)

    @cached_property
    def _decoded(self) -> dict[bytes, Model | None]:
        return {}

    def decode(self, vector: Vector) -> Hashable | None:
        key = np.ascontiguousarray(vector, dtype=np.float64).tobytes()
        if key not in self._decoded:
            if len(self._decoded) >= _MOST_CACHED:
                self._decoded.clear()
            found = self.codec.decode(vector[None, :])[0]
            self._decoded[key] = found if isinstance(found, Model) else None
        return self._decoded[key]

    def encode(self, model: Hashable) -> Vector | None:
        if not isinstance(model, Model):
            return None
        for worded in worded_models(model, self.domains) if self.domains else (model,):
            with suppress(NotInSpace):
                return self.codec.encode(worded)
        return None

    def cost(self, vector: Vector) -> float:
        model = self.decode(vector)
        if self.costs is None or not isinstance(model, Model):
            return 0.0
        if not self.domains:
            return self.costs.seconds(model)
        largest = largest_model(model, self.domains)
        if largest == model:
            return self.costs.seconds(model)
        return self.costs.seconds(largest) * (_OF_PATH if path_of(largest, self.costs.task) else MOST_TRIED / 2)

    @cached_property
    def most_cost(self) -> float:
        """Never so little that the learners of the space could not be tried."""
        if self.costs is None or math.isinf(self.costs.most):
            return math.inf
        cheapest = min((self.cost(point) for point in self.references), default=0.0)
        return max(self.costs.most, _TIMES_THE_CHEAPEST * cheapest)

    def ends_here(self, vector: Vector) -> tuple[Vector, Vector]:
        lows, highs = self.lows.copy(), self.highs.copy()
        for dimension, reader in self.codec.readers(vector).items():
            if reader.meaning.ends is not None:
                lows[dimension], highs[dimension] = reader.meaning.ends
        return lows, highs

    def values(self, dimension: int, vector: Vector, steps: int) -> Vector:
        """The positions of the values of a dimension in the model of a point; its own if it has no effect there."""
        reader = self.codec.readers(vector).get(dimension)
        if reader is None:
            return np.array([vector[dimension]])
        levels = reader.meaning.levels
        return np.linspace(0.0, 1.0, steps) if levels is None else (np.arange(levels) + 0.5) / levels

    def dimensions_here(self, channel: str, vector: Vector) -> tuple[int, ...]:
        meanings = self.codec.meanings(vector)
        return tuple(
            dimension
            for dimension in self.channels[channel]
            if (meaning := meanings[dimension]) is not None and channel in (meaning.path, *meaning.names)
        )

    @property
    def is_steered(self) -> bool:
        return self.codec.is_steered

    def steered(self, points: Vectors, fresh: Flags | None = None) -> Vectors:
        if not self.codec.is_steered:
            return points
        flat = points.reshape(-1, self.n_dimensions)
        mask = None if fresh is None else fresh.reshape(flat.shape)
        return self.codec.steered(flat, mask).reshape(points.shape)

    def draw(self, rng: np.random.Generator, size: int) -> Vectors:
        return np.array(sample(self.codec, size, rng, by="models").snapped)

    def walk(self, steps: int) -> Iterator[Vector]:
        return (self.codec.encode(model) for model in enumerate_models(self.codec, steps=steps))

    def describe(self, vector: Vector, dimensions: Sequence[int]) -> str:
        model = self.decode(vector)
        if not isinstance(model, Model):
            return "no model"
        meanings = self.codec.meanings(vector)
        paths = dict.fromkeys(meaning.path for dimension in dimensions if (meaning := meanings[dimension]) is not None)
        return ", ".join(_described(model, path) for path in paths)


def space_to_search_space(
    space: Space,
    encoding: Encoding = "shared",
    channels: Sequence[str] | None = None,
    domains: Domains = MappingProxyType({}),
    costs: EvaluationCosts | None = None,
) -> ModelSearchSpace:
    """The search space of a resolved space. Its channels are the given ones, or one per part and open parameter.

    `domains` are those of `best` parameters, in whose place the space has words.
    """
    codec = space_to_codec(space, encoding)
    dimensions = codec.dimensions
    size = count(space)
    ends = [_ends(dimension) for dimension in dimensions]
    return ModelSearchSpace(
        levels=np.array([dimension.levels or 0 for dimension in dimensions], dtype=np.int64),
        lows=np.array([min(low for low, _ in found) for found in ends], dtype=np.float64),
        highs=np.array([max(high for _, high in found) for found in ends], dtype=np.float64),
        varied=np.array([len(found) > 1 for found in ends], dtype=np.bool_),
        ordered=np.array([dimension.kind in _ORDERED for dimension in dimensions], dtype=np.bool_),
        groups=_groups(dimensions),
        heads=np.array([_is_head(dimension, _parameters(space.root)) for dimension in dimensions], dtype=np.bool_),
        absent=np.array([_absent(dimension) for dimension in dimensions], dtype=np.int64),
        optional=np.array([_is_optional(dimension) for dimension in dimensions], dtype=np.bool_),
        families=np.array([_family(dimension) for dimension in dimensions], dtype=np.int64),
        labels=tuple(dimension.meanings[0].path for dimension in dimensions),
        channels=_channels(codec, channels),
        start=_reference(codec, closed(space.root)),
        size=size.models if size.exact else None,
        codec=codec,
        domains=domains,
        root=space.root,
        costs=costs,
    )


def start_vector(search_space: ModelSearchSpace, start: Node | None, facts: Facts) -> Vector | None:
    """The point of the model that a spec starts from, resolved for the table."""
    if start is None:
        return None
    from msl.check.strategies import closed_steps

    resolved, _ = resolve(Space(start), facts)
    try:
        found = search_space.encode(Model(closed_steps(resolved.root)))
    except TypeError:
        found = None
    return np.full(search_space.n_dimensions, 0.5) if found is None else found


def _reference(codec: Codec, node: Node) -> Vector:
    """The point of a closed node; if it is not in the space, the middle of the cube."""
    from msl.check.strategies import closed_steps

    middle = np.full(codec.n_dimensions, 0.5)
    try:
        return codec.encode(Model(closed_steps(node)))
    except (NotInSpace, TypeError):
        return middle


def _references(codec: Codec, root: Node) -> list[Vector]:
    """The point of each learner with its defaults and the first alternative of all other steps, each model once."""
    points = [_reference(codec, closed(leading_to(learner, root))) for learner in learners_in(root)]
    return list({point.tobytes(): point for point in points}.values())


def _ends(dimension: Dimension) -> set[tuple[float, float]]:
    """The different ranges that a dimension has, in native units."""
    return {meaning.ends for meaning in dimension.meanings if meaning.ends is not None}


def _is_head(dimension: Dimension, parameters: set[tuple[str, str]]) -> bool:
    """Whether a dimension decides which steps there are; an alternative of a parameter does not."""
    names = dimension.meanings[0].path.split(".")
    return dimension.kind in _STRUCTURE and (len(names) < 2 or (names[-2], names[-1]) not in parameters)


def _parameters(root: Node) -> set[tuple[str, str]]:
    return {(node.block.name, p.name) for node in bottom_up(root) if isinstance(node, BlockUse) for p in node.params}


def _groups(dimensions: tuple[Dimension, ...]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The number of the step of each dimension; each unit of a network is a group."""
    numbers: dict[tuple[int, int | None], int] = {}
    found = [
        numbers.setdefault((dimension.group, dimension.meanings[0].unit), len(numbers)) for dimension in dimensions
    ]
    return np.array(found, dtype=np.int64)


def _absent(dimension: Dimension) -> int:
    """The value of a dimension that means "not present": a unit that is off, an empty subset, no repetition."""
    meaning = dimension.meanings[0]
    if len(dimension.meanings) > 1:
        return -1
    if dimension.kind in ("unit", "subset"):
        return 0
    if dimension.kind == "count":
        return 0 if meaning.range.startswith("0..") else -1
    if dimension.kind == "choice" and meaning.levels is not None:
        if _is_optional(dimension):
            return meaning.levels - 1
        options = [option.partition(" weight ")[0] for option in meaning.range.split(" | ")]
        if "none" in options and len(options) == meaning.levels:
            return options.index("none")
    return -1


def _is_optional(dimension: Dimension) -> bool:
    return dimension.kind == "choice" and len(dimension.meanings) == 1 and dimension.meanings[0].range.endswith("?")


def _family(dimension: Dimension) -> int:
    """The units of one network, of which at least one stays on; -1 for other dimensions."""
    return dimension.group if dimension.kind == "unit" else -1


def _channels(codec: Codec, wanted: Sequence[str] | None) -> Mapping[str, tuple[int, ...]]:
    if wanted is not None:
        return {name: codec.layout.dimensions_of(name) for name in wanted}
    found: dict[str, list[int]] = {}
    for dimension in codec.dimensions:
        for meaning in dimension.meanings:
            found.setdefault(meaning.path, [])
            if dimension.index not in found[meaning.path]:
                found[meaning.path].append(dimension.index)
    return {name: tuple(dimensions) for name, dimensions in found.items()}


def _described(model: Model, path: str) -> str:
    """`path = value`, where the path ends with a block and its parameter."""
    names = path.split(".")
    for found in occurrences(model.steps):
        if len(names) >= 2 and found.block.name == names[-2]:
            value = parameter(found.params, names[-1])
            if value is not UNDEFINED:
                shown = value.block.name if isinstance(value, BlockValue) else value_to_text(value)  # type: ignore[arg-type]
                return f"{names[-1]} = {shown}"
    return path
