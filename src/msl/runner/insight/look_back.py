"""What a run has found out, as records: what mattered in the search, what its model looks at, what to change.

`why` and `suggest` are behind the commands of these names and behind `Result.why()` and `Result.suggest()`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from msl.check.strategies import closed_steps
from msl.diagnostics.source import Source
from msl.diagnostics.user_error import UserError
from msl.report.run_facts import corrected_estimate, read_stored, stored_source
from msl.report.search_importance import EvaluatedModels, evaluated_models, read_facts, search_importance
from msl.runner.choose_members import row_metric
from msl.runner.insight.explain_model import explain_model
from msl.runner.insight.suggestions import SpecOfRun, Suggestion, suggestions
from msl.runner.plan import Plan
from msl.runner.spec_source import checked_spec
from msl.space.formulas import Facts
from msl.space.values import Model
from msl.store.store import Store, make_folder, write_atomically
from msl.store.store_error import StoreError
from msl.store.stored_run import Run

_SUFFIX = ".why.json"


@dataclass(frozen=True, slots=True)
class Explained:
    """What `why` says, as plain values. Shown as itself in a notebook."""

    record: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.record[name]

    def __repr__(self) -> str:
        from msl.report.insight_text import why_to_text

        return why_to_text(self.record, 100)

    def _repr_html_(self) -> str:
        from msl.report.html.insight_sections import why_view

        return why_view(self.record)


@dataclass(frozen=True, slots=True)
class Suggested:
    """What `suggest` says, as plain values. Shown as itself in a notebook."""

    record: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.record[name]

    def __len__(self) -> int:
        return len(self.record["suggestions"])

    def __repr__(self) -> str:
        from msl.report.insight_text import suggestions_to_text

        return suggestions_to_text(self.record, 100)

    def _repr_html_(self) -> str:
        from msl.report.html.insight_sections import suggestions_view

        return suggestions_view(self.record)


def why(store: Store, run: str, plan: Plan | None, why_no_model: str = "") -> Explained:
    """What mattered in a search, and what its best model looks at; without a plan, `why_no_model` says why not."""
    found = store.runs.get(run)
    record: dict[str, Any] = {"run": run, "spec": found.spec, "search": [], "search_why": ""}
    evaluated: EvaluatedModels | None = None
    try:
        evaluated = evaluated_models(store, run, None if plan is None else plan.table.facts)
        record["search"] = [one.to_record() for one in search_importance(evaluated, found.seed)]
    except UserError as reason:
        record["search_why"] = _words(reason)
    record |= {"model": None, "model_why": why_no_model}
    if plan is not None:
        try:
            model, repeat = _best_model(store, found, evaluated, plan.table.facts)
            record["model"] = explain_model(plan, model, repeat, _luck(found, plan)).to_record()
            if (found.result.get("used") or {}).get("model") == "ensemble":
                record["model"]["notes"] = [*record["model"]["notes"], _ALONE]
        except UserError as reason:
            record["model_why"] = _words(reason)
    plain: dict[str, Any] = json.loads(json.dumps(record))
    _keep(store, run, plain)
    return Explained(plain)


_ALONE = "the run predicts with an ensemble; this is about its best model alone"


def _luck(run: Run, plan: Plan) -> float:
    """By how much the first objective of the best model is too good, where it is the metric of rows itself."""
    name, objective = plan.objective_names()[0], plan.objectives[0]
    corrected = corrected_estimate(run.result).objectives.get(name)
    found = (run.result.get("objectives") or {}).get(name)
    if corrected is None or found is None or objective.text != row_metric(plan).name:
        return 0.0
    return float(corrected - found if objective.minimize else found - corrected)


def _words(reason: UserError) -> str:
    return f"{reason}; {reason.help}" if reason.help else str(reason)


def _keep(store: Store, run: str, record: Mapping[str, Any]) -> None:
    """Keeps what was found for the page of the run, if the store can be written to; a model told before stays."""
    file = store.files.report(run, _SUFFIX)
    with suppress(OSError, StoreError, ValueError, KeyError, TypeError):
        if record["model"] is None and file.exists():
            record = {**record, "model": json.loads(file.read_text(encoding="utf-8"))["model"]}
        make_folder(store.files.reports)
        write_atomically(file, json.dumps(record, ensure_ascii=False, indent=1) + "\n")


def _best_model(store: Store, run: Run, evaluated: EvaluatedModels | None, facts: Facts) -> tuple[Model, int]:
    """The best model of a run, and the repeat whose splits it was judged on."""
    best = run.result.get("best")
    if best is None:
        raise UserError(f"the run `{run.id}` has no best model", "finish it with `msl run`")
    if evaluated is not None:
        for model, one in zip(evaluated.models, evaluated.evaluations, strict=True):
            if one.text == best:
                return model, one.inputs.repeat
    for suffix in (".best.msl", ".msl"):
        file = store.files.model(run.id, suffix)
        if file.exists():
            spec, _ = checked_spec(Source(file.name, file.read_text(encoding="utf-8")), facts)
            return Model(closed_steps(spec.space.root)), 0
    raise UserError("the best model of the run is not in the store any more", "run `msl run` again")


def suggest(store: Store, run: str, facts: Facts | None = None) -> tuple[Suggested, list[Suggestion], SpecOfRun]:
    """Edits of the spec of a run with their evidence."""
    found, sources = store.runs.get(run), store.runs.sources(run)
    facts = facts or read_facts(store.files, run)
    of = SpecOfRun(stored_source(found, sources), found.name, facts, read_stored(sources))
    made: list[Suggestion] = []
    try:
        evaluated = evaluated_models(store, run, facts)
        notes = ["of several objectives, the first counts here"] if len(evaluated.spec.objectives) > 1 else []
        made, reason = suggestions(evaluated, of, _standard_error(found))
    except UserError as wrong:
        reason, notes = _words(wrong), []
    record = {
        "run": run,
        "spec": found.spec,
        "suggestions": [one.to_record() for one in made],
        "why": reason,
        "notes": notes,
    }
    return Suggested(json.loads(json.dumps(record))), made, of


def _standard_error(run: Run) -> float | None:
    """That of the estimate of the best model, from its 95 % interval."""
    corrected = corrected_estimate(run.result)
    intervals = corrected.interval or run.result.get("interval") or {}
    ends = next((ends for ends in intervals.values() if ends), None)
    return None if ends is None else (float(ends[1]) - float(ends[0])) / 3.92 or None
