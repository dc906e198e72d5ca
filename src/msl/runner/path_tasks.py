"""Put the models of a path into one task, and take its outcome apart again."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from msl.evaluate.cross_validate import EvaluationRequest, PathRequest
from msl.evaluate.outcome import Outcome
from msl.evaluate.resampling import draws_own_splits
from msl.space.best import MOST_TRIED
from msl.space.fit_costs import path_value, without_path_value
from msl.space.spec import OF_WHOLE_MODEL, Metric, Objective
from msl.workers.task import failed


def may_share_fits(objectives: Sequence[Objective], metrics: Sequence[Metric]) -> bool:
    """Whether models that differ in a path parameter alone are fitted on the same rows, and none needs its own fit: to
    be timed, or to be measured on all rows."""
    estimates = [objective.estimate for objective in objectives]
    needs_own_fit = any(metric.needs in ("time", *OF_WHOLE_MODEL) for metric in metrics)
    return not needs_own_fit and not any(draws_own_splits(each) or each.shortcut == "gcv" for each in estimates)


@dataclass(frozen=True, slots=True)
class TaskGroup:
    """A task, and the places of the evaluations that it answers."""

    task: EvaluationRequest | PathRequest
    places: tuple[int, ...]

    def outcomes(self, outcome: Outcome, n_losses: int) -> Iterator[tuple[int, Outcome]]:
        """The places of the evaluations and their outcomes.

        A path fails as a whole if it runs into a limit or its process ends. Its evaluations have then failed with it,
        but for those that are left to do.
        """
        if not isinstance(self.task, PathRequest):
            yield self.places[0], outcome
        elif outcome.failure is None:
            yield from zip(self.places, outcome.product, strict=True)
        else:
            reason = f"one fit for {len(self.places)} values of `{self.task.parameter}`: {outcome.failure.message}"
            nothing = failed(n_losses, replace(outcome.failure, message=reason))
            chosen = _spread(len(self.places))
            yield from ((place, nothing) for index, place in enumerate(self.places) if index not in chosen)

    def after(self, outcome: Outcome) -> list[TaskGroup]:
        """What is left to do: where a path has failed, as many of its evaluations as there would be without it."""
        if not isinstance(self.task, PathRequest) or outcome.failure is None:
            return []
        chosen = _spread(len(self.places))
        return [TaskGroup(self.task.requests[index], (self.places[index],)) for index in sorted(chosen)]


def _spread(count: int) -> set[int]:
    """All of so many places, or as many as are tried without a path."""
    if count <= MOST_TRIED:
        return set(range(count))
    return {round(share * (count - 1) / (MOST_TRIED - 1)) for share in range(MOST_TRIED)}


def task_groups(requests: Sequence[EvaluationRequest], parameters: Sequence[str | None]) -> list[TaskGroup]:
    """The tasks of evaluations, each with its path parameter if it may share its fits with others."""
    places: dict[object, list[int]] = {}
    for place, (request, parameter) in enumerate(zip(requests, parameters, strict=True)):
        key: object = place
        if parameter is not None:
            key = (without_path_value(request.model, parameter), parameter, request.share, request.repeat)
        places.setdefault(key, []).append(place)
    return [_group(requests, parameters[found[0]], found) for found in places.values()]


def _group(requests: Sequence[EvaluationRequest], parameter: str | None, places: list[int]) -> TaskGroup:
    if parameter is None or len(places) < 2:
        return TaskGroup(requests[places[0]], (places[0],))
    name = parameter

    def value(place: int) -> float:
        found = path_value(requests[place].model, name)
        return found if isinstance(found, int | float) else math.inf

    ordered = sorted(places, key=value)
    return TaskGroup(PathRequest(tuple(requests[place] for place in ordered), name), tuple(ordered))
