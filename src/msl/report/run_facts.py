"""Facts about a stored run that several reports show: its final model, command, spec, repeats and failures."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msl.check.check_spec import Checked, check_source
from msl.check.names.scoring_declarations import find_metric
from msl.diagnostics.source import Source
from msl.diagnostics.user_error import UserError
from msl.report.text_tables import estimate_words
from msl.space.formulas import Facts
from msl.space.spec import Objective
from msl.store.evaluation import Evaluation, StoredFailure
from msl.store.stored_run import Run


@dataclass(frozen=True, slots=True)
class UsedModel:
    """The model that `predict` and `export` use, its estimates with intervals, and its scores on a test table."""

    is_ensemble: bool
    words: str
    objectives: Mapping[str, float | None] = field(default_factory=dict)
    interval: Mapping[str, Any] = field(default_factory=dict)
    test: Mapping[str, float | None] = field(default_factory=dict)
    gap: Mapping[str, float | None] = field(default_factory=dict)


def used_model(result: Mapping[str, Any]) -> UsedModel:
    """Reads the record of a run. Runs of old versions do not say which model they use: it is their ensemble, if any."""
    members = len(result.get("ensemble") or ())
    used = result.get("used") or {"model": "ensemble" if members > 1 else "best", "why": ""}
    why = f": {used['why']}" if used.get("why") else ""
    if used.get("model") != "ensemble":
        words = "the best model alone" if members else "the best model"
        figures = (result.get(name) or {} for name in ("objectives", "interval", "test", "gap"))
        return UsedModel(False, f"{words}{why}", *figures)
    words = f"the {ensemble_kind(result)} of {members} models{why}"
    judged, tested = result.get("ensemble_objectives") or {}, result.get("ensemble_test") or {}
    estimated = {**judged, **(((result.get("corrected") or {}).get("ensemble") or {}).get("objectives") or {})}
    gap = {
        name: value - estimated[name]
        for name, value in tested.items()
        if value is not None and estimated.get(name) is not None
    }
    return UsedModel(True, words, judged, result.get("ensemble_interval") or {}, tested, gap)


def member_lines(result: Mapping[str, Any]) -> list[str]:
    """The members of an ensemble, with their weights where these differ, and the last learner of a stack."""
    members, weights = list(map(str, result.get("ensemble") or ())), result.get("weights") or ()
    lines = [f"{weight:g} × {one}" for weight, one in zip(weights, members, strict=False)] or members
    return [*lines, *([f"stacked by {result['final']}"] if result.get("final") else [])]


def ensemble_kind(result: Mapping[str, Any]) -> str:
    """How the members of an ensemble say something together."""
    if result.get("final"):
        return "stack"
    return "soft vote" if result.get("voting") == "soft" else "vote"


@dataclass(frozen=True, slots=True)
class CorrectedWords:
    """The estimates of the best model corrected for its choice, and what to say of them; or `why` there are none."""

    objectives: Mapping[str, float | None] = field(default_factory=dict)
    interval: Mapping[str, Any] = field(default_factory=dict)
    words: str = ""
    why: str = ""
    notes: tuple[str, ...] = ()


def corrected_estimate(result: Mapping[str, Any]) -> CorrectedWords:
    """Reads the record of a run; that of an old version says nothing of it."""
    found = result.get("corrected") or {}
    if not found.get("objectives"):
        return CorrectedWords(why=str(found.get("why") or ""))
    models = int(found.get("models") or 0)
    words = f"corrected for choosing the best of {models:,} models" if models > 1 else "of the only model"
    notes = tuple(map(str, found.get("notes") or ()))
    if (result.get("used") or {}).get("model") == "ensemble":
        if ensemble := found.get("ensemble"):
            words = f"corrected for choosing the members among {models:,} models"
            return CorrectedWords(ensemble["objectives"], ensemble.get("interval") or {}, words, notes=notes)
        words += "; of the best model alone"
    return CorrectedWords(found["objectives"], found.get("interval") or {}, words, notes=notes)


def best_models(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The best models of a run with what is known of each, the best first; that of a test is known of the winner."""
    rows = [dict(row) for row in result.get("top") or ()]
    for row, seconds in zip(rows, result.get("top_seconds") or (), strict=False):
        row["seconds"] = seconds
    if rows and result.get("test") and rows[0]["model"] == result.get("best"):
        rows[0]["test"] = result["test"]
    return rows


NOT_CORRECTED = "not corrected for the choice of the best"
VOTE_NOT_CORRECTED = "not corrected for the choice of the members"


def as_found_words(result: Mapping[str, Any]) -> str:
    """What the best loss of a search is."""
    if result.get("front"):
        return "as the search found it, which is partly luck"
    return "the best that the search found, which is partly luck"


def about_estimate(result: Mapping[str, Any], used: UsedModel) -> list[tuple[str, str]]:
    """Labelled lines: the corrected estimate first, and what the search itself has found as what it is."""
    corrected = corrected_estimate(result)
    as_found = estimate_words(used.objectives, used.interval)
    if not corrected.objectives:
        why = f"; {NOT_CORRECTED}: {corrected.why}" if corrected.why else ""
        return [("estimate", as_found + why)] if used.objectives else []
    lines = [("estimate", f"{estimate_words(corrected.objectives, corrected.interval)}, {corrected.words}")]
    lines += [("", note) for note in corrected.notes]
    if used.is_ensemble:
        return [*lines, (ensemble_kind(result).split()[-1], f"{as_found}, {VOTE_NOT_CORRECTED}")]
    return [*lines, ("search", f"{estimate_words(used.objectives, {}) or 'none'} is {as_found_words(result)}")]


# --- How often the rows were looked at --------------------------------------------------------------------------------


def ledger_words(result: Mapping[str, Any]) -> list[str]:
    """That others have run on these rows before, and what that does to the interval; empty for the first run."""
    known = result.get("ledger") or {}
    runs = int(known.get("runs") or 0)
    if not runs:
        return []
    others = "1 other run" if runs == 1 else f"{runs:,} other runs"
    protocols = int(known.get("protocols") or 1)
    how = f", with {protocols} protocols" if protocols > 1 else ""
    words = f"{others} of this store looked at these rows before ({known.get('evaluations', 0):,} evaluations{how})"
    corrected = result.get("corrected") or {}
    if (result.get("used") or {}).get("model") == "ensemble":
        corrected = corrected.get("ensemble") or corrected
    wide = corrected.get("interval_of_runs") or {}
    ends = ", ".join(f"{name} {low:.4g} … {high:.4g}" for name, (low, high) in wide.items())
    return [words, *([f"whichever run is kept, the 95 % interval is {ends}"] if ends else [])]


def test_label(result: Mapping[str, Any]) -> str:
    """`test` for the first run that is scored on a test table, `look 2` for the next one."""
    look = int((result.get("test_table") or {}).get("look") or 1)
    return "test" if look == 1 else f"look {look}"


def look_words(result: Mapping[str, Any]) -> str | None:
    """What a later look at a test table is not."""
    look = int((result.get("test_table") or {}).get("look") or 1)
    if look == 1:
        return None
    before = "another run was" if look == 2 else f"{look - 1:,} other runs were"
    return f"no test any more: {before} scored on this table, and who chooses among them chooses by it"


# --- Models that need no search ---------------------------------------------------------------------------------------

_USUAL_LEVEL = 0.05


def baseline_words(result: Mapping[str, Any]) -> list[str]:
    """A line for each model that needed no search: its estimate, how far the winner is ahead, and whether that is
    luck."""
    return [_about_baseline(one) for one in result.get("baselines") or ()]


def not_ahead(result: Mapping[str, Any]) -> str | None:
    """That a run has found nothing better than what needs no search; None if it has."""
    compared = [one for one in result.get("baselines") or () if one.get("ahead") is not None]
    if not compared:
        return None
    best = min(compared, key=lambda one: float(one["ahead"]))
    if best["ahead"] > 0.0:
        return None
    corrected = corrected_estimate(result).objectives
    name, value = next(iter(best["objectives"].items()))
    own = corrected.get(name) if corrected else (result.get("objectives") or {}).get(name)
    told = "" if own is None else f", the winner {own:.4g}{' (corrected)' if corrected else ''}"
    leak = _LEAK if _is_perfect(name, float(value)) else ""
    return f"the search found nothing better than {_baseline_name(best)}: that has {name} = {value:.4g}{told}{leak}"


#: A table whose target can be told without an error mostly has it among the features, under another name.
_LEAK = (
    "; what is told without any error is mostly known from a column that is the target in other words: "
    "`msl data TABLE --target TARGET` names columns that determine it"
)


def _is_perfect(name: str, value: float) -> bool:
    metric = find_metric(name)
    return metric is not None and value == (metric.high if metric.larger_is_better else metric.low)


def _baseline_name(one: Mapping[str, Any]) -> str:
    return {
        "no features": "a model that sees no feature",
        "linear": "a linear model",
        "boosting": "boosting as it comes",
        "forest": "a forest as it comes",
    }.get(str(one["name"]), str(one["name"]))


def _about_baseline(one: Mapping[str, Any]) -> str:
    if not one.get("objectives"):
        return f"{_baseline_name(one)}: not evaluated, {one.get('why')}"
    figures = ", ".join(f"{name} = {value:.4g}" for name, value in one["objectives"].items() if value is not None)
    ahead, p = one.get("ahead"), one.get("p")
    if ahead is None:
        return f"{_baseline_name(one)}: {figures}"
    chance = "" if p is None else f"p = {p:.2g}"
    if ahead > 0.0:
        luck = f"which may be luck ({chance})" if p is not None and p > _USUAL_LEVEL else chance
        return f"{_baseline_name(one)}: {figures}; the winner is ahead by {ahead:.4g}" + (f", {luck}" if luck else "")
    return f"{_baseline_name(one)}: {figures}; the winner is not better" + (f" ({chance})" if chance else "")


# --- Metrics whose names say too little -------------------------------------------------------------------------------


_METRICS = {
    "ber": "balanced error rate: 1 − balanced accuracy",
    "ber_at_best_threshold": "balanced error rate at the best threshold of the held-out outputs",
}


def metric_notes(names: Iterable[str]) -> list[tuple[str, str]]:
    """The name and the meaning of each metric among these that not everyone knows."""
    words = {word for name in names for word in name.split()}
    return [(name, meaning) for name, meaning in _METRICS.items() if name in words]


# --- The command that repeats a run -----------------------------------------------------------------------------------


def run_command(run: Run, data: str | None = None, store: Sequence[str] = ()) -> str:
    """The command that repeats a run, with all its options; `data` stands for a table that was not read from a file."""
    options = run.options
    table = options.get("data") or (run.result.get("data") or {}).get("path") or data or "DATA"
    given = [("--test", options.get("test")), ("--chain", options.get("chain"))]
    given += [("--set", change) for change in options.get("set") or ()]
    given += [("--trust", package) for package in options.get("trusted") or ()]
    words = [word for name, value in given if value is not None for word in (name, str(value))]
    return shlex.join(["msl", "run", run.spec, str(table), *words, *store])


def store_words(folder: Path) -> list[str]:
    """The option that names a store in an unusual folder."""
    return [] if folder.name == ".msl" else ["--store", str(folder)]


# --- Repeated proposals -----------------------------------------------------------------------------------------------


#: With fewer proposals, nothing is said about repeats.
_FEWEST = 20


def repeats_words(result: Mapping[str, Any]) -> str | None:
    """How many proposals repeated a known model and what to do about it, if more than half; else None."""
    repeats, evaluations = int(result.get("repeats") or 0), int(result.get("evaluations") or 0)
    if evaluations < _FEWEST or 2 * repeats <= evaluations:
        return None
    told = f"{repeats:,} of {evaluations:,} proposals were repeats"
    if str(result.get("ending", "")).endswith("models were evaluated"):
        return f"{told}: the space has no more models"
    return (
        f"{told}; `auto` proposes each model once; a swarm repeats less with `floor = 2, restart = 1`, "
        "or in a larger space"
    )


# --- The spec of a run, from the texts that the store keeps -----------------------------------------------------------


def stored_source(run: Run, sources: Mapping[str, str]) -> Source:
    """The main text of a run, under the name that it had."""
    return Source(run.spec, sources[run.spec], run.spec)


def read_stored(sources: Mapping[str, str]) -> Callable[[str], str]:
    """Reads the files that a stored spec uses."""

    def read(path: str) -> str:
        if path not in sources:
            raise UserError("the store has no text of it")
        return sources[path]

    return read


def check_stored(run: Run, sources: Mapping[str, str], facts: Facts | None = None) -> Checked:
    """The spec of a run, checked again; this version of msl may find errors in it."""
    return check_source(stored_source(run, sources), facts, run.name, read_stored(sources))


def first_objective(run: Run, sources: Mapping[str, str]) -> Objective | None:
    """The first objective of a run; None where the spec leaves it to the task."""
    spec = check_stored(run, sources).spec
    return spec.objectives[0] if spec is not None and spec.objectives else None


# --- The models that could not be evaluated, grouped by cause and block, with advice for each group -------------------

#: What to do about each cause.
_ADVICE = {
    "block": "narrow the block's domain to what this table allows, or add a `require`",
    "exception": "narrow the domain that leads there, add a `require`, or leave the block out",
    "shape": "check the block that is named: its output does not fit the next step",
    "not a number": "scale or impute before the block that is named, or narrow its domain",
    "prediction": "check the class that is named: it is fitted on class codes 0, 1 …, or on numbers",
    "metric": "use another metric in `minimize` or `maximize`, and tell the authors of this one",
    "requirement": "loosen the `require`, or narrow the blocks to what meets it",
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
