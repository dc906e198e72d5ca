"""The default search: divides its evaluations between random points, a surrogate, a swarm and pattern search, by what
each of these arms gains. With a resource, new points are tried on a small share of it first.
"""

from __future__ import annotations

from dataclasses import replace
from math import isfinite, isqrt
from typing import Literal, Protocol

import numpy as np

from msl.search.base import Event, Observation, Query, SearchSpace, Vector, Vectors, ended
from msl.search.operators.initialise import UnseenPoints, points_for_rare, uniform_points
from msl.search.operators.pareto import by_rank
from msl.search.operators.surrogate import best_by_acquisition
from msl.search.operators.swarm import Bests, VelocityRule, scattered, written_back
from msl.search.strategies.cmdpso import cmdpso
from msl.search.strategies.halving import largest_round, rungs, survivors
from msl.search.strategy_context import Incumbent, Setting, Strategy

#: The shares of the evaluations for a random start, and for the pattern at the end.
_START, _FINISH = 0.2, 0.3
#: More random points do not help the other arms.
_LONGEST_START = 20
#: More evaluations than any budget has, for `evaluations = none`.
_NO_END = 100_000_000
#: The smallest share of each arm; the rest is divided by gains.
_LEAST = {"random": 0.05, "forest": 0.4, "swarm": 0.1, "pattern": 0.1}
#: How much of an arm's gains still counts one batch later.
_MEMORY = 0.7
#: The smallest share of a resource, and how many points are tried on it for each that goes on.
_SMALLEST_SHARE, _TRIED_FOR_ONE = 1 / 9, 3
#: The arms that propose new points anywhere. The others go small steps, whose gains are smaller than what the losses on
#: a share of the resource differ by.
_SCREENED = ("random", "forest")


def auto(setting: Setting) -> Strategy:
    """Each learner at its defaults and random models, then the arm furthest below its share; at the end pattern search.

    What earlier stages have evaluated is not proposed again, and all arms begin with it. With several objectives it
    runs `cmdpso`, with about as many particles as iterations. With `resource` the start is a round of successive
    halving, and of new points elsewhere those go on that are the best on a small share. Losses on different shares are
    never compared.
    """
    given = setting.options["evaluations"]
    total = left = _NO_END if given is None else int(given)
    less = _resource(setting.options.get("resource"))
    if setting.objectives > 1:
        yield from cmdpso(replace(setting, options=_swarm_options(total)))
        return
    known = list({one.vector.tobytes(): one for one in setting.known if one.is_exact}.values())
    unseen = UnseenPoints(setting.search_space, setting.known, setting.search_space.most_cost)
    width = WIDTH if less is None else WIDTH * _TRIED_FOR_ONE
    random = RandomArm(setting, unseen, width)
    best = Incumbent(1)
    best.update(known)

    size = min(left, max(2 * WIDTH, round(_START * total)), _LONGEST_START)
    if less is not None:
        size = _round_size(size, left)
    first = list(unseen.of([*setting.seeds(size), *setting.search_space.references[: max(1, size // 2)]]))[:size]
    first += random.points(size - len(first))
    first = _with_every_alternative(setting, unseen, first, [one.vector for one in known])
    if not first:
        setting.note(ended("draws give no model"))
        return
    if less is not None and len(first) > 2 * WIDTH:
        for share in rungs(_SMALLEST_SHARE, _TRIED_FOR_ONE, left)[:-1]:
            tried = yield [Query(point, share=share, less=less) for point in first]
            left -= len(tried)
            first = survivors(tried, _TRIED_FOR_ONE) or first[:WIDTH]
    observations = yield [Query(point) for point in first[:left]]
    left -= len(observations)
    best.update(observations)
    seen = [*known, *observations]
    setting.note(_event("start", observations, best, {}, ()))

    ranked = by_rank(seen)
    swarm = SwarmArm(setting, ranked[:WIDTH])
    arms: dict[str, Arm] = {
        "random": random,
        "swarm": swarm,
        "pattern": PatternArm(setting, unseen),
        "forest": ForestArm(setting, unseen, seen, width),
    }
    shares = Shares()
    while left > 0:
        centre = best.chosen[0] if best.chosen else ranked[0]
        for name in shares.order(is_finish=left <= _FINISH * total):
            queries = arms[name].queries(centre)[:left]
            if queries:
                break
        else:
            setting.note(ended("no arm knows a new model"))
            return
        cost = 0.0
        if less is not None and name in _SCREENED and left > WIDTH:
            tried = yield [replace(each, share=_SMALLEST_SHARE, less=less) for each in queries[: left - WIDTH]]
            left -= len(tried)
            cost = _SMALLEST_SHARE * len(tried)
            queries = [Query(point) for point in survivors(tried, _TRIED_FOR_ONE)]
        observations = (yield queries) if queries else []
        left -= len(observations)
        before = best.loss
        best.update(observations)
        arms[name].learn(observations)
        seen.extend(observations)
        shares.add(name, cost + len(observations), gain=before - best.loss)
        setting.note(_event(name, observations, best, shares.now(), swarm.bests))


def _resource(option: object) -> Literal["rows", "fidelity"] | None:
    """What the share of a query is of; None without shares."""
    if option is None:
        return None
    return "rows" if option == "rows" else "fidelity"


def _round_size(size: int, left: int) -> int:
    """How many points a start by halving begins with: it costs about as much as a start of this size, and has half of
    the evaluations at most.
    """
    shares = rungs(_SMALLEST_SHARE, _TRIED_FOR_ONE, left)
    return max(min(size * len(shares), largest_round(max(left // 2, 1), len(shares), _TRIED_FOR_ONE)), min(size, left))


def _with_every_alternative(
    setting: Setting, unseen: UnseenPoints, first: list[Vector], known: list[Vector]
) -> list[Vector]:
    """If no point has some alternative of a step, the last points are replaced by models that have it."""
    most = len(first) // 2
    for room in range(most + 1):
        kept = first[: len(first) - room]
        rare = points_for_rare(setting.search_space, [*known, *kept], 1, setting.rng.spawn(1)[0], room + 1)
        if len(rare) <= room or room == most:
            unseen.forget(first[len(kept) :])
            return [*kept, *unseen.of(rare[:room])]
    return first


def _swarm_options(evaluations: int) -> dict[str, object]:
    swarm = min(max(isqrt(evaluations), 2), 30)
    return {
        "swarm": swarm,
        "iterations": max(evaluations // swarm - 1, 0),
        "inertia": 0.7298,
        "c1": 1.49618,
        "c2": 1.49618,
        "vmax": 6.0,
        "threshold": 0.6,
        "mutation": "auto",
        "epsilon": 0.001,
        "encoding": "continuous",
    }


def _event(
    arm: str,
    observations: list[Observation],
    best: Incumbent,
    shares: dict[str, float],
    particles: tuple[Observation, ...],
) -> Event:
    figures = {"arm": arm, "losses": [one.loss for one in observations], "best": best.loss, "shares": shares}
    return Event("arm", figures, best.chosen, particles)


class Shares:
    """The evaluations and gains of each arm, and the share of the evaluations that follows from them."""

    def __init__(self) -> None:
        self._had = dict.fromkeys(_LEAST, 0.0)
        self._gained = dict.fromkeys(_LEAST, 0.0)

    def add(self, name: str, evaluations: float, gain: float) -> None:
        """Adds a batch; the first model that does not fail is an infinite gain, and counts as none."""
        self._had[name] += evaluations
        self._gained[name] = _MEMORY * self._gained[name] + (gain / evaluations if isfinite(gain) else 0.0)

    def now(self) -> dict[str, float]:
        """The smallest share of each arm, plus the rest in proportion to the gains, or evenly without any."""
        total, rest = sum(self._gained.values()), 1.0 - sum(_LEAST.values())
        return {
            name: least + rest * (self._gained[name] / total if total else 1 / len(_LEAST))
            for name, least in _LEAST.items()
        }

    def order(self, is_finish: bool) -> list[str]:
        """The arms that are furthest below their share first; at the finish, pattern search."""
        shares = self.now()
        order = sorted(_LEAST, key=lambda name: self._had[name] / shares[name])
        return sorted(order, key=lambda name: name != "pattern") if is_finish else order


# --- arms ---
#
# All arms know the best point of all. None uses a cutoff: the surrogate learns from every loss.


#: Queries of an arm in a batch.
WIDTH = 5
#: The constants of Clerc and Kennedy (2002), with which a swarm converges.
_INERTIA, _PULL = 0.7298, 1.49618
#: Pattern search starts again with large steps below this step size.
_SMALLEST_STEP = 0.01
#: How many changes pattern search tries to find new models before the other arms have their turn.
_LOOKED_AT = 64


class Arm(Protocol):
    """Proposes queries and learns from their observations; no queries if it finds no new models."""

    def queries(self, centre: Observation) -> list[Query]: ...
    def learn(self, observations: list[Observation]) -> None: ...


class RandomArm:
    """New models at uniform points."""

    def __init__(self, setting: Setting, unseen: UnseenPoints, width: int = WIDTH) -> None:
        self._setting, self._unseen, self._width = setting, unseen, width

    def queries(self, centre: Observation) -> list[Query]:
        return [Query(point) for point in self.points(self._width)]

    def points(self, size: int) -> list[Vector]:
        return self._unseen.draws(
            lambda more: uniform_points(self._setting.search_space, more, self._setting.rng),
            size,
            otherwise=lambda more: self._setting.rng.random((more, self._setting.search_space.n_dimensions)),
        )

    def learn(self, observations: list[Observation]) -> None:
        pass


class SwarmArm:
    """Particles that follow the best point of all arms, reflected at walls; idle ones are scattered."""

    def __init__(self, setting: Setting, first: list[Observation]) -> None:
        self._search_space: SearchSpace = setting.search_space
        self._rule = VelocityRule(_PULL, _PULL, None, setting.rng, "reflect")
        self._x: Vectors = written_back(first)
        self._v = np.zeros_like(self._x)
        self._bests = Bests(self._x, first)

    @property
    def bests(self) -> tuple[Observation, ...]:
        """Each particle's best point."""
        return tuple(self._bests.observations)

    def queries(self, centre: Observation) -> list[Query]:
        leaders = np.broadcast_to(centre.vector, self._x.shape)
        v = self._rule.velocity(_INERTIA, self._v, self._x, self._bests.positions, leaders)
        x, v = self._rule.moved(self._x, v)
        x, self._v = scattered(self._search_space, self._x, x, v, self._rule.rng)
        if self._search_space.most_cost < np.inf:
            is_costly = [self._search_space.cost(point) > self._search_space.most_cost for point in x]
            x[is_costly] = self._x[is_costly]
        return [Query(point) for point in x]

    def learn(self, observations: list[Observation]) -> None:
        """If the evaluations end within an iteration, only the first particles have moved."""
        x = written_back(observations)
        self._bests.update(x, observations)
        self._x[: len(x)] = x


class ForestArm:
    """The new models with the highest expected improvement, by a surrogate fitted to the observations of all arms."""

    def __init__(self, setting: Setting, unseen: UnseenPoints, seen: list[Observation], width: int = WIDTH) -> None:
        self._setting, self._unseen, self._seen, self._width = setting, unseen, seen, width

    def queries(self, centre: Observation) -> list[Query]:
        ranked = by_rank(self._seen)
        return [Query(point) for point in best_by_acquisition(self._setting, self._unseen, ranked, self._width)]

    def learn(self, observations: list[Observation]) -> None:
        pass


class PatternArm:
    """Changes of one dimension of the best point in random order, half as large after each sweep."""

    def __init__(self, setting: Setting, unseen: UnseenPoints) -> None:
        self._search_space, self._rng, self._unseen = setting.search_space, setting.rng, unseen
        self._step = 1.0
        self._moves: list[tuple[int, float]] = []

    def queries(self, centre: Observation) -> list[Query]:
        points: list[Vector] = []
        for _ in range(_LOOKED_AT):
            if not self._moves:
                self._begin_sweep(centre.vector)
            if not self._moves:  # the space is a single model
                break
            points.extend(self._unseen.of([self._changed(centre.vector, *self._moves.pop())]))
            if len(points) == WIDTH:
                break
        return [Query(point) for point in points]

    def learn(self, observations: list[Observation]) -> None:
        pass

    def _begin_sweep(self, centre: Vector) -> None:
        """For numbers a step up and one down, half as large as in the last sweep; for alternatives every value."""
        self._step = self._step / 2 if self._step > _SMALLEST_STEP else 0.5
        moves: list[tuple[int, float]] = []
        for dimension, is_number in enumerate(self._search_space.ordered):
            to = (self._step, -self._step) if is_number else self._search_space.values(dimension, centre, WIDTH)
            moves.extend((dimension, float(move)) for move in to)
        self._moves = [moves[place] for place in self._rng.permutation(len(moves))]

    def _changed(self, centre: Vector, dimension: int, move: float) -> Vector:
        changed = centre.copy()
        changed[dimension] = (
            min(max(centre[dimension] + move, 0.0), 1.0) if self._search_space.ordered[dimension] else move
        )
        return changed
