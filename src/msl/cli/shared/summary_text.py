"""The text at the end of a run: the best model, its estimates, the search in figures, and where the files are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from msl.report.run_facts import (
    about_estimate,
    baseline_words,
    ensemble_kind,
    ledger_words,
    look_words,
    metric_notes,
    not_ahead,
    repeats_words,
    test_label,
    used_model,
)
from msl.report.text_tables import estimate_words

Summary = Mapping[str, Any]

#: Choices and alternatives that are shown at most, and the fewest models that can show a preference.
_MOST_CHOICES, _MOST_BLOCKS, _FEWEST_MODELS = 3, 3, 12


def closing_words(summary: Summary, folder: Path, interrupted: bool = False, causes: str = "") -> str:
    """The summary of a run as text; `causes` describes the failures where no model could be evaluated."""
    if summary["best"] is None and interrupted and not summary["evaluations"]:
        lines = ["stopped before the first model was evaluated"]
    elif summary["best"] is None:
        lines = [f"no model could be evaluated: {summary['failures']} failed, {summary['outside']} outside the space"]
        lines += ["", *causes.splitlines(), ""] if causes else []
    elif not _is_fitted(summary):
        lines = [summary["best"], "", *causes.splitlines(), ""]
    else:
        warned = not_ahead(summary)
        lines = [*([warned, ""] if warned else []), summary["best"], "", *_rows(_about_winner(summary))]
    lines += _rows([*_about_search(summary), ("files", _files(summary, folder))])
    if interrupted:
        lines += ["", "interrupted: run the same command again to continue"]
    elif _is_fitted(summary):
        lines += ["", f"next: msl show {_run(summary, folder)}, msl predict {_run(summary, folder)} TABLE"]
    return "\n".join(lines) + "\n"


def _is_fitted(summary: Summary) -> bool:
    """Whether there is a fitted model: fitting the best ones on all rows may have failed."""
    return summary["best"] is not None and "complexity" in summary


def _about_winner(summary: Summary) -> list[tuple[str, str]]:
    """The figures of the final model first, then those of the best model alone or of an ensemble that is not used."""
    used = used_model(summary)
    rows = [("final model", used.words)]
    rows += about_estimate(summary, used)
    if used.test:
        rows.append((test_label(summary), _values(used.test)))
        rows += [("", words) for words in [look_words(summary)] if words]
    if failure := summary.get("test_failure"):
        rows.append(("test", f"the final model cannot predict the test table: {failure}"))
    if used.gap:
        gaps = ", ".join(f"{name} {gap:+.4g}" for name, gap in _known(used.gap))
        rows.append(("test gap", f"{gaps} (test minus estimate)"))
    if used.is_ensemble:
        tested = f", test {_values(summary['test'])}" if "test" in summary else ""
        rows.append(("best model", f"estimate {estimate_words(summary['objectives'], summary['interval'])}{tested}"))
    rows += [("not fitted", message) for message in summary.get("not_fitted", ())]
    rows += metric_notes([*used.objectives, *used.test])
    rows.append(("complexity", "unknown" if summary["complexity"] is None else f"{summary['complexity']:.4g}"))
    rows += [("required", f"{each['shown']}: `{each['text']}`") for each in summary.get("limits", ())]
    rows += [("looks", words) for words in ledger_words(summary)]
    rows += [("baselines", words) for words in baseline_words(summary)]
    if len(summary.get("front", ())) > 1:
        first, last = summary["front"][0]["objectives"], summary["front"][-1]["objectives"]
        rows.append(("front", f"{len(summary['front'])} models, from {_values(first)} to {_values(last)}"))
    if len(summary.get("ensemble", ())) > 1 and not used.is_ensemble:
        rows.append(("ensemble", _ensemble(summary)))
    return rows


def _ensemble(summary: Summary) -> str:
    """An ensemble that was built and is not used for prediction."""
    told = [f"{ensemble_kind(summary)} of {len(summary['ensemble'])} models"]
    if judged := summary.get("ensemble_objectives"):
        told.append(f"estimate {estimate_words(judged, summary['ensemble_interval'])}")
    return ", ".join(told)


def _about_search(summary: Summary) -> list[tuple[str, str]]:
    reused, failed = summary["reused"], summary["failures"]
    rows = [("choices", text) for text in _preferred(summary.get("preferred", ()))]
    rows.append(("evaluations", f"{summary['evaluations']} ({summary['new']} new, {reused} reused, {failed} failed)"))
    if repeats := repeats_words(summary):
        rows.append(("repeats", repeats))
    if summary["kept"] or summary["outside_space"]:
        kept, outside = summary["kept"], summary["outside_space"]
        rows.append(("store", f"kept {kept}, outside {outside}, new {summary['new']}"))
    if warned := summary.get("warnings"):
        kinds = "1 kind of warning" if len(warned) == 1 else f"{len(warned)} kinds of warnings"
        rows.append(("warnings", f"{kinds}, see msl show"))
    rows.append(("fits", f"{summary['fits']} ({summary['fits_saved']} saved by caching)"))
    rows.append(("ended", f"{summary['ending']} after {summary['seconds']:.1f} s"))
    return rows


def _preferred(preferred: Sequence[Mapping[str, Any]]) -> list[str]:
    """The choices in which the best models differ most from all models, and the alternatives that they use."""
    told = []
    for choice, group in groupby(preferred, key=lambda one: one["choice"]):
        alternatives = list(group)
        lift = max(one["best_share"] - one["share"] for one in alternatives)
        if sum(one["asked"] for one in alternatives) >= _FEWEST_MODELS and lift > 0:
            told.append((lift, choice, alternatives))
    told.sort(key=lambda one: (-one[0], one[1]))
    return [f"{choice}: {_liked(alternatives)}" for _, choice, alternatives in told[:_MOST_CHOICES]]


def _liked(alternatives: Sequence[Mapping[str, Any]]) -> str:
    ranked = sorted(alternatives, key=lambda one: (-one["best_share"], -one["share"], one["block"]))
    shown = [
        f"{one['block']} in {100 * one['best_share']:.0f} % of the best ({100 * one['share']:.0f} % of all)"
        for one in ranked[:_MOST_BLOCKS]
        if one["best_share"] > 0
    ]
    return ", ".join(shown)


def _values(values: Mapping[str, float | None]) -> str:
    return ", ".join(f"{name} = {value:.4g}" for name, value in _known(values)) or "none"


def _known(values: Mapping[str, float | None]) -> list[tuple[str, float]]:
    return [(name, value) for name, value in values.items() if value is not None]


def _rows(rows: Sequence[tuple[str, str]]) -> list[str]:
    """Labelled lines; a label that repeats is left out."""
    shown, before = [], ""
    for name, text in rows:
        shown.append(f"{'' if name == before else name:<12}  {text}")
        before = name
    return shown


def _files(summary: Summary, folder: Path) -> str:
    return f"{folder}/models/{summary['run']}.*" if _is_fitted(summary) else str(folder)


def _run(summary: Summary, folder: Path) -> str:
    """How other commands name this run; with `--store` where the store is not in the usual folder."""
    run = summary["run"].rpartition("-")[2]
    if folder.absolute() == Path(".msl").absolute():
        return str(run)
    return f"{run} --store {folder}"
