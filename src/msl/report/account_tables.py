"""Account tables: what a search preferred, a front, and which classes were taken for which, as lines of text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msl.report.aligned import aligned, shown

_INDENT = "    "
_MOST = 20


def preferred_table(preferred: Sequence[Mapping[str, Any]]) -> str:
    """The alternatives that were asked for, in how many of all models and in how many of the best."""
    rows = [
        [
            str(each.get("choice", "")),
            str(each.get("block", "")),
            shown(each.get("asked")),
            _percent(each.get("share")),
            _percent(each.get("best_share")),
        ]
        for each in preferred
        if each.get("asked")
    ]
    return aligned([["choice", "block", "models", "of all", "of the best"], *rows], right=(2, 3, 4), indent=_INDENT)


def front_table(front: Sequence[Mapping[str, Any]]) -> str:
    """The objectives of each model of a front, as far as they fit on a screen."""
    names = list(front[0]["objectives"])
    rows = [[*(shown(point["objectives"].get(name)) for name in names), str(point["model"])] for point in front]
    more = f"{_INDENT}and {len(front) - _MOST} more\n" if len(front) > _MOST else ""
    return aligned([[*names, "model"], *rows[:_MOST]], right=range(len(names)), indent=_INDENT) + more


def confusion_table(judged: Mapping[str, Any]) -> str:
    """How many rows of each class were taken for which; nothing for what is not classes, or too many of them."""
    classes, counts = judged.get("classes"), judged.get("confusion")
    if not classes or not counts or len(classes) > _MOST:
        return ""
    rows = [[str(name), *map(shown, row)] for name, row in zip(classes, counts, strict=True)]
    heading = ["taken for", *map(str, classes)]
    return aligned([heading, *rows], right=range(1, len(heading)), indent=_INDENT)


def _percent(share: Any) -> str:
    return "-" if share is None else f"{100 * float(share):.0f}%"
