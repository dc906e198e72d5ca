"""Importance: on made-up spaces whose effects are known, whether what is said to matter is in the right order.

A loss is written down for every model of a space, with noise, and a search looks for its least value. The truth is the
same measure on thousands of models with the loss without noise. An order is right if no decision stands above one that
matters at least twice as much; decisions that explain less than 2 % count as without effect. So much for the order of
the estimates. Of two decisions it is also said whether it is sure which matters more: such a claim is wrong if the
other matters as much or more, where what explains less than a thousandth counts as nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.benchmark import Benchmark, Workplace
from benchmarks.cell import Cell, Record
from benchmarks.report import Claim, Report, Table, made_by
from msl.check.check_spec import check_source
from msl.diagnostics.source import Source
from msl.encode.codec import Codec, space_to_codec
from msl.encode.sample import sample
from msl.report.search_importance import GOOD, drawn_models, explained, measured, surely_above
from msl.runner.search_space import space_to_search_space
from msl.search.base import Observation
from msl.search.stages import Limits, Stage, load_target, then
from msl.space.formulas import Facts
from msl.space.values import Model

_FACTS = Facts(n_samples=200, n_features=8, n_classes=2, task="classification", columns=tuple("abcdefgh"))
_EVALUATIONS, _NOISE, _TRUTH = 200, 0.5, 20_000
_LEAST, _TWICE, _NOTHING = 0.02, 2.0, 0.001
SEARCHES = {
    "random": "random(evaluations = 200)",
    "pso": "pso(swarm = 20, iterations = 10)",
    "auto": "auto(evaluations = 200)",
}


def _slope(share: float) -> float:
    """From low to high, of variance 1."""
    return (share - 0.5) * math.sqrt(12.0)


def _bowl(share: float, middle: float = 0.3) -> float:
    """Least at a place, of variance 1."""
    mean = middle**2 - middle + 1 / 3
    square = middle**4 - 2 * middle**3 + 2 * middle**2 - middle + 0.2
    return ((share - middle) ** 2 - mean) / math.sqrt(square - mean**2)


Values = Mapping[str, Any]


def _plain(v: Values) -> float:
    return 4 * _bowl(v["a"]) + 2 * _bowl(v["b"], 0.7) + _slope(v["c"])


def _mixed(v: Values) -> float:
    of_c = {"x": -1.3, "y": -0.2, "z": 0.2, "w": 1.3}[v["c"]]
    return 4 * _bowl((math.log10(v["a"]) + 3) / 6, 0.6) + 2 * of_c + _slope(v["b"] / 20)


def _conditional(v: Values) -> float:
    found = {"one": 0.0, "two": 1.5, "three": 6.0}[v["steps"][-1]] + (0.6 if "pre" in v["steps"] else 0.0)
    return found + (2 * _slope(v["a"]) if "a" in v else 0.0) + (_slope(v["c"]) if "c" in v else 0.0)


def _nested(v: Values) -> float:
    if "c" in v:
        return 0.8 + _slope(v["c"])
    of_kernel = {"poly": 1.5, "flat": 1.0}
    gamma = 2 * _bowl((math.log10(v.get("gamma", 1)) + 3) / 4, 0.5) - 1.0
    return _slope(v["a"]) + of_kernel.get(v["kernel"], gamma)


#: Spaces with their losses. Parameters that a loss does not name have no effect.
SPACES: dict[str, tuple[str, Callable[[Values], float]]] = {
    "plain": (
        'block toy: learner "toy:Toy" { a: real 0..1, b: real 0..1, c: real 0..1, d: real 0..1, e: real 0..1 }\n'
        "chain m = toy\n",
        _plain,
    ),
    "mixed": (
        'block toy: learner "toy:Toy" {\n'
        "  a: real 1e-3..1000 log, b: int 1..20, c: x | y | z | w, d: bool, e: real 0..1, f: p | q | r }\n"
        "chain m = toy\n",
        _mixed,
    ),
    "conditional": (
        'block one: learner "toy:One" { a: real 0..1, b: real 0..1 }\n'
        'block two: learner "toy:Two" { c: real 0..1, d: real 0..1 }\n'
        'block three: learner "toy:Three" { e: real 0..1 }\n'
        'block pre: transformer "toy:Pre" { g: real 0..1 }\n'
        "chain m = pre? >> (one | two | three)\n",
        _conditional,
    ),
    "nested": (
        'block one: learner "toy:One" {\n'
        "  a: real 0..1, kernel: rbf(gamma: real 1e-3..10 log) | poly(degree: int 1..5) | flat, b: real 0..1 }\n"
        'block two: learner "toy:Two" { c: real 0..1, d: real 0..1 }\n'
        "chain m = one | two\n",
        _nested,
    ),
}


def cells(quick: bool) -> list[Cell]:
    budget = f"{_EVALUATIONS} evaluations, noise {_NOISE}"
    return [Cell(name, seed, way, budget) for seed in range(3 if quick else 100) for name in SPACES for way in SEARCHES]


def work(cell: Cell, place: Workplace) -> Mapping[str, Any]:
    """What is said of each decision, what is true of it, and how many pairs and claims are in the wrong order."""
    codec, shares, active, losses = searched(cell.data, cell.method, cell.split)
    rng = np.random.default_rng([cell.split, 7])
    draws = measured(shares, active, losses, drawn_models(codec, rng), rng)
    said, true = draws.mean(axis=0), truth(cell.data)
    names = [dimension.meanings[0].path for dimension in codec.dimensions]
    claimed, twice = surely_above(draws), _matters_twice(true)
    known = np.where(true < _NOTHING, 0.0, true)
    return {
        "said": {name: round(float(value), 5) for name, value in zip(names, said, strict=True)},
        "true": {name: round(float(value), 5) for name, value in zip(names, true, strict=True)},
        "models": len(losses),
        "wrong pairs": wrong_pairs(said, true),
        "wrong claims": int((claimed & (known[:, None] <= known[None, :])).sum()),
        "claimed": round(float((claimed & twice).sum() / twice.sum()), 4),
    }


def wrong_pairs(said: NDArray[np.float64], true: NDArray[np.float64]) -> int:
    return int((_matters_twice(true) & (said[:, None] <= said[None, :])).sum())


def _matters_twice(true: NDArray[np.float64]) -> NDArray[np.bool_]:
    kept = np.where(true < _LEAST, 0.0, true)
    return np.asarray((kept[:, None] >= _TWICE * kept[None, :]) & (kept[:, None] > 0))


def searched(space: str, way: str, seed: int) -> tuple[Codec, NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The models that a search evaluated, as points with one dimension for each decision, and their losses."""
    text, loss = SPACES[space]
    spec = check_source(
        Source("made-up", f"{text}minimize ber by cv(folds = 5)\nsearch {SEARCHES[way]}\n"), _FACTS
    ).spec
    assert spec is not None
    points = space_to_search_space(spec.space)
    call = spec.search[0].call
    strategy = then(
        [Stage(load_target(call.name, call.target), dict(call.options), points)], seed, Limits(_EVALUATIONS)
    )
    rng, known = np.random.default_rng([seed, 99]), dict[Model, float]()
    queries = next(strategy, None)
    while queries is not None and len(known) < _EVALUATIONS:
        observations = []
        for query in queries:
            model = points.decode(query.vector)
            assert isinstance(model, Model)
            if model not in known:
                known[model] = loss(_values(model)) + _NOISE * float(rng.normal())
            rounded = points.codec.decode(query.vector[None, :]).snapped[0]
            observations.append(Observation(rounded, (known[model],)))
        try:
            queries = strategy.send(observations)
        except StopIteration:
            queries = None
    codec = space_to_codec(spec.space, "separate")
    batch = codec.decode(np.array([codec.encode(model) for model in known]))
    return codec, batch.snapped, batch.active, np.array(list(known.values()))


@cache
def truth(space: str) -> NDArray[np.float64]:
    text, loss = SPACES[space]
    spec = check_source(Source("made-up", f"{text}minimize ber by cv(folds = 5)\n"), _FACTS).spec
    assert spec is not None
    codec = space_to_codec(spec.space, "separate")
    drawn = sample(codec, _TRUTH, np.random.default_rng(5))
    losses = np.array([loss(_values(model)) for model in drawn.models() if isinstance(model, Model)])
    good = (losses <= np.quantile(losses, GOOD)).astype(np.float64)
    return explained(good, drawn.snapped, drawn.active, [dimension.levels for dimension in codec.dimensions])


def _values(model: Model) -> Values:
    found: dict[str, Any] = {"steps": tuple(step.block.name for step in model.steps)}  # type: ignore[union-attr]
    for step in model.steps:
        for name, value in step.params:  # type: ignore[union-attr]
            found[name] = getattr(value, "name", value)
            found.update(getattr(value, "params", ()))
    return found


# --- the report ---


def report(records: Sequence[Record]) -> Report:
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        groups.setdefault((record.cell.data, record.cell.method), []).append(record)
    rows = tuple(
        (*group, len(own), _without(own, "wrong pairs"), _mean(own, "wrong pairs"), _without(own, "wrong claims"),
         _mean(own, "claimed"))
        for group, own in groups.items()
    )  # fmt: skip
    columns = ("space", "search", "seeds", "right", "wrong pairs a seed", "no wrong claim", "pairs claimed")
    note = "Pairs claimed: the share of the pairs of which one matters twice as much, where it is said to be sure."
    table = Table("Whether the order is right", columns, rows, (note,))
    claims = []
    for (space, way), own in groups.items():
        for what, name in (("the order", "wrong pairs"), ("all that is said to be sure of the order", "wrong claims")):
            right = _without(own, name)
            claims.append(
                Claim(
                    f"{what} on the {space} space is right in 95 of 100 seeds after a search by {way}",
                    right >= 0.95 * len(own) if len(own) >= 20 else None,
                    f"{right} of {len(own)}",
                )
            )
    ran = (
        f"{_EVALUATIONS} evaluations, noise of {_NOISE} beside effects of 0.6 to 4 (standard deviations). An order is "
        "right if no decision stands above one that matters at least twice as much; below 2 % of the variance a "
        "decision counts as without effect. It is said to be sure of two decisions if one matters more in 99 of 100 "
        "draws of what the losses may be; that is wrong if the other matters as much or more."
    )
    return Report(
        "importance",
        "Is what is said to matter in the right order?",
        ran,
        (table,),
        tuple(claims),
        made_by(records),
    )


def _without(records: Sequence[Record], name: str) -> int:
    return sum(record.outcome[name] == 0 for record in records)


def _mean(records: Sequence[Record], name: str) -> float:
    return float(np.mean([record.outcome[name] for record in records]))


BENCHMARK = Benchmark("importance", cells, work, report)
