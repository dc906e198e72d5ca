"""msl decode: translate a vector of the unit cube to its model, and back."""

from __future__ import annotations

import json as json_text
from typing import TYPE_CHECKING, Annotated

import typer

from msl.cli.shared.console import Exit, report, write, write_exactly
from msl.cli.shared.load_spec import Loaded, load
from msl.diagnostics.user_error import UserError

if TYPE_CHECKING:
    from msl.encode.codec import Codec
    from msl.space.values import Model

#: The group and the place of this verb in `msl --help`.
PLACE = ("Understand", 7)


def decode(
    spec: Annotated[str, typer.Argument(metavar="SPEC", help="A spec.")],
    point: Annotated[
        str, typer.Argument(metavar="VECTOR", help="Numbers separated by commas or blanks; or a model, to encode it.")
    ],
    data: Annotated[str | None, typer.Option(metavar="TABLE", help="Resolve bounds against this table.")] = None,
    encoding: Annotated[str, typer.Option(help="How alternatives are laid out: shared or separate.")] = "shared",
    chain: Annotated[str | None, typer.Option(metavar="NAME", help="The chain, where there are several.")] = None,
    json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> Exit:
    """Decode a vector into the model it stands for, or encode a model written as MSL."""
    from msl.cli.shared.load_spec import codec_of
    from msl.space.canonical.digest import model_digest
    from msl.space.membership import NotInSpace
    from msl.space.to_text import model_to_text

    loaded = load(spec, data, chain)
    codec = codec_of(loaded, encoding)
    numbers = _numbers(point)
    try:
        if numbers is not None:
            if len(numbers) != codec.n_dimensions:
                message = f"the vector has {len(numbers)} numbers, and the space {codec.n_dimensions} dimensions"
                raise UserError(message, "`msl info` shows what they mean")
            outside = next((number for number in numbers if not 0 <= number <= 1), None)
            if outside is not None:
                raise UserError(f"`{outside:g}` is not between 0 and 1", "a vector is a point of the unit cube")
            model = codec.model(numbers)
        else:
            model = _model(point, loaded)
        vector = [float(share) for share in codec.encode(model)]
    except NotInSpace as outside:
        write(f"not in the space: {outside}\n")
        return Exit.FAILED
    if json:
        record = {"model": model_to_text(model), "digest": model_digest(model), "vector": vector}
        write_exactly(json_text.dumps(record, ensure_ascii=False) + "\n")
    elif numbers is None:
        write(", ".join(map(repr, vector)) + "\n")
    else:
        write(_table(codec, model, numbers))
    return Exit.FINE


def _numbers(point: str) -> list[float] | None:
    """The numbers of a vector, or None if the text is no vector."""
    try:
        return [float(word) for word in point.strip("[]() ").replace(",", " ").split()]
    except ValueError:
        return None


def _model(text: str, loaded: Loaded) -> Model:
    """A model written as MSL, with the names of the spec."""
    from msl.check.read_models import text_to_model

    model, problems = text_to_model(text, loaded.source)
    if model is None:
        report(problems)
        raise SystemExit(int(Exit.FAILED))
    return model


def _table(codec: Codec, model: Model, vector: list[float]) -> str:
    from msl.space.to_text import model_to_text

    lines = [model_to_text(model), ""]
    snapped = codec.decode([vector]).snapped[0]
    for slot, meaning in enumerate(codec.meanings(vector)):
        what = "no effect here" if meaning is None else f"{meaning.path}: {meaning.range}"
        lines.append(f"{slot:>4}  {snapped[slot]:<8.6g}  {what}")
    return "\n".join(lines) + "\n"
