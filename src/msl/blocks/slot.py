"""The slot: a parameter of a block that is itself a small block, given as an instance or by its catalogue name."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, ClassVar, TypeVar

from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import StrOptions, validate_parameter_constraints


class Filling(BaseEstimator):
    """A small block that fills a slot: parameters and no state, so that one instance may serve many learners."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {}

    def check(self) -> None:
        """Complains about parameters that are out of range."""
        if self._parameter_constraints:
            params = self.get_params(deep=False)
            validate_parameter_constraints(self._parameter_constraints, params, caller_name=type(self).__name__)

    def identity(self) -> Hashable:
        """Equal for two fillings that do the same."""
        return type(self), *vars(self).values()


Kind = TypeVar("Kind", bound=Filling)


def filled(value: Any, choices: Mapping[str, type[Kind]], kind: type[Kind], slot: str) -> Kind:
    """The block that `value` stands for: itself, or a new one with defaults when `value` is a name."""
    if isinstance(value, kind):
        return value
    if isinstance(value, str) and value in choices:
        return choices[value]()
    raise ValueError(f"{slot} must be one of {', '.join(choices)} or an instance of {kind.__name__}; got {value!r}")


def slot_constraint(choices: Mapping[str, type[Kind]], kind: type[Kind]) -> list[Any]:
    """The scikit-learn parameter constraint of such a slot."""
    return [StrOptions(set(choices)), kind]
