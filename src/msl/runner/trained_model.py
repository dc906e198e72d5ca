"""Predict with the winner of a run, save it and load it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from msl.blocks.base.block import Floats
from msl.blocks.base.chain import probabilities
from msl.blocks.base.check_outputs import BadOutputs
from msl.blocks.base.load import is_raised_by_estimator
from msl.data.derived_columns import DATE_PARTS, DateColumns, Derived, WordColumns
from msl.data.infer_types import Kind
from msl.data.options import DataOptions
from msl.data.read import read_like
from msl.data.table import Column, Schema, Table
from msl.diagnostics.user_error import UserError
from msl.runner.choose_members import EnsembleMembers
from msl.runner.plan import Plan
from msl.runner.safe_load import ModelFileError, load_estimator
from msl.runner.versions import versions_of_packages
from msl.space.formulas import Task
from msl.space.to_text import model_to_file_text, model_to_text
from msl.space.values import Model
from msl.store.store import Files, write_atomically
from msl.store.store_error import translated

_ADVICE = "leave those rows out, or look at what is odd about them"


class PredictionError(UserError):
    """A table, or some rows of it, that a trained model cannot predict."""


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """A fitted model or ensemble that reads tables as the one it was trained on."""

    #: The model in the MSL language, as a complete file.
    text: str
    schema: Schema
    #: It takes the array of a table and gives the codes of classes.
    estimator: Any
    #: The lowest and the highest value of each feature in the training rows; NaN if all values are missing.
    ranges: Floats
    #: The versions of the packages that predictions depend on, at the time of training.
    versions: Mapping[str, str]

    @property
    def task(self) -> Task:
        return self.schema.task

    def read(self, source: Any, with_target: bool = True) -> Table:
        """Reads a file, an array or a frame as the training table was read; raises DataError if that is impossible.

        Without `with_target` its target is ignored.
        """
        return read_like(self.schema, source, with_target=with_target)

    def new_gaps(self, table: Table) -> list[str]:
        """The columns with missing values that had none in training."""
        first = getattr(self.estimator, "members", [self.estimator])[0]
        middles = getattr(first, "middles_", None)  # models of earlier versions do not have the attribute
        if middles is None:
            return []
        new = np.isnan(table.X).any(axis=0) & ~np.isnan(middles)
        return [name for name, is_new in zip(self.schema.names, new, strict=True) if is_new]

    def predict(self, table: Table) -> NDArray[Any]:
        """The label of each row, as it is written in the training table; for regression a number.

        Raises PredictionError if the model cannot predict some rows.
        """
        outputs = self._outputs(table)
        if self.task == "regression":
            numbers: Floats = np.asarray(outputs)
            return numbers
        winners: NDArray[Any] = self.labels()[outputs.argmax(axis=1)]
        return winners

    def predict_proba(self, table: Table) -> Floats:
        """The probability of each class for each row, in the order of the labels."""
        if self.task == "regression":
            raise UserError("a model of numbers has no probabilities of classes")
        return probabilities(self._outputs(table))

    def _outputs(self, table: Table) -> Floats:
        try:
            outputs: Floats = self.estimator.outputs(table.X)
        except BadOutputs as wrong:
            raise PredictionError(f"the model predicts nothing for some rows: {wrong.in_full()}", _ADVICE) from None
        except Exception as reason:
            if not isinstance(reason, UserError) and not is_raised_by_estimator(reason):
                raise  # our own blocks refuse rows with a UserError: anything else is a bug
            words = (str(reason).strip() or "no words").splitlines()[0]
            raise PredictionError(f"the model cannot predict this table: {words}", _ADVICE) from reason
        return outputs

    def labels(self) -> NDArray[Any]:
        """The classes in the order of their codes; of two, the positive one is the last."""
        labels = np.empty(len(self.schema.classes), dtype=object)
        labels[:] = self.schema.classes
        return labels


def trained_model(plan: Plan, model: Model, estimator: Any, members: EnsembleMembers | None = None) -> Trained:
    """A model that is fitted on all rows; with `members`, the ensemble of which it is the best model."""
    text = model_to_file_text(model, plan.spec.name)
    if members is not None:
        votes = zip(members.weights, members.candidates, strict=True)
        listed = "".join(f"# {weight:g} × {model_to_text(one.model)}\n" for weight, one in votes)
        count = len(members.candidates)
        kind = "stack" if members.final is not None else "soft vote" if members.voting == "soft" else "vote"
        text += f"\n# What predicts is a {kind} of {count} models; the one above is the best alone.\n{listed}"
    versions = dict(versions_of_packages(frozenset({"msl"})))
    return Trained(text, plan.table.schema, estimator, _ranges(plan.table.X), versions)


def _ranges(X: Floats) -> Floats:
    """The lowest and the highest value of each column; numpy's `nanmin` would warn about empty columns."""
    missing = np.isnan(X)
    lows = np.where(missing, np.inf, X).min(axis=0)
    highs = np.where(missing, -np.inf, X).max(axis=0)
    bounds = np.column_stack([lows, highs])
    bounds[~np.isfinite(bounds)] = np.nan
    return bounds


# --- The schema of a table as JSON, checked when it is read. ----------------------------------------------------------


_LISTS = ("ignore", "missing", "categorical", "numeric", "dates", "text")


def schema_to_record(schema: Schema) -> dict[str, Any]:
    options = {field.name: getattr(schema.options, field.name) for field in fields(DataOptions)}
    return {
        "columns": [
            {"name": column.name, "kind": column.kind}
            | ({"symbols": list(column.categories)} if column.kind != "numeric" else {})
            for column in schema.columns
        ],
        "target": schema.target,
        "task": schema.task,
        "classes": list(schema.classes),
        "options": {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in options.items()
            if value is not None
        },
        "derived": [_derived_record(one) for one in schema.derived],
    }


def record_to_schema(record: Mapping[str, Any]) -> Schema:
    """The inverse of `schema_to_record`; raises ValueError, KeyError or TypeError for any other record."""
    columns = tuple(_column(each) for each in record["columns"])
    task, classes = record["task"], tuple(_label(label) for label in record["classes"])
    if task not in ("classification", "regression") or (task == "regression") == bool(classes):
        raise ValueError(f"the task {task!r} does not fit {len(classes)} classes")
    options = dict(record["options"])
    options.update({name: tuple(options[name]) for name in _LISTS if name in options})
    if "ordered" in options:
        options["ordered"] = tuple(tuple(map(_text, order)) for order in options["ordered"])
    derived = tuple(_derived(each) for each in record.get("derived", ()))  # models of earlier versions have none
    schema = Schema(columns, _text(record["target"]), task, classes, DataOptions(**options), derived)
    if not {name for one in derived for name in one.names} <= set(schema.names):
        raise ValueError("columns are made of others that the model does not have")
    return schema


def _derived_record(one: Derived) -> dict[str, Any]:
    if isinstance(one, DateColumns):
        return {"date": one.source, "parts": list(one.parts), "day_first": one.day_first}
    return {"text": one.source, "words": list(one.words)}


def _derived(record: Mapping[str, Any]) -> Derived:
    if "text" in record:
        return WordColumns(_text(record["text"]), tuple(map(_text, record["words"])))
    parts = tuple(map(_text, record["parts"]))
    if not parts or not set(parts) <= set(DATE_PARTS):
        raise ValueError(f"{parts!r} are not parts of a date")
    return DateColumns(_text(record["date"]), parts, bool(record["day_first"]))


def _column(record: Mapping[str, Any]) -> Column:
    kind = record["kind"]
    if kind not in get_args(Kind):
        raise ValueError(f"{kind!r} is not a kind of column")
    symbols = tuple(map(_text, record["symbols"])) if kind != "numeric" else ()
    return Column(_text(record["name"]), kind, symbols)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a text")
    return value


def _label(value: Any) -> str | int | float:
    if not isinstance(value, str | int | float):
        raise TypeError(f"{value!r} is not a label")
    return value


# --- The files of a winner: its model as MSL, the schema of its table as JSON, its estimator as skops. ----------------
#
# The three files are named after the run. The JSON file is written last and has the digest of the estimator's file: a
# model without it counts as missing.


FORMAT = 1
#: A part of the names of files: those of the best model alone, if an ensemble is used.
BEST_ALONE = ".best"


def save_trained(files: Files, run: str, trained: Trained, part: str = "") -> Path:
    """Writes the three files of a model and returns the path of the estimator. `part` is "" or `BEST_ALONE`."""
    path = files.model(run, f"{part}.skops")
    content = estimator_bytes(trained)
    with translated(path):
        files.create()
    write_atomically(path, content)
    write_atomically(files.model(run, f"{part}.msl"), trained.text)
    described = json.dumps(_record(trained, content), ensure_ascii=False, indent=1)
    write_atomically(files.model(run, f"{part}.json"), f"{described}\n")
    return path


def load_trained(files: Files, run: str, trusted: Collection[str] = (), *, best: bool = False) -> Trained:
    """Loads the model of a run from files that are not trusted; raises ModelFileError if they cannot be used.

    With `best` it is the best model alone, even if the run uses an ensemble.
    """
    part = BEST_ALONE if best and files.model(run, f"{BEST_ALONE}.json").exists() else ""
    path, described = files.model(run, f"{part}.skops"), files.model(run, f"{part}.json")
    if not described.exists():
        raise ModelFileError(f"the run `{run}` has saved no model", "let it come to its end with `msl run`")
    record = _read_record(described)
    content, text = _read(path), _read(files.model(run, f"{part}.msl"))
    if hashlib.sha256(content).hexdigest() != record.get("sha256"):
        raise ModelFileError(f"{path} is not the file that the run saved", "run `msl run` again to train it anew")
    estimator = load_estimator(content, str(path), trusted)
    if best and not part and hasattr(estimator, "members"):
        message = f"the run `{run}` saved its ensemble only, as runs did before the best model was saved beside it"
        raise ModelFileError(message, "run `msl run` again, which evaluates nothing anew")
    try:
        schema = record_to_schema(record["schema"])
        ranges = np.array(record["ranges"], dtype=np.float64).reshape(-1, 2)
        versions = {str(name): str(version) for name, version in record["versions"].items()}
        trained = Trained(text.decode(), schema, estimator, ranges, versions)
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as reason:
        raise _unreadable(described, reason) from None
    if len(ranges) != len(schema.columns) or getattr(estimator, "n_classes_", None) != len(schema.classes):
        raise _unreadable(described, ValueError("it does not fit its model"))
    return trained


def estimator_bytes(trained: Trained) -> bytes:
    """The estimator as a skops file, whose `predict` returns the labels of the table."""
    import skops.io  # here, because it takes a second

    estimator = trained.estimator
    estimator.n_features_in_ = len(trained.schema.columns)
    if trained.schema.classes:
        estimator.classes_ = np.array(trained.schema.classes)
    content: bytes = skops.io.dumps(estimator)
    return content


def _record(trained: Trained, content: bytes) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "sha256": hashlib.sha256(content).hexdigest(),
        "schema": schema_to_record(trained.schema),
        "ranges": [[None if np.isnan(end) else end for end in pair] for pair in trained.ranges.tolist()],
        "versions": dict(trained.versions),
    }


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as reason:
        raise _unreadable(path, reason) from None


def _read_record(path: Path) -> Mapping[str, Any]:
    try:
        record = json.loads(_read(path))
    except (ValueError, RecursionError) as reason:
        raise _unreadable(path, reason) from None
    if not isinstance(record, dict) or not isinstance(record.get("format"), int):
        raise _unreadable(path, ValueError("it does not describe a model"))
    if record["format"] > FORMAT:
        raise ModelFileError(f"{path} was written by a newer version of MSL", "update MSL to use it")
    return record


def _unreadable(path: Path, reason: Exception) -> ModelFileError:
    message = reason.strerror if isinstance(reason, OSError) else str(reason)
    return ModelFileError(f"{path} cannot be read: {message}", "run `msl run` again to train the model anew")


def other_versions(trained: Trained) -> dict[str, tuple[str, str]]:
    """The packages whose version differs from that at the time of training: the version then, and now."""
    now = versions_of_packages(frozenset({"msl"}))
    return {name: (was, now[name]) for name, was in trained.versions.items() if now.get(name, was) != was}
