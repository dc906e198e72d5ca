"""Output: where a verb's product goes — standard output, or a file that the user names."""

from __future__ import annotations

from pathlib import Path

from msl.cli.console import WrongUse, write_exactly


def write_output(content: str | bytes, path: Path | None) -> None:
    """Writes a text to a file or, without one, to standard output; bytes need a file."""
    if path is None:
        assert isinstance(content, str)
        write_exactly(content)
        return
    try:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    except OSError as reason:
        raise WrongUse(f"cannot write `{path}`: {reason.strerror}", "name another file") from None
