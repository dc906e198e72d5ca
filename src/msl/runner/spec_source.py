"""Read and check a spec that Python code passes as a path or as text."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from pathlib import Path

from msl.check.check_spec import Checked, check_source
from msl.check.settings import MOST_SEED
from msl.data.options import DataOptions
from msl.diagnostics.diagnostic import Diagnostic
from msl.diagnostics.render import render
from msl.diagnostics.source import Source, read_regular
from msl.diagnostics.user_error import UserError
from msl.language.override import override_text, text_to_override
from msl.space.formulas import Facts
from msl.space.nodes import blocks_in
from msl.space.spec import DataStatement, Spec, metrics_of

_TEXT = "<spec>"


class SpecError(UserError):
    """A spec that cannot be used; `diagnostics` says why, and so does the message."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__(render(self.diagnostics).strip())


def read_spec(spec: str | Path) -> Source:
    """The source of a spec, which is given as a path or as text. A string of one line that ends in `.msl` is a path."""
    if not isinstance(spec, str | Path):
        raise TypeError(f"a spec is a path or a text, not a {type(spec).__name__}")
    if isinstance(spec, str) and ("\n" in spec or not spec.strip().endswith(".msl")):
        return Source(_TEXT, spec)
    try:
        return Source(str(spec), read_regular(spec).decode("utf-8-sig"), str(spec))
    except OSError as reason:
        raise UserError(f"the spec {spec} cannot be read: {reason.strerror}") from None
    except UnicodeDecodeError:
        raise UserError(f"the spec {spec} is not UTF-8 text; save it as UTF-8") from None


def with_seed(source: Source, seed: int | None) -> Source:
    """The spec with another seed. The text itself is changed, so that the store keeps what was run."""
    if seed is None:
        return source
    if isinstance(seed, bool) or not isinstance(seed, Integral) or not 0 <= seed <= MOST_SEED:
        raise UserError(f"a seed is a whole number from 0 to {MOST_SEED}, not {seed!r}")
    return override_text(source, [text_to_override(f"seed={int(seed)}")]).source


def checked_spec(source: Source, facts: Facts | None = None, chain: str | None = None) -> tuple[Spec, Checked]:
    """Checks a spec, with the facts of a table if they are given; raises SpecError if it has errors."""
    checked = check_source(source, facts, chain)
    if checked.spec is None:
        raise SpecError([diagnostic for diagnostic in checked.diagnostics if diagnostic.is_error])
    return checked.spec, checked


def statement_to_options(statement: DataStatement) -> DataOptions:
    """The options for reading a table, from the `data` statement of a spec."""
    return DataOptions(
        target=statement.target,
        task=statement.task,  # type: ignore[arg-type]  # the checker knows the tasks
        positive=statement.positive,
        ignore=statement.ignore or None,
        missing=statement.missing or None,
        categorical=statement.categorical or None,
        numeric=statement.numeric or None,
        dates=statement.dates or None,
        text=statement.text or None,
        ordered=statement.ordered or None,
        day_first=statement.day_first,
        groups=statement.groups,
        order=statement.order,
        fold=statement.fold,
        weight=statement.weight,
        header=statement.header,
        separator=statement.separator,
        decimal=statement.decimal,
        missing_target=statement.missing_target,  # type: ignore[arg-type]  # the checker knows what can be done
        ragged=statement.ragged,  # type: ignore[arg-type]
        rows=statement.rows,
    )


def declared_task(spec: Spec) -> str | None:
    """The task that a spec is for, by its `data` statement, its objectives or its learners; None if it fits both."""
    if spec.data.task is not None:
        return spec.data.task
    tasks = {metric.task for objective in spec.objectives for metric in metrics_of(objective.loss)}
    if len(tasks := tasks - {None}) == 1:
        return tasks.pop()
    blocks = blocks_in(spec.space.root)
    learners = {block.task for block in blocks if block.role == "learner"}
    return learners.pop() if len(learners) == 1 else None
