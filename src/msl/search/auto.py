"""Auto: shares its evaluations between random points, a forest, a swarm and a pattern, by what each gains."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite, isqrt

from msl.search.alternatives import points_for_rare
from msl.search.arms import WIDTH, Arm, ForestArm, PatternArm, RandomArm, SwarmArm
from msl.search.ask import Ask, Event, Told, Vector, ended
from msl.search.cmdpso import cmdpso
from msl.search.fresh import Fresh
from msl.search.incumbent import Incumbent
from msl.search.pareto import by_rank
from msl.search.setting import Setting, Strategy

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
    fresh = Fresh(setting.terrain)
    random = RandomArm(setting, fresh)
    best = Incumbent(1)

    size = min(left, max(2 * WIDTH, round(_START * total)), _LONGEST_START)
    first = list(fresh.of([*setting.seeds(size), setting.terrain.start]))[:size]
    first += random.points(size - len(first))
    first = _with_every_alternative(setting, fresh, first)
    if not first:
        setting.note(ended("draws give no model"))
        return
    told = yield [Ask(point) for point in first]
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


def _with_every_alternative(setting: Setting, fresh: Fresh, first: list[Vector]) -> list[Vector]:
    """Chance may have left an alternative of a step out: the last points make room for models that have it."""
    most = len(first) // 2
    for room in range(most + 1):
        kept = first[: len(first) - room]
        rare = points_for_rare(setting.terrain, kept, 1, setting.rng.spawn(1)[0], room + 1)
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


def _event(arm: str, told: list[Told], best: Incumbent, shares: dict[str, float], particles: tuple[Told, ...]) -> Event:
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
