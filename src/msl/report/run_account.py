"""Everything that the store knows about one run, as text for `msl show` and as a record for JSON."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from msl.report.run_facts import (
    FailureGroup,
    about_estimate,
    baseline_words,
    failure_groups,
    failures_to_record,
    failures_to_text,
    ledger_words,
    look_words,
    member_lines,
    metric_notes,
    not_ahead,
    repeats_words,
    run_command,
    store_words,
    test_label,
    used_model,
)
from msl.report.text_tables import aligned, estimate_words, finite, named_figures, shown
from msl.store.schema import moment_to_text
from msl.store.store import Store
from msl.store.stored_run import Event, Run

_WIDTH = 12
_LONGEST_WARNING = 200
#: Counts of a run, and how they are named.
_COUNTED = {"reused": "reused", "outside": "outside the space", "kept": "stored by other runs"}


@dataclass(frozen=True, slots=True)
class Account:
    """A run with its history, its failures and its files."""

    run: Run
    #: `@`, `@1`, …: its place among the runs of the store.
    name: str
    asked: int
    failures: tuple[FailureGroup, ...]
    lifecycle: tuple[Event, ...]
    files: tuple[Path, ...]
    folder: Path

    @property
    def again(self) -> str:
        """The command that repeats or resumes the run."""
        return run_command(self.run, store=store_words(self.folder))

    @property
    def result(self) -> Mapping[str, Any]:
        return self.run.result

    @property
    def evaluations(self) -> int:
        """As counted at the end of the run; for an unfinished run, the queries so far."""
        return int(self.result.get("evaluations", self.asked))

    @property
    def seconds(self) -> float | None:
        """The duration of the run; without a result, the time between start and end."""
        if "seconds" in self.result:
            return float(self.result["seconds"])
        return None if self.run.ended is None else (self.run.ended - self.run.started).total_seconds()


def account_of(store: Store, run: str) -> Account:
    """Reads all about a run."""
    return Account(
        store.runs.get(run),
        recent_name(store.runs.ids().index(run)),
        store.runs.count_queries(run),
        tuple(failure_groups(store.evaluations.failures(run))),
        tuple(store.runs.lifecycle(run)),
        tuple(store.files.of_run(run)),
        store.folder,
    )


def recent_name(place: int) -> str:
    """The short name of a run by its place, counted from the latest."""
    return f"@{place or ''}"


def local_time(moment: datetime) -> str:
    return f"{moment.astimezone():%Y-%m-%d %H:%M:%S}"


def account_to_record(account: Account) -> dict[str, Any]:
    """All figures under stable names, the run's own result among them."""
    run, digests = account.run, account.run.digests
    return {
        "run": run.id,
        "name": account.name,
        "spec": run.spec,
        "chain": run.name,
        "status": run.status,
        "started": moment_to_text(run.started),
        "ended": None if run.ended is None else moment_to_text(run.ended),
        "seed": run.seed,
        "evaluations": account.evaluations,
        "seconds": account.seconds,
        "versions": dict(run.versions),
        "options": finite(run.options),
        "digests": {
            "space": digests.space,
            "run": digests.run,
            "data": digests.data,
            "evaluation": digests.evaluation,
            "search": digests.search,
        },
        "failures": failures_to_record(account.failures),
        "resumed": sum(event.kind == "resumed" for event in account.lifecycle),
        "files": [str(file) for file in account.files],
        "result": finite(account.result),
        "again": account.again,
    }


def account_to_text(account: Account) -> str:
    """The text that `msl show` prints."""
    parts = [
        _heading(account),
        _winner(account),
        _figures(account),
        _front(account),
        _members(account),
        _confusions(account),
        _preferred(account),
    ]
    if account.failures:
        parts.append("failures\n" + _indented(failures_to_text(account.failures)))
    if warned := account.result.get("warnings"):
        parts.append("warnings\n" + "".join(f"    {_warning(each)}\n" for each in warned))
    parts.append(_provenance(account))
    return "\n".join(part for part in parts if part)


def _heading(account: Account) -> str:
    run = account.run
    lines = [("run", f"{run.id} ({account.name})"), ("spec", f"{run.spec}, chain {run.name}")]
    if data := run.result.get("data"):
        lines.append(("data", _table(data)))
    lines.append(("status", _status(account)))
    lines.append(("started", f"{local_time(run.started)}{_resumed(account)}"))
    return _labelled(lines)


def _table(data: Mapping[str, Any]) -> str:
    words = [str(data.get("path", "a table"))]
    of = {"rows": f" of {shown(data['sample_of'])}"} if "sample_of" in data else {}
    words += [f"{shown(data[what])}{of.get(what, '')} {what}" for what in ("rows", "features") if what in data]
    if "target" in data:
        words.append(f"{data.get('task', 'prediction')} of `{data['target']}`")
    if classes := data.get("classes"):
        words.append(f"{shown(classes) if isinstance(classes, int) else len(classes)} classes")
    return ", ".join(words)


def _status(account: Account) -> str:
    run, ending = account.run, account.result.get("ending")
    words: str = run.status
    if ending and ending != run.status:
        words += f": {ending}"
    if account.seconds is not None:
        words += f" after {shown(account.seconds)} s"
    match run.status:
        case "running":
            return f"{words} in process {run.process.pid} on {run.process.host}, last seen {local_time(run.seen)}"
        case "interrupted":
            return f"{words}; `{account.again}` resumes it"
    return words


def _resumed(account: Account) -> str:
    times = sum(event.kind == "resumed" for event in account.lifecycle)
    return "" if not times else f", resumed {times} time{'s' if times > 1 else ''}"


def _winner(account: Account) -> str:
    best = account.result.get("best")
    if best is None:
        return "" if not account.result else "no model could be evaluated\n"
    warned = not_ahead(account.result)
    return (f"{warned}\n\n" if warned else "") + f"winner\n    {best}\n"


def _figures(account: Account) -> str:
    result = account.result
    lines: list[tuple[str, str]] = []
    used = used_model(result)
    if result.get("best") is not None:
        lines.append(("final model", used.words))
    lines += about_estimate(result, used)
    if used.test:
        lines.append((test_label(result), _words(used.test)))
        lines += [("", words) for words in [look_words(result)] if words]
    if used.gap:
        lines.append(("test gap", _words(used.gap)))
    lines += [("looks" if not place else "", words) for place, words in enumerate(ledger_words(result))]
    lines += metric_notes([*used.objectives, *used.test])
    if used.is_ensemble and result.get("objectives"):
        tested = f", test {_words(result['test'])}" if result.get("test") else ""
        lines.append(("best model", f"estimate {estimate_words(result['objectives'], result.get('interval'))}{tested}"))
    if result.get("complexity") is not None:
        lines.append(("complexity", _words(result["complexity"])))
    lines += [("required", f"{each['shown']}: `{each['text']}`") for each in result.get("limits", ())]
    if failure := result.get("test_failure"):
        lines.append(("test", f"the final model cannot predict the test table: {failure}"))
    lines += [("baselines" if not place else "", words) for place, words in enumerate(baseline_words(result))]
    counts = [f"{shown(result[what])} {word}" for what, word in _COUNTED.items() if result.get(what)]
    failed = sum(group.count for group in account.failures)
    counts += [f"{shown(failed)} failed"] if failed else []
    lines.append(("evaluations", shown(account.evaluations) + (f" ({', '.join(counts)})" if counts else "")))
    if repeats := repeats_words(result):
        lines.append(("repeats", repeats))
    if "fits" in result:
        lines.append(("fits", f"{shown(result['fits'])} ({shown(result.get('fits_saved', 0))} saved by caching)"))
    return _labelled(lines)


def _words(value: Any) -> str:
    return named_figures(value) if isinstance(value, Mapping) else shown(value)


def _front(account: Account) -> str:
    front = account.result.get("front")
    if not front:
        return ""
    return f"front of {len(front)} model{'s' * (len(front) > 1)}\n{front_table(front)}"


def _confusions(account: Account) -> str:
    """The confusion matrices of the estimate and of the test table."""
    parts = []
    for name, title in (
        ("judged", "confusion matrix of the estimate"),
        ("test_judged", "confusion matrix of the test table"),
    ):
        if table := confusion_table(account.result.get(name) or {}):
            parts.append(f"{title}\n{table}")
    return "\n".join(parts)


def _preferred(account: Account) -> str:
    preferred = account.result.get("preferred")
    return f"choices in all models and in the best quarter\n{preferred_table(preferred)}" if preferred else ""


def _members(account: Account) -> str:
    members = account.result.get("ensemble")
    if not members:
        return ""
    judged, tested = account.result.get("ensemble_objectives"), account.result.get("ensemble_test")
    heading = f"ensemble of {len(members)} models"
    heading += f", estimate {named_figures(judged)}" if judged else ""
    heading += f", test {named_figures(tested)}" if tested else ""
    return f"{heading}\n" + "".join(f"    {line}\n" for line in member_lines(account.result))


def _warning(each: Mapping[str, Any]) -> str:
    words = " ".join(str(each["warning"]).split())
    return f"{shown(each['models'])} × {words if len(words) <= _LONGEST_WARNING else words[:_LONGEST_WARNING] + ' …'}"


def _provenance(account: Account) -> str:
    run, digests = account.run, account.run.digests
    lines = [
        ("seed", str(run.seed)),
        ("versions", ", ".join(f"{name} {version}" for name, version in run.versions.items())),
        ("digests", f"run {digests.run[:16]}, space {digests.space[:16]}, data {digests.data[:16]}"),
        *(("file", str(file)) for file in account.files),
        ("run again", account.again),
        ("reproduce", shlex.join(["msl", "replay", run.id, *store_words(account.folder)])),
    ]
    return _labelled(lines)


def _labelled(lines: list[tuple[str, str]]) -> str:
    return "".join(f"{label:<{_WIDTH}} {text}".rstrip() + "\n" for label, text in lines)


def _indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


# --- Tables -----------------------------------------------------------------------------------------------------------


_INDENT = "    "
_MOST = 20


def preferred_table(preferred: Sequence[Mapping[str, Any]]) -> str:
    """The share of each alternative among all proposed models and among the best."""
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
    """A confusion matrix; empty for regression and for very many classes."""
    classes, counts = judged.get("classes"), judged.get("confusion")
    if not classes or not counts or len(classes) > _MOST:
        return ""
    rows = [[str(name), *map(shown, row)] for name, row in zip(classes, counts, strict=True)]
    heading = ["true \\ predicted", *map(str, classes)]
    return aligned([heading, *rows], right=range(1, len(heading)), indent=_INDENT)


def _percent(share: Any) -> str:
    return "-" if share is None else f"{100 * float(share):.0f}%"
