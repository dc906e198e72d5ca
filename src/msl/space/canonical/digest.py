"""SHA-256 digests of a model, a space or a run, by which equal ones are recognised."""

from __future__ import annotations

from collections.abc import Mapping

from msl.space.canonical.content_hash import content_hash
from msl.space.canonical.normal_conditions import block_identity
from msl.space.canonical.normal_form import normal_form
from msl.space.spec import Space
from msl.space.values import BlockValue, Branches, Model, PipelineValue, Step, SymbolValue, Value

#: Part of every digest. A change of the normal form that could give one form to two different sets is a new number
#: here. One that brings equal sets together is not: all digests that it does not touch stay what they are.
_FORM = 1


def space_digest(space: Space) -> str:
    """Equal only for the same set on the same scales, and for all spellings of it that the normal form knows."""
    return content_hash(("msl space", _FORM, normal_form(space).key))


def model_digest(model: Model) -> str:
    """The same for models with the same steps in the same order and the same value of every parameter."""
    return content_hash(("msl model", _FORM, _steps(model.steps)))


def run_digest(parts: Mapping[str, object]) -> str:
    """Of a run, from its named parts: texts, numbers, and lists and mappings of them; their order means nothing.

    Raises ValueError for a part that has no one plain form, such as a NaN, a set, or a mapping with keys of two kinds.
    """
    try:
        return content_hash(("msl run", _FORM, {name: _plain(part, name) for name, part in parts.items()}))
    except RecursionError:
        raise ValueError("a part of a run's digest contains itself") from None


def _steps(steps: tuple[Step, ...]) -> list[object]:
    return [_step(step) for step in steps]


def _step(step: Step) -> object:
    if not isinstance(step, Branches):
        return _value(step)
    return {"branches": _branches(step)}


def _branches(step: Branches) -> list[object]:
    """The branches; those that are nothing but branches again stand beside the others."""
    flat: list[object] = []
    for branch in step.branches:
        only = branch[0] if len(branch) == 1 else None
        flat.extend(_branches(only) if isinstance(only, Branches) else [_steps(branch)])
    return flat


def _value(value: Value) -> object:
    """JSON tells the kinds of scalars apart, and mappings, which it sorts, from lists."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value + 0.0
        case tuple():
            return [_value(item) for item in value]
        case SymbolValue(name=name, params=params, own=True):
            return {"own": name, "params": _params(params)}
        case SymbolValue(name=name, params=params):
            return {"symbol": name, "params": _params(params)} if params else name
        case BlockValue(block=block, params=params):
            return {"block": block_identity(block), "params": _params(params)}
        case PipelineValue(steps=steps):
            return {"pipeline": _steps(steps)}


def _params(params: tuple[tuple[str, Value], ...]) -> dict[str, object]:
    return {name: _value(value) for name, value in params}


def _plain(part: object, path: str) -> object:
    """The part itself once it is known that JSON tells it from every other."""
    match part:
        case None | bool() | int() | str():
            return part
        case float():
            if part != part or part in (float("inf"), float("-inf")):
                raise ValueError(f"`{path}` is {part}, which has no plain form: leave it out, or write it as a text")
            return part + 0.0
        case list() | tuple():
            return [_plain(item, f"{path}[{position}]") for position, item in enumerate(part)]
        case Mapping() if all(isinstance(name, str) for name in part):
            return {name: _plain(item, f"{path}.{name}") for name, item in part.items()}
    raise ValueError(
        f"`{path}` is a {type(part).__name__}: a run's digest takes numbers, texts, lists and mappings of them"
    )
