"""Lets the tests of this folder share `run_examples.py`, and gives each a store of its own."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from run_examples import Ticking

from msl.store.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / ".msl", clock=Ticking()) as opened:
        yield opened
