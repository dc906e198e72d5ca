"""The spaces that the tests of spaces use are drawn here too."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "space"))
