"""What a strategy or an ensemble declares about itself in its catalogue, beside its options.

The declaration is the only place that says so: `check`, `run` and the reports ask this record, never for a name. The
fields are written with `=` in the declaration, and `msl.check.names.capabilities` reads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msl.record import record
from msl.space.formulas import Amount, Exact, Formula, apply

#: How many objectives the words of a declaration stand for: the fewest, and the most (None is no limit).
OBJECTIVES: Mapping[str, tuple[int, int | None]] = {
    "one": (1, 1),
    "two": (2, 2),
    "several": (2, None),
    "any": (1, None),
}
#: What a formula can use besides the options: the number of models of the space, where that is known.
MODELS = "models"


@record
class DecidingComplexity:
    """The value of an option with which the complexity of models decides, and another with which it does not."""

    option: str
    value: str
    instead: str | None = None


@record
class Capabilities:
    """Strategies and ensembles that declare nothing have these defaults.

    objectives   how many objectives a strategy takes: the fewest, and the most (None is no limit)
    queries      how many evaluations its options make, at least and at most: formulas over its options and `models`
    ends_early   the options that, if they are not `none`, let it end before that
    reevaluates  the option that says how often it evaluates models of earlier stages again, on new splits; None if it
                 searches
    leaves       what it leaves behind for an ensemble, such as a `swarm`
    complexity   when it prefers the simpler model to the better one
    members      what an ensemble takes its members from: all evaluated `models`, or something that a strategy leaves
    """

    objectives: tuple[int, int | None] = OBJECTIVES["any"]
    queries: tuple[Amount, Amount] | None = None
    ends_early: tuple[str, ...] = ()
    reevaluates: str | None = None
    leaves: tuple[str, ...] = ()
    complexity: DecidingComplexity | None = None
    members: str = MODELS

    def takes(self, objectives: int) -> bool:
        fewest, most = self.objectives
        return fewest <= objectives and (most is None or objectives <= most)

    def least_evaluations(self, options: Mapping[str, Any], models: int | None) -> int:
        """How many evaluations it makes in any case; 0 if it may end at any time.

        A search ends when every model of the space has been evaluated, but models can always be evaluated again.
        """
        if self.queries is None or any(options.get(name) is not None for name in self.ends_early):
            return 0
        least = int(_number(self.queries[0], {**options, MODELS: models}) or 0)
        return least if models is None or self.reevaluates is not None else min(least, models)

    def most_evaluations(self, options: Mapping[str, Any], models: int | None) -> int | None:
        """The most evaluations that it makes; None if there is no limit. Undeclared, it is the option `evaluations`."""
        most = Formula("evaluations") if self.queries is None else self.queries[1]
        found = _number(most, {**options, MODELS: models})
        return None if found is None else int(found)


PLAIN = Capabilities()


def _number(amount: Amount, values: Mapping[str, Any]) -> Exact | None:
    """The value of a formula; None if it depends on something that is `none` or not known. `min` ignores these."""
    if not isinstance(amount, Formula):
        return amount
    if not amount.operands:
        found: Exact | None = values.get(amount.operation)
        return found
    operands = [_number(operand, values) for operand in amount.operands]
    known = [operand for operand in operands if operand is not None]
    if len(known) < len(operands) and (amount.operation != "min" or not known):
        return None
    return apply(amount.operation, known)
