"""Auto: shares its evaluations between random points, a swarm and a pattern, by what each gains."""

from __future__ import annotations

from msl.search.arms import WIDTH, Arm, PatternArm, RandomArm, SwarmArm
from msl.search.ask import Ask, Event, Told, ended
from msl.search.fresh import Fresh
from msl.search.incumbent import Incumbent
from msl.search.pareto import by_rank
from msl.search.setting import Setting, Strategy

#: The share of the evaluations for a random start, and for the pattern at the end.
_START, _FINISH = 0.2, 0.2
#: What an arm gets however little it gains, and how much of its gains it is remembered for in its next batch.
_LEAST, _MEMORY = {"random": 0.05, "swarm": 0.2, "pattern": 0.2}, 0.7


def auto(setting: Setting) -> Strategy:
    """A random start from the reference model, then whichever arm has had less than its gains deserve; at the end the pattern.
    """
    terrain = setting.terrain
    total = left = int(setting.options["evaluations"])
    fresh = Fresh(terrain)
    best = Incumbent(1)
    random = RandomArm(setting, fresh)

    size = min(left, max(2 * WIDTH, round(_START * total)))
    first = list(fresh.of([*setting.seeds(size), terrain.start]))[:size]
    first += random.draws(size - len(first))
    told = yield [Ask(point) for point in first]
    left -= len(told)
    best.update(told)
    setting.note(_event("start", told, best, {}))

    arms: dict[str, Arm] = {
        "random": random,
        "swarm": SwarmArm(setting, by_rank(told)[:WIDTH]),
        "pattern": PatternArm(setting, fresh),
    }
    shares = Shares()
    while left > 0:
        centre = best.chosen[0] if best.chosen else told[0]
        for name in shares.order(finish=left <= _FINISH * total):
            points = arms[name].propose(centre)[:left]
            if points:
                break
        else:
            setting.note(ended("no arm knows a new model"))
            return
        told = yield [Ask(point, beat=best.beat if name != "swarm" else None) for point in points]
        before = best.loss
        best.update(told)
        left -= len(told)
        arms[name].learn(told, improved=best.loss < before)
        shares.add(name, len(told), before - best.loss if best.loss < before else 0.0)
        setting.note(_event(name, told, best, shares.now()))


def _event(arm: str, told: list[Told], best: Incumbent, shares: dict[str, float]) -> Event:
    figures = {"arm": arm, "losses": [one.loss for one in told], "best": best.loss, "shares": shares}
    return Event("arm", figures, best.chosen)


class Shares:
    """What each arm has had and gained."""

    def __init__(self) -> None:
        self._had = dict.fromkeys(_LEAST, 0.0)
        self._gained = dict.fromkeys(_LEAST, 0.0)

    def add(self, name: str, evaluations: int, gain: float) -> None:
        gain = min(gain, 1e12)
        self._gained[name] = _MEMORY * self._gained[name] + gain / evaluations
        self._had[name] += evaluations

    def now(self) -> dict[str, float]:
        """The least share of each arm, and the rest by their gains."""
        total = sum(self._gained.values())
        rest = 1.0 - sum(_LEAST.values())
        even = rest / len(_LEAST)
        return {name: _LEAST[name] + (rest * self._gained[name] / total if total else even) for name in _LEAST}

    def order(self, finish: bool) -> list[str]:
        """Those first that have had least of what they deserve; the pattern at the end."""
        shares = self.now()
        order = sorted(_LEAST, key=lambda name: self._had[name] / shares[name])
        return ["pattern", *(name for name in order if name != "pattern")] if finish else order
