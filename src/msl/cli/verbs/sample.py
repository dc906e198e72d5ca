"""msl sample: draw models of a space at random."""

from __future__ import annotations

import json as json_text
from typing import Annotated

import typer

from msl.cli.shared.console import Exit, write, write_exactly
from msl.cli.shared.load_spec import load
from msl.diagnostics.user_error import UserError

#: The group and the place of this verb in `msl --help`.
PLACE = ("Understand", 6)


def sample(
    spec: Annotated[str, typer.Argument(metavar="SPEC", help="A spec; `-` reads standard input.")],
    number: Annotated[int, typer.Option("-n", "--number", min=1, max=1_000_000, help="How many models.")] = 5,
    data: Annotated[str | None, typer.Option(metavar="TABLE", help="Resolve bounds against this table.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Instead of the spec's seed.")] = None,
    by: Annotated[str, typer.Option(help="Draw every choice evenly (choices), or every model (models).")] = "choices",
    chain: Annotated[str | None, typer.Option(metavar="NAME", help="The chain, where there are several.")] = None,
    json: Annotated[
        bool, typer.Option("--json", help="One JSON object a line: the model, its digest, its vector.")
    ] = False,
) -> Exit:
    """Draw models at random and print them as MSL."""
    import numpy as np

    from msl.cli.shared.load_spec import codec_of
    from msl.encode.sample import sample as draw
    from msl.space.canonical.digest import model_digest
    from msl.space.to_text import model_to_text
    from msl.space.values import Model

    if by not in ("choices", "models"):
        raise UserError(f"`--by {by}` is not a way to draw", "it is `choices` or `models`")
    loaded = load(spec, data, chain)
    codec = codec_of(loaded)
    rng = np.random.default_rng(loaded.spec.seed if seed is None else seed)
    batch = draw(codec, number, rng, by="choices" if by == "choices" else "models")
    for position, model in enumerate(batch):
        assert isinstance(model, Model)
        if json:
            row = {
                "model": model_to_text(model),
                "digest": model_digest(model),
                "vector": [float(share) for share in batch.snapped[position]],
            }
            write_exactly(json_text.dumps(row, ensure_ascii=False) + "\n")
        else:
            write(model_to_text(model) + "\n")
    return Exit.FINE
