"""Evaluation row: an evaluation as SQLite keeps it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from msl.runs.clock import moment_to_text, text_to_moment
from msl.runs.evaluation import Evaluation, Grade, Question, Trouble
from msl.runs.run_name import is_run_id
from msl.runs.schema import TABLES
from msl.runs.storable import (
    BadRow,
    figures_of,
    losses_of,
    sealed,
    storable_real,
    storable_text,
    stored_real,
    text_of,
    unsealed,
)

COLUMNS = TABLES["evaluations"]
_MOST_CHARACTERS = 4000  # of what others say: an exception may print a whole table


def evaluation_to_row(evaluation: Evaluation) -> tuple[Any, ...]:
    """The values in the order of COLUMNS; `created` must be known by now."""
    assert evaluation.created is not None
    question, trouble = evaluation.question, evaluation.trouble
    drawn = {"versions": dict(question.versions), "seed": question.seed, "share": question.share, "turn": question.turn}
    row = (
        question.key,
        question.model,
        question.data,
        question.protocol,
        json.dumps(drawn, sort_keys=True),
        storable_text(evaluation.text),
        int(evaluation.grade),
        storable_real(evaluation.losses[0]),
        json.dumps([float(loss) for loss in evaluation.losses]),
        json.dumps({name: float(value) for name, value in evaluation.measures.items()}),
        storable_real(evaluation.complexity),
        storable_real(evaluation.beat),
        trouble and _told(trouble.cause),
        trouble and _told(trouble.message),
        trouble and _told(trouble.step),
        trouble.peak_memory if trouble else None,
        storable_real(evaluation.seconds) or 0.0,
        int(evaluation.fits),
        int(evaluation.fits_saved),
        int(evaluation.folds_skipped),
        json.dumps([_told(warning) for warning in evaluation.warnings]),
        evaluation.run,
        moment_to_text(evaluation.created),
        evaluation.tool,
    )
    return sealed(row)


def row_to_evaluation(row: Sequence[Any]) -> Evaluation:
    """The evaluation that was written; raises BadRow for anything else."""
    named = dict(zip(COLUMNS, unsealed(row), strict=False))
    drawn = figures_of(named["question"])
    if named["run"] is not None and not is_run_id(named["run"]):
        raise BadRow(f"{named['run']!r} is no name that a run is given")
    trouble = None
    if named["cause"] is not None:
        cause, message, step = (text_of(named[name]) for name in ("cause", "message", "step"))
        trouble = Trouble(cause, message, step, named["peak_memory"])
    return Evaluation(
        question=Question(model=named["model"], data=named["data"], protocol=named["protocol"], **drawn),
        text=text_of(named["text"]),
        losses=losses_of(named["losses"]),
        measures={name: float(value) for name, value in figures_of(named["measures"]).items()},
        complexity=stored_real(named["complexity"]),
        bound=named["grade"] == Grade.BOUND,
        beat=named["beat"],
        trouble=trouble,
        seconds=named["seconds"],
        fits=named["fits"],
        fits_saved=named["fits_saved"],
        folds_skipped=named["folds_skipped"],
        warnings=tuple(map(text_of, json.loads(named["warnings"]))),
        run=named["run"],
        created=text_to_moment(named["created"]),
        tool=text_of(named["tool"]),
    )


def _told(words: str) -> str:
    """What others said, cut where it goes on and on."""
    return storable_text(words if len(words) <= _MOST_CHARACTERS else words[: _MOST_CHARACTERS - 1] + "…")
