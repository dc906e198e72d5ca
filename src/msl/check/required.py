"""Required: the requirements that bear on a chain — read, judged one by one, and counted together."""

from __future__ import annotations

from msl.check.library import Declaration, Module
from msl.check.report import Report
from msl.check.requirement_reader import RequirementReader, Surroundings
from msl.check.requirements import Survey, Verdict
from msl.space.condition import Requirement
from msl.space.facts import Facts
from msl.space.node import Node
from msl.space.space import Space
from msl.syntax import ast
from msl.text.diagnostic import Label
from msl.text.record import record

_MOST_WORK = 20_000  # what counting may cost before a check does without
_MOST_COUNTED = 100  # requirements; counting compares each with each


@record
class Required:
    """A requirement, and the statement that wrote it."""

    requirement: Requirement
    statement: ast.Require
    module: Module


def read(module: Module, report: Report, around: Surroundings) -> tuple[list[Required], list[Declaration]]:
    """The requirements of a file that can be read, and the parts that they speak of."""
    reader = RequirementReader(module, report, around)
    found = []
    for statement in module.statements(ast.Require):
        condition = reader.condition(statement.condition)
        when = None if statement.when is None else reader.condition(statement.when)
        if condition is None or (statement.when is not None and when is None):
            continue
        text = " ".join(module.source.slice(statement.span).split())
        found.append(Required(Requirement(condition, when, text), statement, module))
    return found, list(reader.parts.values())


def judge(required: list[Required], root: Node, facts: Facts | None, spec: Module, report: Report) -> None:
    """Tells of each requirement that can never hold, always holds, or speaks of what is not in the space."""
    survey = Survey(root, facts)
    for one in required:
        finding = survey.judge(one.requirement)
        if finding is None:
            continue
        source, span = one.module.source, one.statement.span
        match finding.verdict:
            case Verdict.NEVER if finding.block is not None:
                message = f"no model can meet this requirement: `{finding.block}` is not in the chain"
                report.error("MSL125", source, span, message, "", "remove it, or add the block")
            case Verdict.NEVER:
                _never_met(one, report)
            case Verdict.ALWAYS:
                message = "every model of this space meets this requirement: it does nothing"
                report.warning("MSL229", source, span, message, "", "remove it, or look for a slip")
            case Verdict.ABSENT if one.module is spec:
                message = f"this requirement speaks of `{finding.block}`, which is not in the chain"
                report.warning("MSL230", source, span, message, "", "remove it, or add the block")
            case Verdict.KILLS if finding.by_table:
                message = f"for this table `{finding.block}` is left out: no model with it meets this requirement"
                report.note("MSL241", source, span, message)
            case Verdict.KILLS:
                message = f"no model with `{finding.block}` can meet this requirement"
                help = f"remove `{finding.block}`, or loosen the requirement"
                report.warning("MSL231", source, span, message, "a dead alternative", help)


def leave_a_model(required: list[Required], space: Space, report: Report) -> None:
    """Each requirement can be met; whether all can at once is counted, as far as that is cheap."""
    if len(required) > _MOST_COUNTED:
        return
    from msl.space.count import count

    found = count(space, work=_MOST_WORK)
    if not found.exact or 0 not in (found.models, found.structures):
        return
    *others, last = required
    if not others:
        _never_met(last, report)
        return
    also = tuple(Label(one.module.source, one.statement.span, "and this one") for one in others)
    message = "together the requirements leave no model"
    report.error("MSL126", last.module.source, last.statement.span, message, "", "loosen one of them", also)


def _never_met(one: Required, report: Report) -> None:
    message = "no model of this space can meet this requirement"
    help = "loosen it, or change the domains"
    report.error("MSL125", one.module.source, one.statement.span, message, "", help)
