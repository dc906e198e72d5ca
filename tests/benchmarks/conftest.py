"""Makes the package of benchmarks importable: it stands beside the tests, not among what is installed."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))
