"""Changes: the difference between two spaces as lines for the terminal, in the style of a diff."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from msl.space.change import Change, Kind
from msl.space.relation import Relation, Verdict

_SIGNS = {
    Kind.ADDED: "+",
    Kind.REMOVED: "-",
    Kind.REQUIREMENT_ADDED: "+",
    Kind.REQUIREMENT_REMOVED: "-",
    Kind.MOVED: ">",
    Kind.DEFAULT_CHANGED: " ",
}
_COLOURS = {"+": "\x1b[32m", "-": "\x1b[31m", "~": "\x1b[33m", ">": "\x1b[36m", " ": "\x1b[2m"}
_PLAIN = "\x1b[0m"
_VERDICTS = {
    Relation.SAME: "the same models, written otherwise: the digests differ, the sets do not",
    Relation.WIDENED: "widened: every model of the old space is in the new one",
    Relation.NARROWED: "narrowed: every model of the new space was in the old one",
    Relation.CHANGED: "changed: each space has models that the other has not",
}
#: What a change without a path is in.
_WHOLE = "the chain"


def changes_to_text(changes: Sequence[Change], *, colour: bool = False) -> str:
    """One line for each place that changed, `+ - ~ >` for added, removed, changed and moved; empty without changes."""
    lines = [_line(list(same)) for _, same in groupby(changes, key=_place)]
    return "".join(f"{_COLOURS[line[0]]}{line}{_PLAIN}\n" if colour else f"{line}\n" for line in lines)


def verdict_to_text(verdict: Verdict) -> str:
    """One line on how two spaces with different digests relate as sets."""
    if verdict.relation is Relation.UNDECIDED:
        return f"whether one space has all models of the other could not be decided: {verdict.reason}"
    if verdict.relation is Relation.SAME and not verdict.same_scales:
        return "the same models, with numbers on other scales"
    return _VERDICTS[verdict.relation]


def _place(change: Change) -> tuple[object, ...]:
    """Changes of one domain that differ in their kind alone are one line."""
    joins = change.kind in (Kind.WIDENED, Kind.NARROWED, Kind.RESCALED, Kind.RESTEPPED, Kind.CHANGED)
    return change.path, change.old_text, change.new_text, joins or change.kind, change.detail


def _line(same: list[Change]) -> str:
    change = same[0]
    sign = _SIGNS.get(change.kind, "~")
    return f"{sign} {_said(change, _kinds(same))}"


def _kinds(same: Iterable[Change]) -> str:
    return ", ".join(change.kind for change in same)


def _said(change: Change, kinds: str) -> str:
    where = change.where or _WHOLE
    match change.kind:
        case Kind.ADDED | Kind.REMOVED:
            return f"{change.detail} {change.old_text or change.new_text} in {where}"
        case Kind.REQUIREMENT_ADDED | Kind.REQUIREMENT_REMOVED:
            return change.old_text or change.new_text
        case Kind.MOVED:
            return f"{change.detail} in {where}: {change.old_text} -> {change.new_text} (moved)"
        case Kind.CONDITION_CHANGED:
            return f"{where}: {_condition(change.old_text)} -> {_condition(change.new_text)} (condition changed)"
        case Kind.DEFAULT_CHANGED:
            return f"{where}: default {change.old_text or 'none declared'} -> {change.new_text or 'none declared'}"
    said = f"{kinds}: {change.detail}" if change.detail else kinds
    return f"{where}: {change.old_text} -> {change.new_text} ({said})"


def _condition(text: str) -> str:
    return f"if {text}" if text else "always"
