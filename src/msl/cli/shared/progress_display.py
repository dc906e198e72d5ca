"""Show the progress of a run, as a live display or as lines, and handle Ctrl-C and SIGTERM.

The first Ctrl-C stops a run after its current batch, the second stops it at once; all finished evaluations are stored.
SIGTERM, which schedulers send some seconds before they kill a process, stops a run now: finished evaluations count,
running ones are given up, and the best model is still reported. A second SIGTERM ends the process at once.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from time import monotonic
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

from msl.cli.shared.console import tell
from msl.diagnostics.terminal import safe

if TYPE_CHECKING:
    from rich.console import RenderableType

    from msl.runner.loop import Progress
    from msl.runner.plan import Plan
    from msl.runner.session import RunStart

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """Handles Ctrl-C and SIGTERM while entered; `on_interrupt` is called at the first Ctrl-C."""

    def __init__(self, on_interrupt: Callable[[], None], on_terminate: Callable[[], None] = lambda: None) -> None:
        self._on_interrupt, self._on_terminate = on_interrupt, on_terminate
        self._asked = self._terminated = False
        self._before: dict[signal.Signals, Any] = {}

    def asked(self) -> bool:
        """Whether the run is to stop after its batch."""
        return self._asked

    def terminated(self) -> bool:
        """Whether the run is to stop now."""
        return self._terminated

    def __enter__(self) -> Self:
        for number in _SIGNALS:
            if (
                number == signal.SIGINT or signal.getsignal(number) is not signal.SIG_IGN
            ):  # an ignored signal stays ignored
                self._before[number] = signal.signal(number, self._hear)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        # After a second one the process is about to end; a third must not disturb how it tidies up.
        if kind is not KeyboardInterrupt:
            for number, before in self._before.items():
                signal.signal(number, before)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        is_repeated = self._terminated or (self._asked and number == signal.SIGINT)
        if is_repeated:
            for each in self._before:
                signal.signal(each, signal.SIG_IGN)
            raise KeyboardInterrupt
        self._asked = True
        if number == signal.SIGTERM:
            self._terminated = True
            self._on_terminate()
        else:
            self._on_interrupt()


# --- Progress displays ------------------------------------------------------------------------------------------------


_STOPPING = "stopping after this batch; Ctrl-C once more stops at once"
_FIRST_LINE = 64  # evaluations
_LONG = 5.0  # seconds between lines about the last fits


class Display(Protocol):
    """What shows a run; `began`, `show`, `stopping` and `finishing` are called in this order, if at all."""

    def began(self, beginning: RunStart) -> None: ...
    def show(self, progress: Progress) -> None: ...
    def stopping(self) -> None: ...
    def finishing(self, done: int, wanted: int) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def open_display(plan: Plan, quiet: bool) -> Display:
    """The display for this standard error: live on a terminal, lines elsewhere."""
    if quiet:
        return Silence()
    lively = sys.stderr.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("CI")
    return Picture(plan) if lively else Lines(plan)


class Silence:
    """Shows nothing, except that Ctrl-C was received."""

    def began(self, beginning: RunStart) -> None:
        pass

    def show(self, progress: Progress) -> None:
        pass

    def stopping(self) -> None:
        tell(_STOPPING)

    def finishing(self, done: int, wanted: int) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


class Lines(Silence):
    """A line whenever the best gets better, and one a power of two of evaluations."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._best: tuple[float, ...] | None = None
        self._next = _FIRST_LINE
        self._told_finishing: float | None = None

    def began(self, beginning: RunStart) -> None:
        for line in opening(self._plan, beginning):
            tell(line)

    def show(self, progress: Progress) -> None:
        if progress.wanted:
            return  # within a batch
        better = progress.best is not None and (self._best is None or progress.best < self._best)
        if not better and progress.evaluations < self._next:
            return
        self._best = progress.best
        while self._next <= progress.evaluations:
            self._next *= 2
        reused = f", {progress.reused} reused" if progress.reused else ""
        failed = f", {progress.failures} failed" if progress.failures else ""
        shown = standing(self._plan, progress)
        tell(f"{progress.seconds:7.1f}s  {progress.evaluations:>6} evaluations{reused}{failed}  {shown}")

    def finishing(self, done: int, wanted: int) -> None:
        """A line at the beginning, and one every few seconds where that takes long."""
        if self._told_finishing is None:
            if self._plan.spec.ensemble is not None:  # one model alone is fitted at once
                tell(f"searched; {last_words(self._plan)}")
        elif monotonic() - self._told_finishing > _LONG:
            tell(f"{last_words(self._plan)}: {done} of {wanted}")
        else:
            return
        self._told_finishing = monotonic()


class Picture:
    """A few lines on a terminal that are updated in place and removed at the end."""

    def __init__(self, plan: Plan) -> None:
        from rich.console import Console
        from rich.live import Live

        self._plan = plan
        self._progress: Progress | None = None
        self._heard = 0.0
        self._is_stopping = False
        self._last = ""
        console = Console(stderr=True)
        self._live = Live(
            console=console, get_renderable=self._frame, transient=True, refresh_per_second=4, redirect_stdout=False
        )

    def began(self, beginning: RunStart) -> None:
        for line in opening(self._plan, beginning):
            self._live.console.print(line, highlight=False, markup=False)

    def show(self, progress: Progress) -> None:
        self._progress, self._heard = progress, monotonic()

    def stopping(self) -> None:
        self._is_stopping = True

    def finishing(self, done: int, wanted: int) -> None:
        self._last = f"{last_words(self._plan)}: {done} of {wanted}"

    def __enter__(self) -> Self:
        self._live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.__exit__(kind, value, trace)

    def _frame(self) -> RenderableType:
        if self._progress is None:
            return "starting…"
        since = monotonic() - self._heard
        return frame(self._plan, self._progress, since, self._is_stopping, self._last)


# --- Texts of the displays --------------------------------------------------------------------------------------------


def opening(plan: Plan, beginning: RunStart) -> list[str]:
    """The lines at the start of a run."""
    facts, stored = plan.table.facts, beginning.stored
    dimensions = plan.search_spaces[0].n_dimensions if plan.search_spaces else 0
    lines = [
        f"run {beginning.run} {'resumes' if beginning.resumed else 'starts'}: {plan.table.rows_in_words}, "
        f"{facts.n_features} features, {dimensions} dimensions, seed {plan.seed}"
    ]
    if stored.kept or stored.outside or stored.unread or stored.changed:
        unread = f", {stored.unread} not read" if stored.unread else ""
        other = f", {stored.other} {stored.why_other}" if stored.changed else ""
        lines.append(f"stored evaluations of this table: kept {stored.kept}, outside {stored.outside}{other}{unread}")
    if stored.earlier is not None:
        lines.append(str(stored.earlier))
    return lines


def standing(plan: Plan, progress: Progress) -> str:
    """The best so far; of a front its size, and the best of each objective."""
    from msl.runner.summary import signed_losses

    if progress.best is None:
        return "nothing evaluated yet"
    if len(plan.objectives) == 1:
        return "best " + ", ".join(f"{name} {value:.4g}" for name, value in signed_losses(plan, progress.best).items())
    bests = ", ".join(f"{name} {value:.4g}" for name, value in signed_losses(plan, progress.lowest).items())
    return f"front of {progress.front}, best {bests}"


def last_words(plan: Plan) -> str:
    """The work after the search."""
    if plan.spec.ensemble is None:
        return "fitting the winner on all rows"
    return "fitting the winner on all rows, evaluating and fitting the ensemble"


def frame(
    plan: Plan, progress: Progress, since: float = 0.0, is_stopping: bool = False, last: str = ""
) -> RenderableType:
    """The live display `since` seconds after the last progress; `last` names the work after the search."""
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    from msl.runner.forecast import expected_evaluations

    total, done = expected_evaluations(plan), progress.evaluations + progress.done
    seconds = progress.seconds + since
    head = Table.grid(padding=(0, 2))
    cells: list[Any] = [f"{done:,} of {total:,} evaluations" if total else f"{done:,} evaluations"]
    if total:
        cells.append(ProgressBar(total, min(done, total), width=24))
    left = "" if last else _left(plan, total, done, progress.evaluations, seconds)
    cells.append(_clock(seconds) + left)
    head.add_row(*cells)
    figures = [f"{progress.fits:,} fits, {progress.fits_saved:,} saved", f"{progress.reused:,} reused"]
    figures += [f"{progress.failures:,} failed"] if progress.failures else []
    figures += [f"{progress.outside:,} outside the space"] if progress.outside else []
    lines: list[RenderableType] = [head, Text(standing(plan, progress), style="bold")]
    if progress.best_text:
        lines.append(Text(safe(progress.best_text), no_wrap=True, overflow="ellipsis"))
    lines.append(Text(", ".join(figures), style="dim"))
    if last:
        lines.append(Text(f"{last}…"))
    elif is_stopping:
        lines.append(Text(_STOPPING, style="yellow"))
    return Group(*lines)


def _left(plan: Plan, total: int | None, done: int, whole: int, seconds: float) -> str:
    """How much longer: by the pace so far, and at most what the budget leaves."""
    budget = plan.spec.budget.time
    rest = None if budget is None else max(0.0, budget - seconds)
    if total and whole:
        paced = seconds / max(done, 1) * max(0, total - done)
        if rest is None or paced < rest:
            return f", about {_clock(paced)} left"
    return "" if rest is None else f", {_clock(rest)} left of the budget"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
