"""Lets the tests of this folder share `specs.py`, and the mutations of the syntax tests."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "language")]
