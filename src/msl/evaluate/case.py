"""Case: one request to judge a model, and what has been found out about it so far."""

from __future__ import annotations

from dataclasses import dataclass, field

from msl.evaluate.diary import Diary, FitFigures
from msl.evaluate.generalised import Generalisation
from msl.evaluate.plan import Plan, Planner
from msl.space.digest import model_digest
from msl.space.spec import Call
from msl.space.value import Model


@dataclass(frozen=True, slots=True)
class Request:
    """A model to judge.

    `beat` is the loss that would matter: at or above it, a bound will do. `share` is the share of the rows to judge on.
    `turn` tells evaluations of one model apart where each draws its own split.
    """

    model: Model
    beat: float | None = None
    share: float = 1.0
    turn: int = 0


@dataclass(slots=True)
class Case:
    """`figures` are those of the fits of each estimate; `generalised` is what was judged together with siblings."""

    request: Request
    digest: str
    diary: Diary
    figures: dict[Call, FitFigures] = field(default_factory=dict)
    generalised: dict[Call, Generalisation] = field(default_factory=dict)
    _plan: Plan | None = None

    @classmethod
    def of(cls, request: Request, diary: Diary) -> Case:
        return cls(request, model_digest(request.model), diary)

    @property
    def stream(self) -> int:
        """A number that stands for the model, to draw its own splits from."""
        return int(self.digest[:15], 16)

    def plan(self, planner: Planner) -> Plan:
        """The plan of the model, made once; raises BlockProblem when there is none."""
        if self._plan is None:
            self._plan = planner.plan(self.request.model)
        return self._plan
