"""Decoding speed: vectors of psms into models, against ConfigSpace drawing configurations of the same space.

Like is compared with like. ConfigSpace computes the values of a configuration when they are asked for, as a batch here
builds its models: so vectors to a batch against `sample_configuration`, and models with every value against
configurations with every value. Also how the time to lay a space out grows with its number of blocks.

    python benchmarks/decode_speed.py
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from ConfigSpace import (
    Categorical,
    ConfigurationSpace,
    EqualsCondition,
    Float,
    InCondition,
    Integer,
)
from ConfigSpace.hyperparameters import Hyperparameter

from msl.check.check_spec import check_source
from msl.diagnostics.source import Source
from msl.encode.codec import space_to_codec
from msl.space.enumerate.count import count
from msl.space.formulas import Facts
from msl.space.nodes import (
    BlockUse,
    Bool,
    Choice,
    Empty,
    IntRange,
    Marked,
    Node,
    Param,
    RealRange,
    Sequence,
    Subset,
    bottom_up,
    rebuilt,
)
from msl.space.numbers import ends, whole_numbers
from msl.space.spec import Space
from msl.space.values import BlockType

ROWS = 10_000
REPEATS = 5
FACTS = Facts(n_samples=200, n_features=100, n_classes=2, task="classification")
PSMS = Path(__file__).parent.parent / "specs" / "psms.msl"


def psms() -> Space:
    """The space of the paper, from its spec."""
    spec = check_source(Source(PSMS.name, PSMS.read_text(encoding="utf-8"), str(PSMS)), FACTS).spec
    assert spec is not None
    return spec.space


def in_configspace(space: Space) -> ConfigurationSpace:
    """The same choices and parameters: an optional choice has a value for nothing, a parameter needs its block."""
    found = ConfigurationSpace(seed=0)
    order = Categorical("order", ["preprocess first", "select first"])
    found.add(order)
    for node in bottom_up(rebuilt(space.root, without_marks)):
        if isinstance(node, Subset):
            members = [use for use in node.members if isinstance(use, BlockUse)]
            every = [frozenset(b for i, b in enumerate(members) if code >> i & 1) for code in range(2 ** len(members))]
            names = [" ".join(sorted(use.block.name for use in some)) or "none" for some in every]
            dimension = Categorical("subset", names)
            found.add(dimension)
            for use in members:
                holds_it = [name for name, some in zip(names, every, strict=True) if use in some]
                for parameter in hyperparameters(use):
                    found.add(parameter)
                    found.add(InCondition(parameter, dimension, holds_it))
        elif isinstance(node, Choice):
            uses = [option for option in node.options if isinstance(option, BlockUse)]
            empty = [option for option in node.options if isinstance(option, Empty)]
            dimension = Categorical(
                f"choice of {uses[0].block.name}", [u.block.name for u in uses] + ["none"] * len(empty)
            )
            found.add(dimension)
            for use in uses:
                for parameter in hyperparameters(use):
                    found.add(parameter)
                    found.add(EqualsCondition(parameter, dimension, use.block.name))
    return found


def without_marks(node: Node) -> Node:
    return node.node if isinstance(node, Marked) else node


def hyperparameters(use: BlockUse) -> Iterator[Hyperparameter]:
    for param in use.params:
        name, node = f"{use.block.name}:{param.name}", param.node
        match node:
            case Bool():
                yield Categorical(name, [False, True])
            case IntRange():
                numbers = whole_numbers(node)
                yield Integer(name, (numbers[0], numbers[-1]), log=node.log)
            case RealRange():
                yield Float(name, ends(node), log=node.log)


def seconds(work: Callable[[], object]) -> float:
    """The shortest processor time of some runs: what else the machine does only ever adds to it."""
    times = []
    for _ in range(REPEATS):
        gc.collect()
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def chain_of(blocks: int) -> Space:
    """A chain with ten alternatives a step, each block with three parameters."""
    params = (Param("n", IntRange(1, 100)), Param("c", RealRange(1e-4, 10.0, log=True)), Param("b", Bool()))

    def step(number: int) -> Node:
        names = (f"block_{number}_{i}" for i in range(10))
        return Choice(tuple(BlockUse(BlockType(n, "benchmark", "transformer", None, f"x:{n}"), params) for n in names))

    return Space(Sequence(tuple(step(number) for number in range(blocks // 10))))


def measure(quick: bool) -> Iterator[tuple[str, float, float | None, str]]:
    """Ratios of the time of ConfigSpace to ours, then how layout and count grow with eight times the blocks."""
    rows = ROWS // 5 if quick else ROWS
    codec = space_to_codec(psms())
    vectors = np.random.default_rng(0).random((rows, codec.n_dimensions))
    peer = in_configspace(codec.space)
    drawn = seconds(lambda: peer.sample_configuration(rows))
    valued = seconds(lambda: [dict(configuration) for configuration in peer.sample_configuration(rows)])
    ways: dict[str, tuple[Callable[[], object], float]] = {
        "objects made when asked for": (lambda: codec.decode(vectors), drawn),
        "all objects made at once": (lambda: codec.decode(vectors).models(), valued),
        "all objects made one by one": (lambda: list(map(codec.decode(vectors).__getitem__, range(rows))), valued),
    }
    for name, (work, reference) in ways.items():
        yield f"{rows:,} vectors of psms, {name}", reference / seconds(work), 1.0, "times as fast as ConfigSpace draws"
    few, many = (500, 4_000)
    small, large = chain_of(few), chain_of(many)
    steps: dict[str, Callable[[Space], object]] = {"laid out": space_to_codec, "counted": count}
    for name, step in steps.items():
        times = [seconds(lambda chain=chain, step=step: step(chain)) for chain in (small, large)]
        yield f"{many:,} blocks {name}, against {few:,}", times[1] / times[0], 12.0, "times the time"


def main() -> None:
    for name, seen, target, unit in measure(quick=False):
        print(f"{name:<60} {seen:8.2f} {unit} (target {target:g})")


if __name__ == "__main__":
    main()
