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

from msl.engine.ensembles import Members
from msl.engine.plan import Plan
from msl.engine.safe_load import ModelProblem, load_estimator
from msl.engine.schema_record import record_to_schema, schema_to_record
from msl.engine.trained import Trained, train_winner
from msl.engine.verdict import Verdict
from msl.engine.versions import versions_of_packages
from msl.runs.files import Files, write_whole
from msl.runs.problem import translated

FORMAT = 1


def save_winner(files: Files, run: str, plan: Plan, verdict: Verdict, members: Members | None) -> Trained | None:
    """Trains the winner of a run, or its ensemble, on every row and saves it; None when there is no winner."""
    trained = train_winner(plan, verdict, members)
    if trained is not None:
        save_trained(files, run, trained)
    return trained


def save_trained(files: Files, run: str, trained: Trained) -> Path:
    """Writes the three files of a model; the path of the estimator's."""
    path = files.model(run)
    content = estimator_bytes(trained)
    with translated(path):
        files.create()
    write_whole(path, content)
    write_whole(files.model(run, ".msl"), trained.text)
    write_whole(files.model(run, ".json"), json.dumps(_record(trained, content), ensure_ascii=False, indent=1) + "\n")
    return path


def load_trained(files: Files, run: str, trusted: Collection[str] = ()) -> Trained:
    """The model of a run, from files that need not be ours; raises ModelProblem where they cannot be used."""
    path = files.model(run)
    if not files.model(run, ".json").exists():
        raise ModelProblem(f"the run `{run}` has saved no model", "let it come to its end with `msl run`")
    record = _read_record(files.model(run, ".json"))
    content, text = _read(path), _read(files.model(run, ".msl"))
    if hashlib.sha256(content).hexdigest() != record.get("sha256"):
        raise ModelProblem(f"{path} is not the file that the run saved", "run `msl run` again to train it anew")
    estimator = load_estimator(content, str(path), trusted)
    try:
        schema = record_to_schema(record["schema"])
        ranges = np.array(record["ranges"], dtype=np.float64).reshape(-1, 2)
        versions = {str(name): str(version) for name, version in record["versions"].items()}
        trained = Trained(text.decode(), schema, estimator, ranges, versions)
    except (KeyError, TypeError, ValueError, AttributeError) as reason:
        raise _unreadable(files.model(run, ".json"), reason) from None
    if len(ranges) != len(schema.columns) or getattr(estimator, "n_classes_", None) != len(schema.classes):
        raise _unreadable(files.model(run, ".json"), ValueError("it does not fit its model"))
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
    except ValueError as reason:
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
