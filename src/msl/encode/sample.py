"""Draw random models of a space, by choices or every model equally likely, and enumerate all models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from random import Random
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from msl.diagnostics.user_error import UserError
from msl.encode.codec import Batch, Codec
from msl.encode.priors import level_edges
from msl.encode.value_plan import DimensionPlan, Number, Numbers, Pick, PickFixed
from msl.space.enumerate.count import Models, count
from msl.space.enumerate.disjoint_sets import OpenReal, TooCostly
from msl.space.membership import NotInSpace
from msl.space.values import Model

By = Literal["choices", "models"]

#: How many points may be tried per model, and at least, before a space counts as almost empty.
_TRIES = 200
_LEAST_TRIES = 20_000
_MOST_AT_ONCE = 4_096
#: How many points show which requirements leave a space empty.
_PROBES = 1_000
#: How many models may be dropped for their weight before one is kept whatever its weight.
_MOST_LIGHT = 10_000
#: The most values of a number whose probability decides which models are kept.
_MOST_DECIDING = 100_000


class AlmostEmpty(UserError):
    """Requirements leave nothing, or so little that drawing hardly ever finds it; `rejected` counts the reasons."""

    def __init__(self, text: str, rejected: Counter[str] | None = None) -> None:
        super().__init__(text, "loosen the requirement that rejects most")
        self.args = (text, rejected)
        self.rejected: Counter[str] = Counter() if rejected is None else rejected


def sample(codec: Codec, n: int, rng: np.random.Generator, by: By = "choices") -> Batch:
    """`n` models, with repetition.

    By `choices`, every dimension of the cube is uniform, or follows its prior or weights, so every option of a choice
    without weights is as likely as the others; points that requirements reject are drawn again. By `models`, every
    model of a finite space is equally likely, however
    many points lead to it. Where reals are open, every combination of all else is equally likely and reals are uniform
    on their scale, and models that requirements reject are drawn again. With priors and weights, a model is as likely
    as the product of the weights of its alternatives and of its numbers' probabilities, each relative to uniform ones.

    Raises AlmostEmpty after a bounded number of points.
    """
    if n < 0:
        raise UserError(f"a sample has 0 models or more, not {n}")
    if by == "choices":
        vectors = _by_choices(codec, n, rng)
    elif by == "models":
        seeded = Random(int(rng.integers(2**63)))
        vectors = _by_weight(codec, n, seeded, rng) if codec.is_steered else _by_models(codec, n, seeded)
    else:
        raise UserError(f"models are drawn by `choices` or by `models`, not by {by!r}")
    return codec.decode(vectors)


def _by_choices(codec: Codec, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    found: list[NDArray[np.float64]] = [np.empty((0, codec.n_dimensions))]
    missing, tries, rejected = n, 0, Counter[str]()
    while missing:
        if tries >= _LEAST_TRIES + _TRIES * n:
            raise _almost_empty(codec, n - missing, tries, rejected)
        vectors = rng.random((min(max(2 * missing, 64), _MOST_AT_ONCE) if tries else missing, codec.n_dimensions))
        vectors = codec.steered(vectors)
        batch = codec.decode(vectors)
        kept = vectors[batch.feasible()][:missing]
        rejected.update(_reasons(batch))
        found.append(kept)
        tries += len(vectors)
        missing -= len(kept)
    return np.concatenate(found)


def _by_models(codec: Codec, n: int, rng: Random) -> NDArray[np.float64]:
    models = _models(codec)
    found: list[NDArray[np.float64]] = []
    tries, rejected = 0, Counter[str]()
    while len(found) < n:
        if models.number == 0:
            points = np.random.default_rng(0).random((_PROBES, codec.n_dimensions))
            raise _almost_empty(codec, 0, _PROBES, _reasons(codec.decode(points)))
        if tries >= _LEAST_TRIES + _TRIES * n:
            raise _almost_empty(codec, len(found), tries, rejected)
        tries += 1
        try:
            found.append(codec.encode(models.draw(rng)))
        except NotInSpace as reason:
            rejected[reason.reason] += 1
    return np.array(found).reshape(len(found), codec.n_dimensions)


def _by_weight(codec: Codec, n: int, rng: Random, numbers: np.random.Generator) -> NDArray[np.float64]:
    """Like `_by_models`, with priors and weights: models of the structure, kept by their weights.

    Numbers are drawn again by their priors, which have the same number of values whatever the prior; those that
    conditions depend on decide by their probability instead, since other values could mean other parameters.
    """
    models, free = Models(codec.space, free=True), codec.without_requirements()
    found: list[NDArray[np.float64]] = []
    tries, light, rejected = 0, 0, Counter[str]()
    while len(found) < n:
        if models.number == 0 or tries >= _LEAST_TRIES + _TRIES * n:
            raise _almost_empty(codec, len(found), tries, rejected)
        vector = free.encode(models.draw(rng))
        readers = free.readers(vector)
        if light < _MOST_LIGHT and rng.random() >= _relative_weight(readers, vector):
            light += 1
            continue
        tries, light = tries + 1, 0
        drawn = np.zeros((1, len(vector)), dtype=bool)
        for slot, reader in readers.items():
            drawn[0, slot] = _is_drawn_again(reader)
        points = free.steered(np.where(drawn, numbers.random(drawn.shape), vector), drawn)
        batch = codec.decode(points)
        if batch.feasible()[0]:
            found.append(batch.snapped[0])
        else:
            rejected.update(_reasons(batch))
    return np.array(found).reshape(len(found), codec.n_dimensions)


def _is_drawn_again(reader: DimensionPlan) -> bool:
    is_number = isinstance(reader, Number | Numbers) and reader.steer is not None
    return is_number and not _decides(reader)


def _decides(reader: DimensionPlan) -> bool:
    """Whether the probability of a number says which models are kept."""
    return isinstance(reader, Number) and reader.is_asked and 0 < (reader.scale.levels or 0) <= _MOST_DECIDING


def _relative_weight(readers: Mapping[int, DimensionPlan], vector: NDArray[np.float64]) -> float:
    """The weight of a model relative to the largest that its choices and deciding numbers could have."""
    weight = 1.0
    for slot, reader in readers.items():
        if isinstance(reader, Pick | PickFixed) and reader.steer is not None:
            chances = reader.steer.chances()
            weight *= chances[reader.scale.level(float(vector[slot]))] / chances.max()
        elif isinstance(reader, Number) and reader.steer is not None and _decides(reader):
            chances = reader.steer.chances()
            level = np.searchsorted(level_edges(reader.scale), vector[slot], side="right") - 1
            weight *= chances[min(max(int(level), 0), len(chances) - 1)] / chances.max()
    return weight


def _models(codec: Codec) -> Models:
    """The models of a finite space, or those of the structure alone, of which requirements then reject some.

    An open real would be cut where requirements look at it, and each piece be as likely as another: hence the latter.
    """
    try:
        models = Models(codec.space)
    except TooCostly:
        return Models(codec.space, free=True)
    return Models(codec.space, free=True) if models.reals else models


def _reasons(batch: Batch) -> Counter[str]:
    return Counter(outcome.reason for outcome in batch if isinstance(outcome, NotInSpace))


def _almost_empty(codec: Codec, found: int, tries: int, rejected: Counter[str]) -> AlmostEmpty:
    size = count(codec.space)
    if size.structures == 0:
        text = "the space is empty: no model meets its requirements"
    else:
        left = "few models are left" if size.models is None else f"{size.models:,} models are left"
        text = f"the space is almost empty: {left}, and {found} of {tries:,} points are models"
    reasons = "; ".join(f"{reason} ({times:,} times)" for reason, times in rejected.most_common(3))
    return AlmostEmpty(f"{text}; most often {reasons}" if reasons else text, rejected)


# --- enumeration ---


def enumerate_models(codec: Codec, steps: int | None = None) -> Iterator[Model]:
    """Every model once, lazily; the last step of a chain changes fastest.

    `steps` is how many values an open real takes, evenly on its scale from end to end. Without it, a space with an open
    real raises ValueError.
    """
    if steps is not None and steps < 1:
        raise UserError(f"a real takes 1 value or more, not {steps}")
    try:
        models = Models(codec.space, steps)
        is_judged = True
    except TooCostly:
        models = Models(codec.space, steps, free=True)
        is_judged = False
    if models.reals:
        raise OpenReal
    return iter(models) if is_judged else (model for model in models if _is_in(codec, model))


def _is_in(codec: Codec, model: Model) -> bool:
    try:
        codec.encode(model)
    except NotInSpace:
        return False
    return True
