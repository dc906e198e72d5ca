"""Measure: what a model is judged by, for which task, and which way is better."""

from __future__ import annotations

from msl.text.record import record


@record
class Measure:
    """`of_model` measures look at the fitted model itself, the others at its outputs.

    Those that are `of_probabilities` look at how sure a classifier is of a row, the others at the class it names.
    """

    name: str
    meaning: str
    task: str | None = None
    larger_is_better: bool = False
    of_model: bool = False
    of_probabilities: bool = False
    #: Whether a spec may name it; others stand for a measure that `data(…)` changes.
    is_named: bool = True


MEASURES = {
    measure.name: measure
    for measure in (
        Measure("ber", "balanced error rate: the mean of the classes' error rates", "classification"),
        Measure("error", "share of rows classified wrongly", "classification"),
        Measure("logloss", "mean negative log probability of the true class", "classification", of_probabilities=True),
        Measure("auc", "area under the ROC curve", "classification", larger_is_better=True, of_probabilities=True),
        Measure("f1", "harmonic mean of precision and recall, the mean over classes", "classification", True),
        Measure("positive_f1", "f1 of the positive class", "classification", True, is_named=False),
        Measure("mcc", "Matthews correlation coefficient", "classification", larger_is_better=True),
        Measure("relative_error", "error over the error with all features", "classification"),
        Measure("mse", "mean squared error", "regression"),
        Measure("rmse", "root mean squared error", "regression"),
        Measure("mae", "mean absolute error", "regression"),
        Measure("r2", "share of the variance explained", "regression", larger_is_better=True),
        Measure("features", "number of features that the learner sees", of_model=True),
        Measure("feature_share", "share of the features that the learner sees", of_model=True),
        Measure("complexity", "what Occam compares, as each block counts it", of_model=True),
        Measure("fit_time", "seconds for one fit", of_model=True),
    )
}
#: What a measure means where `data(positive = …)` says which class counts.
OF_POSITIVE = {"f1": "positive_f1"}
DEFAULT_MEASURES = {"classification": "ber", "regression": "rmse"}
