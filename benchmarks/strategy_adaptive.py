"""Strategy adaptive: `auto` and `halving` against each single strategy, at equal cost, by their ranks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.strategy_problems import Arena, larger_searches, made_up, real_searches
from msl.search.stages import load_strategy
from msl.testing.conformance import options_of, play

Figure = tuple[str, float, float | None, str]

#: What a search may cost, in evaluations on all rows.
COST = {"made-up problems": 150, "searches on small tables": 100, "searches on larger tables": 40}


def single_calls(cost: int) -> dict[str, str]:
    """The single strategies with so many evaluations; the swarm as in its paper, and with later constants."""
    later = "inertia = 0.7298, c1 = 1.49618, c2 = 1.49618, wall = reflect, idle = scatter"
    return {
        "random": f"random(evaluations = {cost})",
        "pattern": f"pattern(evaluations = {cost})",
        "pso": f"pso(swarm = 5, iterations = {cost // 5 - 1})",
        "pso, later": f"pso(swarm = 10, iterations = {cost // 10 - 1}, {later})",
        "bpso": f"bpso(swarm = 10, iterations = {cost // 10 - 1})",
        "occam_ga": f"occam_ga(population = 15, generations = {(cost - 15) // 14}, elitism = plain)",
    }


def adaptive_calls(cost: int) -> dict[str, str]:
    """Halving is given more than it can use: it is stopped when the cost is spent, most of it on few rows."""
    return {"auto": f"auto(evaluations = {cost})", "halving": f"halving(evaluations = {5 * cost})"}


def adaptive_figures(seeds: int, data: Path | None = None) -> Iterator[Figure]:
    """The mean rank of each of the two among the single ones, for each kind of problem and over all of them.

    The target is the best single one's.
    """
    kinds = {
        "made-up problems": made_up(),
        "searches on small tables": real_searches(data),
        "searches on larger tables": larger_searches(data),
    }
    everything: Found = {}
    for kind, arenas in kinds.items():
        found = _play(arenas, COST[kind], seeds)
        yield from _compared(found, f"{len(found['auto'])} {kind}, {seeds} seeds, cost {COST[kind]}")
        for name, losses in found.items():
            everything.setdefault(name, []).extend(losses)
    yield from _compared(everything, f"all {len(everything['auto'])} problems")


#: For each strategy the losses of each problem, one a seed.
Found = dict[str, list[list[float]]]


def _play(arenas: Iterable[AbstractContextManager[Arena]], cost: int, seeds: int) -> Found:
    calls = single_calls(cost) | adaptive_calls(cost)
    found: Found = {name: [] for name in calls}
    for opened in arenas:
        with opened as arena:
            for name, call in calls.items():
                found[name].append([best_within(arena, call, cost, seed) for seed in range(seeds)])
    return found


def _compared(found: Found, where: str) -> Iterator[Figure]:
    adaptive = list(adaptive_calls(1))
    singles = [name for name in found if name not in adaptive]
    for name in adaptive:
        ranks = mean_ranks({each: found[each] for each in (*singles, name)})
        best = min(singles, key=ranks.__getitem__)
        what = f"{name} among {len(singles)} single strategies on {where}; the best of them is {best}"
        yield what, ranks[name], ranks[best], "mean rank"


def best_within(arena: Arena, call: str, cost: float, seed: int) -> float:
    """The lowest loss on all rows before the cost is spent; an evaluation costs the share of the rows it takes."""
    strategy = load_strategy(call.partition("(")[0])
    played = play(strategy, options_of(call), arena.problem, seed, arena.answer, limit=10 * int(cost))
    spent, best = 0.0, float("inf")
    for ask, told in zip(played.queries, played.observations, strict=True):
        spent += ask.share
        if spent > cost + 1e-9:
            break
        if ask.share == 1.0 and told.is_exact:
            best = min(best, told.loss)
    return best


def mean_ranks(found: Found) -> dict[str, float]:
    """Over all problems and seeds; equal losses share the middle of their places."""
    losses: NDArray[np.float64] = np.array([np.ravel(each) for each in found.values()])
    below = (losses[None] < losses[:, None]).sum(axis=1)
    equal = (losses[None] == losses[:, None]).sum(axis=1)
    ranks = np.mean(below + (equal + 1) / 2, axis=1)
    return dict(zip(found, ranks.tolist(), strict=True))
