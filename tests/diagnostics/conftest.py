"""Golden files: what a message looks like, kept beside the tests and compared letter by letter."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture
def golden() -> Callable[[str, str], None]:
    """Compares a text with a golden file; `MSL_WRITE_GOLDEN=1` rewrites the files, which must then be reviewed."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if os.environ.get("MSL_WRITE_GOLDEN"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="")
        assert text == path.read_bytes().decode("utf-8")

    return compare
