"""Codecs: the encoder and decoder of a loaded spec, for verbs that need numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msl.cli.console import WrongUse
from msl.cli.specs import Loaded

if TYPE_CHECKING:
    from msl.encode.codec import Codec


def codec_of(loaded: Loaded, encoding: str = "shared") -> Codec:
    """The codec of a space; one whose bounds follow the table needs a table."""
    from msl.encode.codec import space_to_codec

    if encoding not in ("shared", "separate"):
        raise WrongUse(f"`{encoding}` is not an encoding", "it is `shared` or `separate`")
    try:
        return space_to_codec(loaded.spec.space, "shared" if encoding == "shared" else "separate")
    except ValueError:
        if loaded.table is not None:
            raise
        message = "bounds of this space depend on the table"
        raise WrongUse(message, "add `--data TABLE`") from None
