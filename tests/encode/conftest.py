"""The generated spaces of the tests of spaces are encoded here."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "space"))
