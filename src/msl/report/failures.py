"""The models of a run that could not be evaluated, grouped by cause and block, with advice for each group."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from msl.store.evaluation import Evaluation, StoredFailure

#: What to do about each cause.
_ADVICE = {
    "block": "narrow the block's domain to what this table allows, or add a `require`",
    "exception": "narrow the domain that leads there, add a `require`, or leave the block out",
    "shape": "check the block that is named: its output does not fit the next step",
    "not a number": "scale or impute before the block that is named, or narrow its domain",
    "prediction": "check the class that is named: it is fitted on class codes 0, 1 …, or on numbers",
    "metric": "use another metric in `minimize` or `maximize`, and tell the authors of this one",
    "estimate": "choose another estimate in `minimize … by …`, such as `cv(folds = 5)`",
    "timeout": "allow more with `budget(each = …)`, or narrow the block to what is quick enough",
    "memory": "allow more with `budget(memory = …)`, use fewer `--jobs`, or narrow the block",
    "crash": "the process died in this block: try the model alone, and leave the block out if it dies again",
    "exit": "a block ended the whole process: leave it out",
}
_OTHER_ADVICE = "look at the message and at the block that is named"


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Failures of one cause in one block; `models` and `messages` are those of all of them, the first seen first."""

    cause: str
    step: str
    messages: tuple[str, ...]
    models: tuple[str, ...]

    @property
    def count(self) -> int:
        return len(self.models)

    @property
    def words(self) -> str:
        """How many, of what, and where."""
        return f"{self.count} × {self.cause}" + (f" in {self.step}" if self.step else "")

    @property
    def example(self) -> str:
        """The first message, on one line."""
        return _one_line(self.messages[0])

    @property
    def advice(self) -> str:
        return _ADVICE.get(self.cause, _OTHER_ADVICE)


def failure_groups(evaluations: Iterable[Evaluation]) -> list[FailureGroup]:
    """The failures among these, the most frequent first."""
    groups: dict[tuple[str, str], list[tuple[StoredFailure, str]]] = defaultdict(list)
    for one in evaluations:
        if one.failure is not None:
            groups[one.failure.cause, one.failure.step].append((one.failure, one.text))
    found = [
        FailureGroup(cause, step, tuple(trouble.message for trouble, _ in own), tuple(text for _, text in own))
        for (cause, step), own in groups.items()
    ]
    return sorted(found, key=lambda group: -group.count)


def failures_to_record(groups: Iterable[FailureGroup]) -> list[dict[str, Any]]:
    """Every model that failed, in its group."""
    return [
        {
            "cause": group.cause,
            "step": group.step,
            "count": group.count,
            "help": group.advice,
            "models": [
                {"model": model, "message": message}
                for model, message in zip(group.models, group.messages, strict=True)
            ],
        }
        for group in groups
    ]


def failures_to_text(groups: Iterable[FailureGroup], *, all_of_them: bool = False, most: int | None = None) -> str:
    """For each group its count, cause and block, an example, and what to do; or every model with its message.

    Of more than `most` groups the others are counted.
    """
    listed = list(groups)
    text = "".join(_group_text(group, all_of_them) for group in listed[:most])
    left = listed[len(listed) if most is None else most :]
    if left:
        text += f"and {sum(group.count for group in left)} more of {len(left)} other kinds: `msl show` lists them\n"
    return text


def _group_text(group: FailureGroup, all_of_them: bool) -> str:
    lines = [group.words]
    for message, model in list(zip(group.messages, group.models, strict=True))[: None if all_of_them else 1]:
        lines += [f"    {_one_line(message)}", f"    {model}"]
    lines.append(f"    help: {group.advice}")
    return "\n".join(lines) + "\n"


def _one_line(message: str) -> str:
    """The first line that is not empty."""
    return next((line.strip() for line in message.splitlines() if line.strip()), "(no message)")
