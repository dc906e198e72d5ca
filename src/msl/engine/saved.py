"""Saved: a trained winner on disk — its model as MSL, the schema of its table as JSON, its estimator through skops.

The three files stand side by side in the store, named after the run. The JSON is written last and knows the digest of
the estimator's file, so a model is there as a whole or not at all.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from msl.engine.safe_load import ModelProblem, load_estimator
from msl.engine.schema_record import record_to_schema, schema_to_record
from msl.engine.trained import Trained
from msl.engine.versions import versions_of_packages
from msl.runs.files import Files, write_whole
from msl.runs.problem import translated

FORMAT = 1
#: What stands between the id of a run and the ends of the files of its best model alone, where an ensemble is used.
BEST_ALONE = ".best"


def save_trained(files: Files, run: str, trained: Trained, part: str = "") -> Path:
    """Writes the three files of a model; the path of the estimator's. `part` is "" or `BEST_ALONE`."""
    path = files.model(run, f"{part}.skops")
    content = estimator_bytes(trained)
    with translated(path):
        files.create()
    write_whole(path, content)
    write_whole(files.model(run, f"{part}.msl"), trained.text)
    described = json.dumps(_record(trained, content), ensure_ascii=False, indent=1)
    write_whole(files.model(run, f"{part}.json"), f"{described}\n")
    return path


def load_trained(files: Files, run: str, trusted: Collection[str] = (), *, best: bool = False) -> Trained:
    """The model of a run, from files that need not be ours; raises ModelProblem where they cannot be used.

    With `best` it is the best model alone, also where the run found its ensemble to be better.
    """
    part = BEST_ALONE if best and files.model(run, f"{BEST_ALONE}.json").exists() else ""
    path, described = files.model(run, f"{part}.skops"), files.model(run, f"{part}.json")
    if not described.exists():
        raise ModelProblem(f"the run `{run}` has saved no model", "let it come to its end with `msl run`")
    record = _read_record(described)
    content, text = _read(path), _read(files.model(run, f"{part}.msl"))
    if hashlib.sha256(content).hexdigest() != record.get("sha256"):
        raise ModelProblem(f"{path} is not the file that the run saved", "run `msl run` again to train it anew")
    estimator = load_estimator(content, str(path), trusted)
    if best and not part and hasattr(estimator, "members"):
        message = f"the run `{run}` saved its ensemble only, as runs did before the best model was saved beside it"
        raise ModelProblem(message, "run `msl run` again, which evaluates nothing anew")
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
    """The estimator as skops writes it, ready to predict on its own with `predict` and the labels of the table."""
    import skops.io  # here, because it takes a second, and a run has other things to do first

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
        raise ModelProblem(f"{path} was written by a newer version of MSL", "update MSL to use it")
    return record


def _unreadable(path: Path, reason: Exception) -> ModelProblem:
    said = reason.strerror if isinstance(reason, OSError) else str(reason)
    return ModelProblem(f"{path} cannot be read: {said}", "run `msl run` again to train the model anew")


def other_versions(trained: Trained) -> dict[str, tuple[str, str]]:
    """Packages whose version is not the one that the model was trained with: then and now."""
    now = versions_of_packages(frozenset({"msl"}))
    return {name: (was, now[name]) for name, was in trained.versions.items() if now.get(name, was) != was}
