"""Grid: all models of a space in turn, each once; open reals at so many values."""

from __future__ import annotations

from collections.abc import Iterator

from msl.encode.codec import Codec
from msl.space.cell import OpenReal, TooCostly
from msl.space.derive import NotInSpace
from msl.space.models import Models
from msl.space.value import Model


def enumerate_models(codec: Codec, steps: int | None = None) -> Iterator[Model]:
    """Every model once, lazily; the last step of a chain changes fastest.

    `steps` is how many values an open real takes, evenly on its scale from end to end. Without it, a space with an open
    real raises ValueError.
    """
    if steps is not None and steps < 1:
        raise ValueError(f"a real takes 1 value or more, not {steps}")
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
