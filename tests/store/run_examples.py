"""Evaluations, orders and asks to store, the same for the same number; and a clock that ticks when it is looked at."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

from msl.store.evaluation import Evaluation, EvaluationInputs, StoredFailure, StoredQuery
from msl.store.stored_run import Digests, NewRun

BEGINNING = datetime(2025, 11, 16, 2, 53, 1, tzinfo=UTC)
DATA, PROTOCOL = "d" * 64, "p" * 64


class Ticking:
    """Each look at the clock is a second later than the last."""

    def __init__(self, start: datetime = BEGINNING, step: timedelta = timedelta(seconds=1)) -> None:
        self.now, self.step = start, step

    def __call__(self) -> datetime:
        now = self.now
        self.now += self.step
        return now


def digest(*parts: object) -> str:
    return sha256(repr(parts).encode()).hexdigest()


def question(number: int, writer: object = 0, data: str = DATA) -> EvaluationInputs:
    return EvaluationInputs(digest("model", number, writer), {"sklearn": "1.8.0"}, data, PROTOCOL, seed=7)


def evaluation(number: int, writer: object = 0, data: str = DATA) -> Evaluation:
    """Of every ten, one is a failure and one a bound."""
    asked = question(number, writer, data)
    loss = number / 1000
    text = f'standardize(center = true) >> knn(k = {number}, note = "{writer}")'
    if number % 10 == 3:
        trouble = StoredFailure("memory", "not enough memory", "knn", peak_memory=1_000_000 + number)
        return Evaluation(asked, text, (float("inf"),), failure=trouble, seconds=1.5, fits=1)
    if number % 10 == 7:
        return Evaluation(asked, text, (loss,), bound=True, cutoff=loss / 2, seconds=0.1, fits=2, folds_skipped=3)
    metrics = {"ber": loss, "features": float(number)}
    warnings = ("did not converge",) if number % 4 == 0 else ()
    return Evaluation(
        asked, text, (loss,), metrics, complexity=float(number), seconds=0.5, fits=5, fits_saved=2, warnings=warnings
    )


def asked(position: int, writer: object = 0, batch_size: int = 5) -> StoredQuery:
    answer = evaluation(position, writer)
    return StoredQuery(
        position=position,
        stage=0,
        batch=position // batch_size,
        key=answer.key,
        losses=answer.losses,
        complexity=answer.complexity,
        bound=answer.bound,
        cutoff=answer.cutoff,
        vector=(position / 7, 0.1),
    )


def order(name: str = "psms", seed: int = 7) -> NewRun:
    digests = Digests(*(digest(kind, name, seed) for kind in ("space", "run", "data", "evaluation", "search")))
    sources = {f"{name}.msl": f"msl 1\nuse clop\n\nchain {name} = knn\n", "clop": "block knn = …\n"}
    return NewRun(name, f"{name}.msl", sources, digests, seed, {"msl": "0.1.0"}, {"jobs": 2})


def is_whole(database: Path) -> bool:
    """What SQLite itself says, asked apart from the store."""
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
