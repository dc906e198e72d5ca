"""Auto: shares its evaluations between random points, a forest, a swarm and a pattern, by what each gains."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite, isqrt
from typing import Protocol

import numpy as np

from msl.search.base import Event, Observation, Query, SearchSpace, Vector, Vectors, ended
from msl.search.operators.initialise import UnseenPoints, anywhere, points_for_rare
from msl.search.operators.pareto import by_rank
from msl.search.operators.surrogate import foreseen
from msl.search.operators.swarm import Bests, VelocityRule, scattered, written_back
from msl.search.setting import Incumbent, Setting, Strategy
from msl.search.strategies.cmdpso import cmdpso

#: The shares of the evaluations for a random start, and for the pattern at the end.
_START, _FINISH = 0.2, 0.3
#: More random points do not help the other arms.
_LONGEST_START = 20
#: The share that an arm gets however little it gains; the rest is divided by gains.
_LEAST = {"random": 0.05, "forest": 0.4, "swarm": 0.1, "pattern": 0.1}
#: How much of an arm's gains still counts one batch later.
_MEMORY = 0.7


def auto(setting: Setting) -> Strategy:
    """The reference model and random ones, then the arm that has had least of what its gains deserve, then the pattern.

    With several objectives it is `cmdpso`, with about as many particles as iterations.
    """
    total = left = int(setting.options["evaluations"])
    if setting.objectives > 1:
        yield from cmdpso(replace(setting, options=_swarm_options(total)))
        return
    fresh = UnseenPoints(setting.search_space)
    random = RandomArm(setting, fresh)
    best = Incumbent(1)

    size = min(left, max(2 * WIDTH, round(_START * total)), _LONGEST_START)
    first = list(fresh.of([*setting.seeds(size), setting.search_space.start]))[:size]
    first += random.points(size - len(first))
    first = _with_every_alternative(setting, fresh, first)
    if not first:
        setting.note(ended("draws give no model"))
        return
    told = yield [Query(point) for point in first]
    left -= len(told)
    best.update(told)
    seen = list(told)
    setting.note(_event("start", told, best, {}, ()))

    ranked = by_rank(told)
    swarm = SwarmArm(setting, ranked[:WIDTH])
    arms: dict[str, Arm] = {
        "random": random,
        "swarm": swarm,
        "pattern": PatternArm(setting, fresh),
        "forest": ForestArm(setting, fresh, seen),
    }
    shares = Shares()
    while left > 0:
        centre = best.chosen[0] if best.chosen else ranked[0]
        for name in shares.order(is_finish=left <= _FINISH * total):
            asks = arms[name].asks(centre)[:left]
            if asks:
                break
        else:
            setting.note(ended("no arm knows a new model"))
            return
        told = yield asks
        left -= len(told)
        before = best.loss
        best.update(told)
        arms[name].learn(told)
        seen.extend(told)
        shares.add(name, len(told), gain=before - best.loss)
        setting.note(_event(name, told, best, shares.now(), swarm.bests))


def _with_every_alternative(setting: Setting, fresh: UnseenPoints, first: list[Vector]) -> list[Vector]:
    """Chance may have left an alternative of a step out: the last points make room for models that have it."""
    most = len(first) // 2
    for room in range(most + 1):
        kept = first[: len(first) - room]
        rare = points_for_rare(setting.search_space, kept, 1, setting.rng.spawn(1)[0], room + 1)
        if len(rare) <= room or room == most:
            fresh.forget(first[len(kept) :])
            return [*kept, *fresh.of(rare[:room])]
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
    arm: str, told: list[Observation], best: Incumbent, shares: dict[str, float], particles: tuple[Observation, ...]
) -> Event:
    figures = {"arm": arm, "losses": [one.loss for one in told], "best": best.loss, "shares": shares}
    return Event("arm", figures, best.chosen, particles)


class Shares:
    """What each arm has had and gained, and so deserves."""

    def __init__(self) -> None:
        self._had = dict.fromkeys(_LEAST, 0)
        self._gained = dict.fromkeys(_LEAST, 0.0)

    def add(self, name: str, evaluations: int, gain: float) -> None:
        """The first model that does not fail is no gain that compares with others."""
        self._had[name] += evaluations
        self._gained[name] = _MEMORY * self._gained[name] + (gain / evaluations if isfinite(gain) else 0.0)

    def now(self) -> dict[str, float]:
        """The least share of each arm, and the rest by their gains, evenly while there are none."""
        total, rest = sum(self._gained.values()), 1.0 - sum(_LEAST.values())
        return {
            name: least + rest * (self._gained[name] / total if total else 1 / len(_LEAST))
            for name, least in _LEAST.items()
        }

    def order(self, is_finish: bool) -> list[str]:
        """Those first that have had least of what they deserve; the pattern at the end."""
        shares = self.now()
        order = sorted(_LEAST, key=lambda name: self._had[name] / shares[name])
        return sorted(order, key=lambda name: name != "pattern") if is_finish else order


# --- Arms: the small searches among which `auto` shares its evaluations; all of them know the best point of all. ------
#
# None of them lets an evaluation stop early: the forest learns from every loss.


#: Points that an arm asks for at once.
WIDTH = 5
#: The constants of Clerc and Kennedy (2002), with which a swarm comes to rest by itself.
_INERTIA, _PULL = 0.7298, 1.49618
#: The pattern starts again with large steps when its steps are smaller than this.
_SMALLEST_STEP = 0.01
#: How many changes the pattern looks at to find new models before it lets the other arms go first.
_LOOKED_AT = 64


class Arm(Protocol):
    """Asks for points and learns what they came to; asks for none when it knows no new ones."""

    def asks(self, centre: Observation) -> list[Query]: ...
    def learn(self, told: list[Observation]) -> None: ...


class RandomArm:
    """New models anywhere."""

    def __init__(self, setting: Setting, fresh: UnseenPoints) -> None:
        self._setting, self._fresh = setting, fresh

    def asks(self, centre: Observation) -> list[Query]:
        return [Query(point) for point in self.points(WIDTH)]

    def points(self, size: int) -> list[Vector]:
        return self._fresh.draws(lambda more: anywhere(self._setting.search_space, more, self._setting.rng), size)

    def learn(self, told: list[Observation]) -> None:
        pass


class SwarmArm:
    """Particles that follow the best point of all arms; walls throw them back, and idle ones are scattered."""

    def __init__(self, setting: Setting, first: list[Observation]) -> None:
        self._terrain: SearchSpace = setting.search_space
        self._flight = VelocityRule(_PULL, _PULL, None, setting.rng, "reflect")
        self._x: Vectors = written_back(first)
        self._v = np.zeros_like(self._x)
        self._bests = Bests(self._x, first)

    @property
    def bests(self) -> tuple[Observation, ...]:
        """Each particle's best point."""
        return tuple(self._bests.told)

    def asks(self, centre: Observation) -> list[Query]:
        leaders = np.broadcast_to(centre.vector, self._x.shape)
        v = self._flight.velocity(_INERTIA, self._v, self._x, self._bests.positions, leaders)
        x, v = self._flight.moved(self._x, v)
        x, self._v = scattered(self._terrain, self._x, x, v, self._flight.rng)
        return [Query(point) for point in x]

    def learn(self, told: list[Observation]) -> None:
        """When the evaluations end in the middle of a swarm, only its first particles have moved."""
        x = written_back(told)
        self._bests.update(x, told)
        self._x[: len(x)] = x


class ForestArm:
    """What a forest that has learnt from all arms expects the most of."""

    def __init__(self, setting: Setting, fresh: UnseenPoints, seen: list[Observation]) -> None:
        self._setting, self._fresh, self._seen = setting, fresh, seen

    def asks(self, centre: Observation) -> list[Query]:
        return [Query(point) for point in foreseen(self._setting, self._fresh, by_rank(self._seen), WIDTH)]

    def learn(self, told: list[Observation]) -> None:
        pass


class PatternArm:
    """Changes of one gene of the best point, in a random order: smaller ones after each sweep, and large ones again."""

    def __init__(self, setting: Setting, fresh: UnseenPoints) -> None:
        self._terrain, self._rng, self._fresh = setting.search_space, setting.rng, fresh
        self._step = 1.0
        self._moves: list[tuple[int, float]] = []

    def asks(self, centre: Observation) -> list[Query]:
        points: list[Vector] = []
        for _ in range(_LOOKED_AT):
            if not self._moves:
                self._begin_sweep(centre.vector)
            if not self._moves:  # a single model has no genes
                break
            points.extend(self._fresh.of([self._changed(centre.vector, *self._moves.pop())]))
            if len(points) == WIDTH:
                break
        return [Query(point) for point in points]

    def learn(self, told: list[Observation]) -> None:
        pass

    def _begin_sweep(self, centre: Vector) -> None:
        """A step up and one down for numbers, half as large as in the last sweep; every value for alternatives."""
        self._step = self._step / 2 if self._step > _SMALLEST_STEP else 0.5
        moves: list[tuple[int, float]] = []
        for gene, is_number in enumerate(self._terrain.ordered):
            to = (self._step, -self._step) if is_number else self._terrain.values(gene, centre, WIDTH)
            moves.extend((gene, float(move)) for move in to)
        self._moves = [moves[place] for place in self._rng.permutation(len(moves))]

    def _changed(self, centre: Vector, gene: int, move: float) -> Vector:
        changed = centre.copy()
        changed[gene] = min(max(centre[gene] + move, 0.0), 1.0) if self._terrain.ordered[gene] else move
        return changed
