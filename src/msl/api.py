"""The Python API beside `ModelSearch`: load and check specs, run them on tables, load saved models."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

from msl.data.read import read_like, read_table
from msl.data.table import Table
from msl.diagnostics.diagnostic import Diagnostic
from msl.diagnostics.user_error import UserError
from msl.runner.loop import Progress
from msl.runner.plan import make_plan
from msl.runner.session import Result, RunRequest, run_plan
from msl.runner.spec_source import SpecError, checked_spec, read_spec, statement_to_options, with_seed
from msl.runner.trained_model import Trained, load_trained
from msl.space.spec import Budget, Spec
from msl.store.store import Store, store_folder
from msl.store.stored_run import find_run_id
from msl.workers.dask_address import SCHEMES, Scheduler

__all__ = ["Result", "SpecError", "Trained", "check_spec", "load", "load_model", "run"]


def load(spec: str | Path, data: Any = None, *, chain: str | None = None) -> Spec:
    """A spec, read and checked.

    Parameters
    ----------
    spec : a path, or the text itself
    data : the table it is for, a path or a frame; bounds such as `n_features` are then numbers
    chain : which one, where the spec has several

    Raises a `SpecError` (a ValueError) that shows what is wrong and where.
    """
    source = read_spec(spec)
    found, _ = checked_spec(source, chain=chain)
    if data is not None:
        found, _ = checked_spec(source, _table(found, data).facts, chain)
    return found


def check_spec(spec: str | Path, data: Any = None, *, chain: str | None = None) -> tuple[Diagnostic, ...]:
    """All errors and warnings of a spec, in reading order; nothing is raised.

    The parameters are those of `load`. `msl.diagnostics.render.render` shows diagnostics as the command does.
    """
    from msl.check.check_spec import check_source

    source = read_spec(spec)
    checked = check_source(source, chain=chain)
    if data is not None and checked.spec is not None:
        checked = check_source(source, _table(checked.spec, data).facts, chain)
    return checked.diagnostics


def run(
    spec: str | Path,
    data: Any,
    *,
    test: Any = None,
    seed: int | None = None,
    jobs: int = 1,
    on: Any = None,
    store: str | Path | None = None,
    chain: str | None = None,
    trusted: Collection[str] = (),
    baselines: bool = True,
    progress: Callable[[Progress], None] | None = None,
) -> Result:
    """Searches the space of a spec on a table, as `msl run` does, and gives the winner, fitted on every row.

    Parameters
    ----------
    spec : a path, or the text itself
    data : the table with its target: a path, or a frame of polars or pandas
    test : another such table, to score the winner on rows that the search has never seen
    seed : instead of the spec's
    jobs : worker processes; with 1 everything happens in this process, unless evaluations have limits
        (`budget(each = …)`), which only another process can keep, or packages are trusted: their code may change
        anything in its process, and gets others
    on : where, instead of `jobs` processes here: `"dask://host:port"`, or a client or cluster of Dask; with encryption,
        a client that was made with Dask's `Security`, or `"tls://host:port"` where the configuration of Dask names the
        files
    store : the folder of the store; by default `.msl` beside the spec, or in this folder for a text
    chain : which one, where the spec has several
    trusted : packages whose classes may be imported, beside msl and scikit-learn
    baselines : whether models that need no search are evaluated too, to compare the winner with
    progress : called after each evaluation, and after each batch

    Raises a `SpecError` for the spec, a `DataError` for the table, a `NoModel` when no model could be evaluated. All of
    them are UserErrors, and so ValueErrors.
    """
    source = with_seed(read_spec(spec), seed)
    found, _ = checked_spec(source, chain=chain)
    table = _table(found, data)
    found, checked = checked_spec(source, table.facts, chain)
    where, workers = executor_choice(jobs, on, found.budget)
    request = RunRequest(
        replace(make_plan(found, table, tuple(trusted)), baselines=baselines),
        source,
        checked.sources,
        _path(data),
        chain,
        None if test is None else read_like(table.schema, test),
        _path(test),
    )
    folder = Path(store) if store is not None else store_folder(Path(source.path or "spec.msl"))
    show = progress or (lambda progress: None)
    return run_plan(request, folder, on=where, workers=workers, progress=show)


def load_model(
    run: str = "@", store: str | Path = ".msl", *, trusted: Collection[str] = (), best: bool = False
) -> Trained:
    """The final model of a run; `@` is the latest run, `@1` the one before.

    That is its ensemble where it is better than the best model; `best` selects the best model alone.
    A file that anyone may have written is safe to load: only classes of msl, numpy, scipy, scikit-learn and of the
    packages in `trusted` are accepted.
    """
    with Store.open(Path(store), read_only=True) as opened:
        return load_trained(opened.files, find_run_id(run, opened.runs.ids()), trusted, best=best)


def executor_choice(jobs: int, on: Any = None, budget: Budget | None = None) -> tuple[Any, int | None]:
    """Where evaluations run, and in how many processes."""
    if on is not None:
        if isinstance(on, str) and on.startswith(SCHEMES) and (words := Scheduler(on).warning):
            warnings.warn(words, stacklevel=3)
        return on, None
    if not isinstance(jobs, int) or jobs < 1:
        raise UserError(f"jobs is the number of worker processes, at least 1; got {jobs!r}")
    is_limited = budget is not None and (budget.each, budget.fit, budget.memory) != (None, None, None)
    return ("inprocess", None) if jobs == 1 and not is_limited else ("local", jobs)


def _path(source: Any) -> str | None:
    """The path of a table that is a file."""
    return str(Path(source).absolute()) if isinstance(source, str | Path) else None


def _table(spec: Spec, data: Any) -> Table:
    return read_table(data, options=statement_to_options(spec.data))
