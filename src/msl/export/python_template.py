"""The text around a model in an exported file: fitting, predicting and its own test.

`{{name}}` is where a piece of code stands; see `python_code`. How tables are read is `exported_table`.
"""

from __future__ import annotations

import builtins
import inspect
import re

from msl.export import table_reader

HEAD = '''"""The winner of a run of msl: builds the model, fits it on the training data, and predicts other rows.

    python model.py TRAIN                fits, and tests that it predicts as the run did
    python model.py TRAIN NEW [NEW …]    and predicts the rows of other tables, as CSV

It needs {{needs}}, and polars for tables in Parquet or Arrow.

A table is text (CSV), Parquet or Arrow, read as `msl predict` reads it. What the spec of the run says of the separator,
the decimal sign, the header and the markers of missing values holds for every table. The rest is found anew for each:
a tab, `;`, `|` or `,` between fields, a decimal point or comma, names in the first row or none, UTF-8 or UTF-16, also
packed by gzip, bzip2, xz or zip. A symbol that the training data does not have counts as missing, without a word.
"""

{{about}}

import bz2
import codecs
import csv
import gzip
import io
import lzma
import re
import sys
import zipfile
import zlib
from collections import Counter
from datetime import datetime, timedelta

import numpy as np
{{imports}}

'''

#: How a model of public classes is asked, the way `msl.blocks.base.chain` asks it.
SCORES_OF_CLASSES = '''

def outputs(model, X):
    """A score for each row and class, the largest of which is the prediction."""
    try:
        return scores(model, X)
    except ValueError:  # a value is missing where the training data lacked none, and the model cannot take it
        return scores(model, np.where(np.isnan(X), MIDDLES, X))


def scores(model, X):
    known = np.asarray(model.classes_, dtype=int)
    lowest = 0.0
    if hasattr(model, "predict_proba"):
        said = np.asarray(model.predict_proba(X), dtype=float)
    elif hasattr(model, "decision_function"):
        said = np.asarray(model.decision_function(X), dtype=float)
        said = np.column_stack([-said, said]) if said.ndim == 1 else said
        lowest = min(0.0, said.min()) - 1.0
    else:
        said = (np.asarray(model.predict(X))[:, None] == known).astype(float)
    if len(known) == len(CLASSES):
        return said
    every = np.full((len(X), len(CLASSES)), lowest)  # a class that the training data lacks is never the prediction
    every[:, known] = said
    return every
'''
SCORES_OF_NUMBERS = '''

def outputs(model, X):
    """The number of each row."""
    try:
        return scores(model, X)
    except ValueError:  # a value is missing where the training data lacked none, and the model cannot take it
        return scores(model, np.where(np.isnan(X), MIDDLES, X))


def scores(model, X):
    return np.asarray(model.predict(X), dtype=float).reshape(len(X))
'''
DENSE = '''

def dense(columns):
    """Columns as a plain array of numbers, whatever a step makes of them."""
    return np.ascontiguousarray(columns.toarray() if hasattr(columns, "toarray") else columns, dtype=float)
'''
WORDS = '''

def words(columns, places):
    """Columns with the symbols at these places as texts; a missing one is an empty text."""
    made = columns.astype(object)
    for place in places:
        made[:, place] = ["" if np.isnan(code) else str(int(code)) for code in columns[:, place]]
    return made
'''

MAKE = '''

def make_model():
    """{{what}}"""
    return {{made}}
'''
FIT_ONE = '''

def fit(X, y):
    """The model, fitted on rows and their targets: numbers, or the places of classes."""
    return make_model().fit(X, y{{arguments}})
'''
FIT_ONE_WEIGHED = '''

def fit(X, y, weights):
    """The model, fitted on rows, their targets (numbers, or the places of classes) and their weights."""
    return fit_weighed(make_model(), X, y, weights{{arguments}})
'''
FIT_MEMBERS_WEIGHED = '''

def fit(X, y, weights):
    """The members, fitted on rows, their targets (numbers, or the places of classes) and their weights."""
    return [fit_weighed(member, X, y, weights) for member in make_model()]
'''
#: As `msl.blocks.base.row_weights` gives weights to a learner that holds no other.
FIT_WEIGHED = '''

def fit_weighed(model, X, y, weights, **more):
    """Fits the learner with the weights of rows; steps before it, and learners that take no weights, go without."""
    step, learner = model.steps[-1] if hasattr(model, "steps") else ("", model)
    if has_fit_parameter(learner, "sample_weight"):
        more["sample_weight"] = weights * more.get("sample_weight", 1.0)
    return model.fit(X, y, **{f"{step}__{name}" if step else name: value for name, value in more.items()})
'''
FIT_CHAIN_WEIGHED = '''

def fit(X, y, weights):
    """The model, fitted on rows, their targets (numbers, or the places of classes) and their weights."""
    model = make_model()
    model.fit_arrays(X, y, {{classes}}, weights)
    return model
'''
FIT_MEMBERS = '''

def fit(X, y):
    """The members, fitted on rows and their targets: numbers, or the places of classes."""
    return [member.fit(X, y) for member in make_model()]
'''
FIT_EACH_MEMBER = '''

def fit(X, y{{weights}}):
    """The members, fitted on rows and their targets: numbers, or the places of classes."""
    members = make_model()
    return [
{{calls}}    ]
'''
FIT_CHAIN = '''

def fit(X, y):
    """The model, fitted on rows and their targets: numbers, or the places of classes."""
    model = make_model()
    model.fit_arrays(X, y, {{classes}})
    return model
'''

PREDICT_CLASSES = '''

def predict(model, X):
    """The class of each row."""
    return np.array(CLASSES, dtype=object)[{{outputs}}.argmax(axis=1)]
'''
PREDICT_NUMBERS = '''

def predict(model, X):
    """The number of each row."""
    return {{outputs}}
'''

#: What members say together, the way `msl.blocks.ensembles` counts it.
VOTE_HARD = '''

def vote(members, X):
    """The share of the vote of each class. Of classes with as many votes, the one that the first member to vote for any
    of them has chosen is ahead."""
    rows = np.arange(len(X))
    chosen = [outputs(member, X).argmax(axis=1) for member in members]
    votes = np.zeros((len(X), len(CLASSES)))
    for one, weight in zip(chosen, np.array(WEIGHTS) / np.sum(WEIGHTS), strict=True):
        votes[rows, one] += weight
    tied = votes >= votes.max(axis=1, keepdims=True) - 1e-12
    settled = np.zeros(len(X), dtype=bool)
    for one in chosen:
        settles = tied[rows, one] & ~settled
        votes[rows[settles], one[settles]] += 1e-9
        settled |= settles
    return votes / votes.sum(axis=1, keepdims=True)
'''
_PROBABILITIES = '''

def probabilities(said, given):
    """Scores as probabilities: over their sum where they are meant as such, else by softmax."""
    raised = np.maximum(said, 0.0) if given else np.exp(said - said.max(axis=1, keepdims=True))
    return raised / raised.sum(axis=1, keepdims=True)
'''
VOTE_SOFT = (
    '''

def vote(members, X):
    """The mean of the members' probabilities."""
    said = [probabilities(outputs(member, X), given) for member, given in zip(members, GIVE_PROBABILITIES, strict=True)]
    return np.tensordot(np.array(WEIGHTS) / np.sum(WEIGHTS), np.array(said), axes=1)
'''
    + _PROBABILITIES
)
#: A last learner on what members say, whose fit is written as numbers: it saw outputs for rows held out.
STACK_CLASSES = (
    '''

def vote(members, X):
    """Probabilities by a linear learner, whose columns are the logarithms of the members' probabilities."""
    columns = []
    for member, given in zip(members, GIVE_PROBABILITIES, strict=True):
        logs = np.log(np.clip(probabilities(outputs(member, X), given), 1e-4, 1.0))
        columns.append(logs[:, 1:] - logs[:, :1] if len(CLASSES) == 2 else logs - logs.mean(axis=1, keepdims=True))
    said = np.hstack(columns) @ np.array(COEFFICIENTS).T + np.array(INTERCEPTS)
    return probabilities(np.hstack([np.zeros_like(said), said]) if len(CLASSES) == 2 else said, False)
'''
    + _PROBABILITIES
)
STACK_NUMBERS = '''

def vote(members, X):
    """A number by a linear learner on those of the members."""
    return np.column_stack([outputs(member, X) for member in members]) @ np.array(COEFFICIENTS) + INTERCEPTS
'''
VOTE_NUMBERS = '''

def vote(members, X):
    """The mean of the members."""
    said = [outputs(member, X) for member in members]
    return np.tensordot(np.array(WEIGHTS) / np.sum(WEIGHTS), np.array(said), axes=1)
'''

TEST = '''

def probes():
    """Rows that are made up, each column between its lowest and its highest value in the training data."""
    low, high = np.array(RANGES).T
    places = np.outer(np.arange(1, len(EXPECTED) + 1), 2 * np.arange(len(COLUMNS)) + 1)
    between = low + (high - low) * ((places * 0.6180339887498949) % 1.0)
    symbolic = [name in SYMBOLS for name in COLUMNS]
    return np.where(symbolic, np.rint(between), between)


def self_test(model):
    """Whether the model says of the probes what the winner of the run said."""
    said = predict(model, probes())
    return {{same}}
'''
SAME_CLASSES = "said.tolist() == EXPECTED"
SAME_NUMBERS = "np.allclose(said, EXPECTED, rtol=1e-6, atol=1e-9 * np.abs(EXPECTED).max())"
MAIN = """

def main(paths):
    if not paths:
        raise SystemExit("usage: python model.py TRAIN [NEW …]")
    try:
        rows = training_rows(paths[0])
        new = [features(read_table(path)) for path in paths[1:]]
    except (OSError, ValueError) as reason:
        raise SystemExit(f"error: {reason}") from None
    model = fit(*rows)
    same = self_test(model)
    print("the same predictions as the run" if same else "NOT the predictions of the run", file=sys.stderr)
    lines = csv.writer(sys.stdout, lineterminator="\\n")
    for rows in new:
        lines.writerow([TARGET])
        lines.writerows([said] for said in predict(model, rows).tolist())
    raise SystemExit(0 if same else 1)


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    main(sys.argv[1:])
"""


def reading_text() -> str:
    """The part of `exported_table` that stands in every exported file."""
    return inspect.getsource(table_reader).partition("# " + "=" * 118 + "\n")[2]


def reserved_names() -> set[str]:
    """What an exported file calls something of its own, so that no class is imported under the same name."""
    texts = [text for name, text in globals().items() if name.isupper() and isinstance(text, str)]
    found = re.findall(r"^(?:def|class|import) (\w+)|^(\w+) = ", "\n".join([*texts, reading_text()]), re.MULTILINE)
    constants = [name for name in vars(table_reader) if name.isupper()]
    others = ["np", "RANGES", "EXPECTED", "MIDDLES", "WEIGHTS", "GIVE_PROBABILITIES", "COEFFICIENTS", "INTERCEPTS"]
    return {*dir(builtins), *constants, *others, *(name for pair in found for name in pair if name)}
