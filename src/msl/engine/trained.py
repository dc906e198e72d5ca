"""Trained: the winner of a run, fitted on every row of its table, with all that is needed to predict other tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from msl.blocks.array_model import probabilities
from msl.blocks.base import Floats
from msl.blocks.outputs import BadOutputs
from msl.engine.ensembles import Members
from msl.engine.plan import Plan
from msl.engine.versions import versions_of_packages
from msl.evaluate.read import read_like
from msl.evaluate.table import Schema, Table
from msl.space.facts import Task
from msl.space.spell import spell_model, spell_model_file
from msl.space.value import Model


class PredictionError(ValueError):
    """Why a trained model has nothing to say of a table, in a sentence."""


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """A fitted model or ensemble that reads tables as the one it was trained on."""

    #: The model as MSL, a file that stands on its own.
    text: str
    schema: Schema
    #: Takes the arrays of a table, gives classes by their codes.
    estimator: Any
    #: For each feature the lowest and the highest value of the training rows, NaN where they have none.
    ranges: Floats
    #: Packages that the predictions depend on, as they were when it was trained.
    versions: Mapping[str, str]

    @property
    def task(self) -> Task:
        return self.schema.task

    def read(self, source: Any, is_judged: bool = True) -> Table:
        """A file, an array or a frame, read as the training table was; raises DataError where that cannot be.

        Without `is_judged` its target is not looked at, if it has one.
        """
        return read_like(self.schema, source, is_judged=is_judged)

    def new_gaps(self, table: Table) -> list[str]:
        """The columns with missing values that had none in training."""
        first = getattr(self.estimator, "members", [self.estimator])[0]
        middles = getattr(first, "middles_", None)  # models saved before there were any have none
        if middles is None:
            return []
        new = np.isnan(table.X).any(axis=0) & ~np.isnan(middles)
        return [name for name, is_new in zip(self.schema.names, new, strict=True) if is_new]

    def predict(self, table: Table) -> NDArray[Any]:
        """The label of each row, as the training table writes it; for regression a number.

        Raises PredictionError where the model gives some row neither.
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
            raise ValueError("a model of numbers has no probabilities of classes")
        return probabilities(self._outputs(table))

    def _outputs(self, table: Table) -> Floats:
        try:
            outputs: Floats = self.estimator.outputs(table.X)
        except BadOutputs as wrong:
            raise PredictionError(f"the model predicts nothing for some rows: {wrong.in_full()}") from None
        except Exception as reason:
            if _is_our_bug(reason):
                raise
            words = (str(reason).strip() or "no words").splitlines()[0]
            raise PredictionError(f"the model cannot be asked of this table: {words}") from reason
        return outputs

    def labels(self) -> NDArray[Any]:
        """The classes, of two the positive one last."""
        labels = np.empty(len(self.schema.classes), dtype=object)
        labels[:] = self.schema.classes
        return labels


def _is_our_bug(reason: Exception) -> bool:
    """Whether what went wrong is neither a foreign class nor a value that a block refuses in so many words."""
    frame = reason.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    place = "" if frame is None else str(frame.tb_frame.f_globals.get("__name__", ""))
    refused = isinstance(reason, ValueError) and place.startswith("msl.blocks.")
    return place.partition(".")[0] in ("msl", "numpy", "scipy") and not refused


def trained_model(plan: Plan, model: Model, estimator: Any, members: Members | None = None) -> Trained:
    """A model, or the ensemble whose best model it is, that is fitted on every row."""
    text = spell_model_file(model, plan.spec.name)
    if members is not None:
        votes = zip(members.weights, members.candidates, strict=True)
        listed = "".join(f"# {weight:g} × {spell_model(one.model)}\n" for weight, one in votes)
        count = len(members.candidates)
        kind = "soft vote" if members.voting == "soft" else "vote"
        text += f"\n# What predicts is a {kind} of {count} models; the one above is the best alone.\n{listed}"
    versions = dict(versions_of_packages(frozenset({"msl"})))
    return Trained(text, plan.table.schema, estimator, _ranges(plan.table.X), versions)


def _ranges(X: Floats) -> Floats:
    """The bounds of each column, without a warning for those that hold nothing."""
    missing = np.isnan(X)
    lows = np.where(missing, np.inf, X).min(axis=0)
    highs = np.where(missing, -np.inf, X).max(axis=0)
    bounds = np.column_stack([lows, highs])
    bounds[~np.isfinite(bounds)] = np.nan
    return bounds
