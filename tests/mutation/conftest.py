"""Lets the tests of this folder see the script that they are about."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
