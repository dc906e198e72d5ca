"""Weights of rows: which learners take them, and how they reach learners inside other learners.

As in a pipeline of scikit-learn, weights are for the fit of learners; steps before and after a learner count all rows
the same. A learner that holds others, such as a stack, hands the weights to those inside that take them.
"""

from __future__ import annotations

from collections.abc import Iterator
from inspect import signature
from typing import Any

from numpy.typing import ArrayLike
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.ensemble import BaseEnsemble
from sklearn.metrics import get_scorer
from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.validation import has_fit_parameter


def counts_rows(learner: Any, weights: Any) -> bool:
    """Whether there are weights and the fit of this learner depends on them."""
    return weights is not None and takes_weights(learner)


def takes_weights(learner: Any) -> bool:
    """Whether the fit of a learner, or of one inside it, can count rows by weights."""
    if isinstance(known := getattr(learner, "takes_weights", None), bool):  # a block of ours
        return known
    if not routes_weights(learner):
        return bool(has_fit_parameter(learner, "sample_weight"))
    return any(takes_weights(inner) for inner in _inner(learner) if _predicts(inner))


def class_takes_weights(found: type) -> bool:
    """Whether instances may take weights: those of a class that hands them on do if a learner inside does."""
    known = getattr(found, "takes_weights", None)
    if known is not None:
        return not isinstance(known, bool) or known
    parameters = signature(found.fit).parameters  # type: ignore[attr-defined]
    return "sample_weight" in parameters or any(one.kind is one.VAR_KEYWORD for one in parameters.values())


def fit_with_weights(learner: Any, X: ArrayLike, y: ArrayLike, weights: ArrayLike | None) -> None:
    """Fits a learner of scikit-learn or of the user, for which `takes_weights` is true."""
    if not routes_weights(learner):
        learner.fit(X, y, sample_weight=weights)
        return
    with config_context(enable_metadata_routing=True):
        scorings = _weighed_scorings(learner)
        request_weights(learner)
        try:
            learner.fit(X, y, sample_weight=weights)
        finally:
            for inner, scoring in scorings:  # as they were written, so that they can be exported
                inner.scoring = scoring
            _forget_requests(learner, set())


def _forget_requests(thing: Any, seen: set[int]) -> None:
    """Takes the requests out of a fitted learner and of all that it holds: they cannot be saved."""
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, list | tuple | dict):
        for one in thing.values() if isinstance(thing, dict) else thing:
            _forget_requests(one, seen)
    elif isinstance(thing, BaseEstimator) or hasattr(thing, "_metadata_request"):
        vars(thing).pop("_metadata_request", None)
        for one in vars(thing).values():
            _forget_requests(one, seen)


def _weighed_scorings(learner: Any) -> list[tuple[Any, str]]:
    """Lets the scorers of learners such as `TunedThresholdClassifierCV` weigh rows, and returns what they were."""
    named = [one for one in (learner, *_all_inside(learner)) if isinstance(getattr(one, "scoring", None), str)]
    found = [(one, one.scoring) for one in named if routes_weights(one)]
    for one, scoring in found:
        one.scoring = get_scorer(scoring).set_score_request(sample_weight=True)
    return found


def request_weights(learner: Any) -> None:
    """Says of a learner and of all estimators inside it, while metadata is routed, that learners want the weights."""
    for inner in (learner, *_all_inside(learner)):
        if hasattr(inner, "set_fit_request") and has_fit_parameter(inner, "sample_weight"):
            inner.set_fit_request(sample_weight=_predicts(inner))


def without_weights(*names: str) -> str:
    """What is said of learners that cannot take weights."""
    if len(names) == 1:
        return f"`{names[0]}` takes no weights of rows: it is fitted without them, and scored with them"
    listed = f"{', '.join(f'`{name}`' for name in names[:-1])} and `{names[-1]}`"
    return f"{listed} take no weights of rows: they are fitted without them, and scored with them"


def routes_weights(learner: Any) -> bool:
    """Whether a learner only hands weights on, by the metadata routing of scikit-learn."""
    if not isinstance(learner, BaseEstimator) or not _inner(learner):
        return False
    if _draws_by_weight(learner):
        return False
    with config_context(enable_metadata_routing=True):
        return isinstance(learner.get_metadata_routing(), MetadataRouter)


def _draws_by_weight(learner: Any) -> bool:
    """Whether an ensemble of scikit-learn deals with the weights itself, and whatever its members can take."""
    return isinstance(learner, BaseEnsemble) and bool(has_fit_parameter(learner, "sample_weight"))


def _predicts(estimator: Any) -> bool:
    return hasattr(estimator, "predict") or hasattr(estimator, "steps")


def _inner(learner: Any) -> list[Any]:
    """The estimators among the parameters of a learner, and those in lists among them."""
    return list(_estimators(list(learner.get_params(deep=False).values())))


def _estimators(values: list[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, BaseEstimator):
            yield value
        elif isinstance(value, list | tuple):
            yield from _estimators(list(value))


def _all_inside(learner: Any) -> Iterator[Any]:
    for inner in _inner(learner):
        yield inner
        yield from _all_inside(inner)
