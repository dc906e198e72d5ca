"""Read the costs of errors: a matrix, or a list of errors by the names of their classes.

`cost([[0, 1], [5, 0]])` has a row for each true class and a column for each predicted one, in the order of the classes.
`cost([[ill, healthy, 5]])` says that taking `ill` for `healthy` costs 5; other errors cost 1, and no error nothing.
"""

from __future__ import annotations

import math

from msl.diagnostics.suggest import did_you_mean, listing
from msl.language import ast
from msl.record import record
from msl.space.formulas import Facts

Matrix = tuple[tuple[float, ...], ...]
Errors = tuple[tuple[str, str, float], ...]
Costs = Matrix | Errors

_EXAMPLES = "write a matrix, as in `[[0, 1], [5, 0]]`, or errors by name, as in `[[ill, healthy, 5]]`"


class WrongCosts(Exception):
    """Costs that cannot be read, or that do not fit the table; `where` is the part that is wrong."""

    def __init__(self, where: ast.Node, message: str, help: str = _EXAMPLES) -> None:
        super().__init__(message)
        self.where, self.message, self.help = where, message, help


@record
class CostReader:
    """Reads costs; with the facts of a table, as the matrix of its classes."""

    facts: Facts | None

    def read(self, written: ast.Expression) -> Costs:
        """Raises WrongCosts."""
        lines = _items(written, "the costs of errors are a list of lists")
        cells = [(line, _items(line, "the costs of errors are a list of lists")) for line in lines]
        if any(_label(cell) is not None for _, line in cells for cell in line):
            return self._errors(cells)
        return self._matrix(written, cells)

    def _matrix(self, written: ast.Node, cells: list[tuple[ast.Expression, tuple[ast.Expression, ...]]]) -> Matrix:
        for line, values in cells:
            if len(values) != len(cells):
                message = f"a matrix of {len(cells)} rows has {len(cells)} columns, and this row has {len(values)}"
                raise WrongCosts(line, message, "give one row and one column for each class")
        if self.facts is not None and len(cells) != self.facts.n_classes:
            message = f"the matrix is for {len(cells)} classes, and the table has {self.facts.n_classes}"
            raise WrongCosts(written, message, f"give one row and one column for each class: {self._classes()}")
        return tuple(tuple(_cost(cell) for cell in line) for _, line in cells)

    def _errors(self, cells: list[tuple[ast.Expression, tuple[ast.Expression, ...]]]) -> Costs:
        found: dict[tuple[str, str], float] = {}
        for line, values in cells:
            labels = [_label(value) for value in values[:2]]
            if len(values) != 3 or labels[0] is None or labels[1] is None:
                message = "an error is the true class, the predicted class, and the cost"
                raise WrongCosts(line, message, "write it as in `[ill, healthy, 5]`; quote classes that are numbers")
            pair = (self._known(labels[0], values[0]), self._known(labels[1], values[1]))
            if pair in found:
                raise WrongCosts(line, "the cost of this error is given twice", "remove one of them")
            found[pair] = _cost(values[2])
        if self.facts is None or not self.facts.classes:
            return tuple((true, predicted, cost) for (true, predicted), cost in found.items())
        names = self.facts.classes
        return tuple(
            tuple(found.get((true, predicted), float(true != predicted)) for predicted in names) for true in names
        )

    def _known(self, label: str, where: ast.Node) -> str:
        if self.facts is not None and self.facts.classes and label not in self.facts.classes:
            help = did_you_mean(label, self.facts.classes) or f"the classes are {self._classes()}"
            raise WrongCosts(where, f"`{label}` is not a class of the target", help)
        return label

    def _classes(self) -> str:
        return "" if self.facts is None else listing(self.facts.classes, 20)


def _items(written: ast.Expression, message: str) -> tuple[ast.Expression, ...]:
    if not isinstance(written, ast.ListOf) or not written.items:
        raise WrongCosts(written, message)
    return written.items


def _label(written: ast.Expression) -> str | None:
    """The name of a class; None for a number."""
    match written:
        case ast.String(value=value):
            return value
        case ast.Path(names=(name,)):
            return name.text
        case ast.Boolean(value=truth):
            return "true" if truth else "false"
    return None


def _cost(written: ast.Expression) -> float:
    match written:
        case ast.Number(value=value, unit=None) if value < 0:
            raise WrongCosts(written, "a cost is not negative", "write 0 for what costs nothing")
        case ast.Number(value=value, unit=None) if math.isfinite(value):
            return float(value)
    raise WrongCosts(written, "a cost is a number of at least 0", "write a number")
