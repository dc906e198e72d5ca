"""An installed package that offers metrics and estimates: modules, declarations and a .dist-info with entry points."""

from __future__ import annotations

from pathlib import Path

MODULE = '''
import numpy as np
from msl.evaluate import Split

def chosen(y, outputs):
    """Minus the squared distance from the one-hot truth: never above 0."""
    return -np.square(np.eye(outputs.shape[1])[y] - outputs / np.abs(outputs).sum(axis=1, keepdims=True)).sum(axis=1)

def gain(y, outputs, weights):
    return (weights * chosen(y, outputs)).sum() / weights.sum()

def distance(y, outputs, weights):
    """Between -1 and 0, smaller is better."""
    return np.average(outputs.argmax(axis=1) != y, weights=weights) - 1.0

def raising(y, outputs, weights):
    raise RuntimeError("no such luck")

def nan(y, outputs, weights):
    return float("nan")

def text(y, outputs, weights):
    return "good"

def halves(rows, options, rng):
    """Two halves in the order of the rows, each scored by a model of the other."""
    middle = rows.n_rows // 2
    order = rng.permutation(rows.n_rows) if options["mixed"] else np.arange(rows.n_rows)
    return [Split(order[:middle], order[middle:]), Split(order[middle:], order[:middle])]

def training(rows, options, rng):
    everything = np.arange(rows.n_rows)
    return [Split(everything, everything)]

def nothing(rows, options, rng):
    return [1, 2]

def failing(rows, options, rng):
    raise KeyError("weeks")
'''
METRICS = """msl 1

# Minus the Brier score.
block gain: metric for classification "scoring.code:gain" {
  larger_is_better = true,
  high = 0,
  additive_over_rows = mean, row_function = "scoring.code:chosen",
}
# The same, of which nothing but its direction is known.
block bare_gain: metric for classification "scoring.code:gain" { larger_is_better = true }
# The error less 1.
block distance: metric for classification "scoring.code:distance" {}
block raising: metric "scoring.code:raising" {}
block nan: metric "scoring.code:nan" { undefined = "it always is" }
block text: metric "scoring.code:text" {}
block missing: metric "scoring.code:missing" {}
block confused: metric "scoring.code:gain" { larger_is_better = 3 }
block odd: metric "scoring.code:gain" { larger_is_beter = true }
"""
ESTIMATES = """msl 1

# Two halves.
block halves: estimate "scoring.code:halves" {
  held_out = folds,
  fixed_splits = true,
  mixed: bool default false,
}
block training: estimate for classification "scoring.code:training" { held_out = none, fixed_splits = true }
block nothing: estimate "scoring.code:nothing" {}
block failing: estimate "scoring.code:failing" {}
block crooked: estimate "scoring.code:halves" { held_out = fold }
"""
ENTRY_POINTS = """
[msl.metrics]
gain = scoring.code:gain
bare_gain = scoring.code:gain
distance = scoring.code:distance
raising = scoring.code:raising
nan = scoring.code:nan
text = scoring.code:text
missing = scoring.code:missing
confused = scoring.code:gain
odd = scoring.code:gain
undeclared = scoring.code:gain
ber = scoring.code:gain
[msl.estimates]
halves = scoring.code:halves
training = scoring.code:training
nothing = scoring.code:nothing
failing = scoring.code:failing
crooked = scoring.code:halves
cv = scoring.code:halves
"""


def install(folder: Path) -> None:
    """As pip would leave it. Importing the package writes a file, so that a test can see whether anything did."""
    package = folder / "scoring"
    package.mkdir()
    (package / "__init__.py").write_text(f"open({str(folder / 'imported')!r}, 'w').close()\n")
    (package / "code.py").write_text(MODULE)
    (package / "metrics.msl").write_text(METRICS)
    (package / "estimates.msl").write_text(ESTIMATES)
    info = folder / "scoring-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: scoring\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)


def was_imported(folder: Path) -> bool:
    return (folder / "imported").exists()
