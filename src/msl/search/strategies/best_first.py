"""Best-first search over channels: at each level the channel that gains most is opened (Duch and Grudzinski, 2001)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, product
from math import isinf

import numpy as np

from msl.search.base import Channel, Event, Observation, Query, Vector, best_of, channels_of, ended, worse_than
from msl.search.strategies.random import BATCH
from msl.search.strategy_context import Inner, Setting, Strategy, interleave

#: Two gains that differ by less are equal: losses are shares of rows, and their differences are not exact.
_SLACK = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """A model to improve, and the channels that were opened on the way to it."""

    here: Observation
    opened: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Extension:
    """The result of optimising one channel of a reference."""

    reference: Reference
    channel: Channel
    found: Observation

    @property
    def gain(self) -> float:
        if self.found is self.reference.here or isinf(self.found.loss):
            return 0.0
        return self.reference.here.loss - self.found.loss

    def is_worth(self, gain: float) -> bool:
        return self.found is not self.reference.here and self.gain >= gain - _SLACK

    @property
    def next(self) -> Reference:
        return Reference(self.found, (*self.reference.opened, self.channel.name))


def best_first(setting: Setting) -> Strategy:
    """Each level optimises every unopened channel of the reference, the rest fixed, and opens the one that gains most.

    On equal gains the simpler model wins. It ends when no channel gains `gain`, or after `levels`. With `beam = n` the
    n best extensions of a level are the references of the next.
    """
    options, search_space = setting.options, setting.search_space
    gain, beam, most = float(options["gain"]), int(options["beam"]), options["levels"]
    channels = channels_of(search_space, round(1 / options["step"]) + 1, int(options["patience"]))

    (start,) = yield [Query(next(iter(setting.seeds(1)), search_space.start))]
    references = [Reference(start)]
    best = start
    setting.note(_start_event(start))
    level = 0

    while level != most:
        level += 1
        tries = [
            (one, here)
            for one in references
            for channel in channels
            if channel.name not in one.opened and (here := channel.here(one.here.vector)) is not None
        ]
        if not tries:
            setting.note(ended("all channels are open"))
            return
        found = yield from interleave([optimise(channel, one.here, options["inner"]) for one, channel in tries])
        extensions = [Extension(one, channel, new) for (one, channel), new in zip(tries, found, strict=True)]
        worthy = [one for one in extensions if one.is_worth(gain)]
        kept = _different(sorted(worthy, key=lambda one: (one.found.loss, one.found.complexity)))[:beam]
        if kept:
            best = min(best, kept[0].found, key=lambda one: (one.loss, one.complexity))
        setting.note(_level_event(level, extensions, kept, best))
        if not kept:
            setting.note(ended(f"no channel gains {gain:g}" if gain else "no channel gains anything"))
            return
        references = [one.next for one in kept]
    setting.note(ended(f"{most} levels are done"))


def _different(extensions: list[Extension]) -> list[Extension]:
    """Without repetitions of the same model by the same channels."""
    first: dict[tuple[object, frozenset[str]], Extension] = {}
    for one in extensions:
        model = one.channel.search_space.decode(one.found.vector)
        first.setdefault((model, frozenset(one.next.opened)), one)
    return list(first.values())


def _start_event(start: Observation) -> Event:
    chosen = (start,) if start.is_finite else ()
    return Event("level", {"level": 0, "rows": [], "best": start.loss}, chosen, stands=True)


def _level_event(level: int, extensions: list[Extension], kept: list[Extension], best: Observation) -> Event:
    """A row for each channel, as in the tables of the paper."""
    rows = [
        {
            "reference": one.reference.opened,
            "channel": one.channel.name,
            "loss": one.found.loss,
            "gain": one.gain,
            "complexity": one.found.complexity,
            "values": one.channel.search_space.describe(one.found.vector, one.channel.dimensions),
            "opened": one in kept,
        }
        for one in extensions
    ]
    figures = {"level": level, "rows": rows, "best": best.loss}
    return Event("level", figures, (best,) if best.is_finite else (), tuple(one.found for one in kept), stands=True)


# --- inner searches, which optimise the dimensions of one channel while the others are fixed ---
#
# The channels of the papers are a value or an alternative to choose (all values are tried), features to select
# (switched on or off one after the other), and weights (moved on a grid, or by the simplex method).


#: Up to this many combinations are all tried; beyond, a channel is searched dimension by dimension.
_FEW = 64
#: The most queries of one step in a batch.
_AT_ONCE = 256

Optimiser = Callable[[Channel, Observation], Inner]


def exhaustive(channel: Channel, here: Observation) -> Inner:
    """Every combination of values."""
    axes = [channel.values(dimension, here.vector) for dimension in channel.dimensions]
    combinations = (channel.put(here.vector, channel.dimensions, point) for point in product(*axes))
    return best_among(channel, here, combinations)


def coordinate(channel: Channel, here: Observation) -> Inner:
    """Every value of one dimension after the other, until a round changes nothing."""
    while True:
        before = here
        for dimension in channel.dimensions:
            here = yield from best_among(channel, here, channel.changes(here.vector, (dimension,)))
        if here is before:
            return here


def climb(channel: Channel, here: Observation) -> Inner:
    """The best change of one dimension to any of its values, until none improves."""
    while True:
        before = here
        here = yield from best_among(channel, here, channel.changes(here.vector, channel.dimensions))
        if here is before:
            return here


def forward(channel: Channel, here: Observation) -> Inner:
    """Forward selection: from nothing, switches on one dimension after the other; the present point may win."""
    nothing = channel.put(
        here.vector, channel.dimensions, [channel.off(dimension, here.vector) for dimension in channel.dimensions]
    )
    return _path(
        channel, here, nothing, {dimension: channel.on(dimension, nothing) for dimension in channel.dimensions}
    )


def backward(channel: Channel, here: Observation) -> Inner:
    """Backward elimination: from the present point, switches off one dimension after the other."""
    return _path(
        channel, here, here.vector, {dimension: channel.off(dimension, here.vector) for dimension in channel.dimensions}
    )


def quantised(channel: Channel, here: Observation) -> Inner:
    """Climbs from the present point and from the results of forward and backward selection; returns the best."""
    selected = yield from interleave([forward(channel, here), backward(channel, here)])
    starts = {id(one): one for one in (here, *selected)}.values()
    ends = yield from interleave([climb(channel, start) for start in starts])
    return _best(here, ends)


def downhill(channel: Channel, here: Observation) -> Inner:
    """The simplex method of Nelder and Mead."""
    return simplex(here, channel.dimensions)


_OPTIMISERS: dict[str, Optimiser] = {
    "exhaustive": exhaustive,
    "coordinate": coordinate,
    "quantised": quantised,
    "forward": forward,
    "backward": backward,
    "simplex": downhill,
}
#: These need ordered or binary dimensions.
_FOR_NUMBERS = ("forward", "backward", "quantised", "simplex")


def optimise(channel: Channel, here: Observation, inner: str) -> Inner:
    """The given inner search if it can handle the dimensions, else the one that suits them best."""
    if inner in _OPTIMISERS and (channel.is_numbers or inner not in _FOR_NUMBERS):
        return _OPTIMISERS[inner](channel, here)
    if channel.combinations(here.vector) <= _FEW:
        return exhaustive(channel, here)
    return quantised(channel, here) if channel.is_numbers else coordinate(channel, here)


def best_among(channel: Channel, here: Observation, points: Iterable[Vector]) -> Inner:
    """The best of some points if it is better than this one, or as good and simpler."""
    best = here
    others = channel.other_models(here.vector, points)
    while batch := list(islice(others, BATCH)):
        observations = yield [Query(point, cutoff=worse_than(best.loss)) for point in batch]
        best = _best(here, [best, *observations])
    return best


def _path(channel: Channel, here: Observation, start: Vector, targets: dict[int, float]) -> Inner:
    """Moves one dimension after the other to its target, each time the best one, even if the loss gets worse.

    Ends after more than `patience` steps in a row without improvement, with the best point on the path or the present
    one. Worse steps are compared with each other, so there is no cutoff.
    """
    at, best, failed = start, None, 0
    left = [dimension for dimension, target in targets.items() if at[dimension] != target]
    while left and failed <= channel.patience:
        step: Observation | None = None
        for some in (left[first : first + _AT_ONCE] for first in range(0, len(left), _AT_ONCE)):
            observations = yield [Query(channel.put(at, (dimension,), (targets[dimension],))) for dimension in some]
            best_here = best_of(observations if step is None else [step, *observations])
            if best_here is not step and best_here is not None:
                step, taken = best_here, some[observations.index(best_here)]
        if step is None:
            break
        left.remove(taken)
        at = step.vector
        is_better = best is None or (step.loss, step.complexity) < (best.loss, best.complexity)
        best, failed = (step, 0) if is_better else (best, failed + 1)
    return here if best is None else _best(here, [best])


def _best(here: Observation, others: Iterable[Observation]) -> Observation:
    """The best of these and of this one; of equals the simplest, then the nearest."""
    candidates = [here, *(one for one in others if one.is_exact)]
    return min(candidates, key=lambda one: (one.loss, one.complexity, float(np.abs(one.vector - here.vector).sum())))


# --- the simplex method of Nelder and Mead (1965) on some dimensions, with the coefficients 1, 2, ½, ½ ---

# The simplex moves on the reals, also where a dimension has a step: an evaluation rounds a corner to a model, but the
# corner stays where it was. Otherwise the corners would soon round to the same model and the search would end.

_FIRST_STEP = 0.25
_SMALLEST = 1e-3  # a smaller simplex makes no difference to the losses of models
_EVALUATIONS = 200  # per dimension


@dataclass(frozen=True, slots=True, eq=False)
class _Corner:
    """A corner of the simplex, and the observation of the model that it was rounded to."""

    place: Vector
    found: Observation

    def is_below(self, other: _Corner) -> bool:
        return not self.found.bound and self.found.loss < other.found.loss


def simplex(here: Observation, dimensions: Sequence[int]) -> Inner:
    """Returns the best corner, or the given point; corners stay inside the cube."""
    columns = list(dimensions)

    def query(place: Vector, cutoff: float | None = None) -> Query:
        vector = here.vector.copy()
        vector[columns] = place
        return Query(vector, cutoff=cutoff)

    def inside(place: Vector) -> Vector:
        return np.clip(place, 0.0, 1.0)

    start = here.vector[columns]
    places = _corners_around(start)
    observations = yield [query(place) for place in places]
    corners = [_Corner(start, here), *map(_Corner, places, observations)]
    left = _EVALUATIONS * len(columns) - len(places)
    best = here

    while left > 0:
        corners.sort(key=lambda one: one.found.loss)
        best = best_of([best, corners[0].found]) or here
        positions = np.array([one.place for one in corners])
        if np.abs(positions[1:] - positions[0]).max() < _SMALLEST:
            break
        worst = corners[-1]
        centre = positions[:-1].mean(axis=0)
        away = centre - worst.place

        place = inside(centre + away)
        (found,) = yield [query(place, worse_than(worst.found.loss))]
        reflected = _Corner(place, found)
        left -= 1
        if reflected.is_below(corners[0]):
            place = inside(centre + 2.0 * away)
            (found,) = yield [query(place, worse_than(reflected.found.loss))]
            expanded = _Corner(place, found)
            left -= 1
            corners[-1] = expanded if expanded.is_below(reflected) else reflected
            continue
        if reflected.is_below(corners[-2]):
            corners[-1] = reflected
            continue
        target = reflected if reflected.is_below(worst) else worst
        place = inside(centre + (0.5 * away if target is reflected else -0.5 * away))
        (found,) = yield [query(place, worse_than(target.found.loss))]
        contracted = _Corner(place, found)
        left -= 1
        if contracted.is_below(target):
            corners[-1] = contracted
            continue
        shrunk = [positions[0] + 0.5 * (position - positions[0]) for position in positions[1:]]
        observations = yield [query(place) for place in shrunk]
        corners = [corners[0], *map(_Corner, shrunk, observations)]
        left -= len(shrunk)
    return best_of([best, *(one.found for one in corners)]) or here


def _corners_around(start: Vector) -> list[Vector]:
    """A step along each axis, in the direction that stays in the cube."""
    steps = np.where(start + _FIRST_STEP <= 1.0, _FIRST_STEP, -_FIRST_STEP)
    return [start + step for step in np.diag(steps)]
