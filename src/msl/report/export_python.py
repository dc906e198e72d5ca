"""Export: a trained model as a Python file of its own — plain scikit-learn where its blocks are, else `msl.blocks`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.pipeline import make_pipeline, make_union

from msl.blocks.base import Floats
from msl.blocks.chain import Branch, ChainClassifier, ChainRegressor
from msl.blocks.committee import CommitteeClassifier, CommitteeRegressor
from msl.report import export_template as template
from msl.report.estimator_code import EstimatorCode

_PROBES = 24
#: What a column of numbers may hold in the place of a missing one.
_NO_NUMBER = ("na", "n/a", "#n/a", "<na>", "nan", "-nan", "null", "none", "?", "-", ".")


@dataclass(frozen=True, slots=True, eq=False)
class Exportable:
    """What an exported file says: the fitted estimator, and how its tables are to be read."""

    title: str
    text: str
    estimator: Any
    columns: tuple[str, ...]
    symbols: Mapping[str, Sequence[str]]
    target: str
    classes: tuple[str | int | float, ...]
    missing: tuple[str, ...]
    separator: str | None
    #: The lowest and the highest value of each column, NaN for one that holds nothing.
    ranges: Floats

    @property
    def is_ensemble(self) -> bool:
        return isinstance(self.estimator, CommitteeClassifier | CommitteeRegressor)


def export_python(given: Exportable) -> str:
    """The text of the file; raises Unwritable where a parameter cannot be written as code."""
    code = EstimatorCode()
    plain = _plain_way(given)
    if plain is None:
        made = code.expression(given.estimator, 1)
        use = template.CHAIN_CLASSES if given.classes else template.CHAIN_NUMBERS
    else:
        made = _pipeline(code, given.estimator.steps, given.estimator.learner)
        winners = template.WINNERS[plain] if given.classes else ""
        use = template.PLAIN_CLASSES.replace("{winners}", winners) if given.classes else template.PLAIN_NUMBERS
    imports = ["import csv", "import sys", "", "import numpy as np", *code.imports()]
    model = f'\n\ndef make_model():\n    """The model, not yet fitted."""\n    return {made}\n\n'
    target = template.TARGET_CLASSES if given.classes else template.TARGET_NUMBERS
    same = template.SAME_CLASSES if given.classes else template.SAME_NUMBERS
    parts = [_head(given), "\n".join(imports), "\n\n", _constants(given), model, use, "\n", template.READ, target]
    return "".join([*parts, template.TEST, same, template.MAIN])


def probe_rows(ranges: Floats, is_symbolic: Sequence[bool], count: int = _PROBES) -> Floats:
    """Made-up rows that fill the ranges evenly; an exported file makes the same ones to test itself."""
    low, high = np.nan_to_num(ranges).T
    places = np.outer(np.arange(1, count + 1), 2 * np.arange(len(ranges)) + 1)
    between = low + (high - low) * ((places * 0.6180339887498949) % 1.0)
    rows: Floats = np.where(is_symbolic, np.rint(between), between)
    return rows


def _expected(given: Exportable) -> list[Any]:
    outputs = given.estimator.outputs(probe_rows(given.ranges, [name in given.symbols for name in given.columns]))
    if not given.classes:
        return [float(value) for value in outputs]
    return [given.classes[place] for place in outputs.argmax(axis=1)]


def _head(given: Exportable) -> str:
    lines = [_quoted(line.rstrip()) for line in given.text.strip().splitlines()]
    shown = "\n".join(f"    {line}" if line else "" for line in lines)
    return (
        f'"""{_quoted(given.title)}\n\n{shown}\n\n'
        "Fit it on the training data, which also tests that it predicts as the run did, and predict other rows:\n\n"
        '    python model.py train.csv\n    python model.py train.csv new.csv\n"""\n\n'
    )


def _quoted(line: str) -> str:
    """A line as a part of a text between three quotes: whatever it is, it is no code."""
    return "".join(c if c.isprintable() and c != "\\" else repr(c)[1:-1] for c in line).replace('"""', r"\"\"\"")


def _constants(given: Exportable) -> str:
    ranges = [[float(end) for end in pair] for pair in np.nan_to_num(given.ranges)]
    symbols = {name: list(known) for name, known in given.symbols.items()}
    lines = [
        f"COLUMNS = {list(given.columns)!r}",
        f"SYMBOLS = {symbols!r}",
        f"TARGET = {given.target!r}",
        *([f"CLASSES = {list(given.classes)!r}"] if given.classes else []),
        f"MISSING = {list(given.missing)!r}",
        f"NO_NUMBER = {list(_NO_NUMBER)!r}",
        f"SEPARATOR = {given.separator!r}",
        f"RANGES = {ranges!r}",
        f"EXPECTED = {_expected(given)!r}",
    ]
    return "\n".join(lines) + "\n"


# --- plain scikit-learn -----------------------------------------------------------------------------


def _plain_way(given: Exportable) -> str | None:
    """How a pipeline of scikit-learn finds the winner, or None where it cannot do exactly what the chain does."""
    chain = given.estimator
    if not isinstance(chain, ChainClassifier | ChainRegressor) or chain.posts:
        return None
    if not all(map(_is_plain, [*chain.steps, chain.learner])):
        return None
    rows = probe_rows(given.ranges, [name in given.symbols for name in given.columns])
    if not _is_dense(chain.steps, rows):
        return None
    if hasattr(chain.learner, "predict_proba"):
        return "predict_proba"
    if hasattr(chain.learner, "decision_function"):
        return "decision_function" if len(given.classes) > 2 else "decision_function of two"
    return "predict"


def _is_plain(step: Any) -> bool:
    if isinstance(step, Branch):
        return all(_is_plain(inner) for branch in step.branches for inner in branch)
    return type(step).__module__.startswith("sklearn.")


def _is_dense(steps: Sequence[Any], rows: Floats) -> bool:
    """Whether no step hands sparse columns to the next, which a chain makes dense and a pipeline does not."""
    for step in steps:
        if isinstance(step, Branch):
            if not all(_is_dense(branch, rows) for branch in step.branches):
                return False
            rows = step.transform_arrays(rows)
            continue
        made = step.transform(rows)
        if sparse.issparse(made) or np.asarray(made).dtype != np.float64:
            return False
        rows = np.asarray(made)
    return True


def _pipeline(code: EstimatorCode, steps: Sequence[Any], *learner: Any, depth: int = 1) -> str:
    written = [_plain_step(code, step, depth + 1) for step in (*steps, *learner)]
    if len(written) == 1:
        return written[0]
    return code.call(code.imported(make_pipeline), written, depth)


def _plain_step(code: EstimatorCode, step: Any, depth: int) -> str:
    if not isinstance(step, Branch):
        return code.expression(step, depth)
    branches = [_pipeline(code, branch, depth=depth + 1) for branch in step.branches]
    return code.call(code.imported(make_union), branches, depth)
