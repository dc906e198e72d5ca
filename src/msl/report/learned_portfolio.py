"""Make a portfolio of the evaluations in stores: a few models to evaluate first on the next table.

Losses are compared within each table alone: regret is 0 for its best model and 1 for the median one. Each next model is
the one that lowers the mean regret of the best so far most, the cheaper on ties, so that models that are good on the
same tables do not come twice. A model that was not evaluated on a table, or failed there, counts as if it were twice as
far from the best as the median. To see whether a portfolio transfers, each table is left out in turn.

Models are compared as the specs of their runs mean them, without what a declared block fixes: that may differ from spec
to spec, and follows from the spec that starts from them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any

import numpy as np

from msl.check.read_models import ModelReader
from msl.language import ast
from msl.language.parser import text_to_ast
from msl.report.run_facts import read_stored, stored_source
from msl.space.to_text import model_to_text
from msl.space.values import BlockValue, Branches, Model, PipelineValue, Step
from msl.store.store import Store

#: How far a model counts as being from the best where it was not evaluated, in units of the median's regret.
UNKNOWN = 2.0
#: With fewer tables none can be left out.
FEWEST_TABLES = 3


@dataclass(slots=True)
class TableLosses:
    """The models that were evaluated on a table by one protocol: their losses, infinite for failures, and seconds."""

    name: str
    task: str
    losses: dict[str, float] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    #: Evaluations whose model the specs of the runs do not have any more.
    unread: int = 0


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A table that took no part in a portfolio: the regret of the best model of it that was evaluated there, how many
    were, and the mean regret of the best of as many drawn models."""

    name: str
    regret: float
    known: int
    drawn: float


# --- what stores know -------------------------------------------------------------------------------------------------


def losses_of_stores(stores: Iterable[Store]) -> list[TableLosses]:
    """The tables of all runs, each by the protocol with the most models; the same table in two stores is one."""
    found: dict[tuple[str, str], TableLosses] = {}
    for store in stores:
        seen: dict[tuple[str, str], list[_Names]] = {}
        for run in store.runs.all():
            place = (run.digests.data, run.digests.evaluation)
            data = run.result.get("data") or {}
            if not data.get("task"):
                continue
            name = str(data.get("path") or run.options.get("data") or run.digests.data[:12])
            found.setdefault(place, TableLosses(name, str(data["task"])))
            seen.setdefault(place, []).append(_Names.of(run, store.runs.sources(run.id)))
        for place, names in seen.items():
            _add(found[place], store, place, names)
    best: dict[str, TableLosses] = {}
    for (data, _), table in found.items():
        if data not in best or len(table.losses) > len(best[data].losses):
            best[data] = table
    return [table for table in best.values() if sum(map(isfinite, table.losses.values())) > 1]


def _add(table: TableLosses, store: Store, place: tuple[str, str], names: Sequence[_Names]) -> None:
    texts: dict[str, str | None] = {}
    for one in store.evaluations.about(*place):
        if one.bound or one.inputs.share != 1.0 or one.inputs.repeat:
            continue
        if one.text not in texts:
            read = (each.general_text(one.text) for each in names)
            texts[one.text] = next((text for text in read if text is not None), None)
        text = texts[one.text]
        if text is None:
            table.unread += 1
            continue
        table.losses[text] = float("inf") if one.failure is not None else float(one.losses[0])
        table.seconds[text] = one.seconds


@dataclass(frozen=True, slots=True)
class _Names:
    """The names of the spec of a run, and the parameters that its own blocks fix."""

    reader: ModelReader
    fixed: frozenset[tuple[str, str]]

    @classmethod
    def of(cls, run: Any, sources: Mapping[str, str]) -> _Names:
        spec = stored_source(run, sources)
        file, _ = text_to_ast(spec)
        fixed = frozenset(
            (statement.name.text, each.key.text)
            for statement in file.statements
            if isinstance(statement, ast.Block)
            for each in statement.fields
            if each.key is not None and not each.opens
        )
        return cls(ModelReader(spec, read_stored(sources)), fixed)

    def general_text(self, text: str) -> str | None:
        """A model without what declared blocks fix; None if the spec does not have it."""
        model, _ = self.reader.read(text)
        return None if model is None else model_to_text(Model(tuple(self._general(step) for step in model.steps)))

    def _general(self, value: Any) -> Any:
        match value:
            case BlockValue(block=block, params=params):
                left = ((name, self._general(inner)) for name, inner in params if (block.name, name) not in self.fixed)
                return replace(value, params=tuple(left))
            case Branches(branches=branches):
                return Branches(tuple(tuple(self._general_step(step) for step in one) for one in branches))
            case PipelineValue(steps=steps):
                return PipelineValue(tuple(self._general_step(step) for step in steps))
        return value

    def _general_step(self, step: Step) -> Step:
        found: Step = self._general(step)
        return found


# --- the greedy choice ------------------------------------------------------------------------------------------------


Losses = Mapping[str, Mapping[str, float]]


def regrets(losses: Losses) -> dict[str, dict[str, float]]:
    """For each table and model, 0 for the best and 1 for the median of all; a model that fails counts as unknown."""
    found: dict[str, dict[str, float]] = {}
    for table, by_model in losses.items():
        known = [loss for loss in by_model.values() if isfinite(loss)]
        best, middle = min(known), float(np.median(known))
        width = max(middle - best, 1e-12)
        found[table] = {name: min((loss - best) / width, UNKNOWN) for name, loss in by_model.items()}
    return found


def greedy_portfolio(regret: Losses, size: int, costs: Mapping[str, float] | None = None) -> list[str]:
    """Models in the order in which they lower the mean regret of the best of them most; on ties the cheaper, then the
    first."""
    known = costs or {}
    names = list(dict.fromkeys(name for by_model in regret.values() for name in by_model))
    best = dict.fromkeys(regret, UNKNOWN)
    chosen: list[str] = []
    while len(chosen) < min(size, len(names)):
        left = [name for name in names if name not in chosen]
        after = {name: _mean(min(best[t], regret[t].get(name, UNKNOWN)) for t in regret) for name in left}
        name = min(left, key=lambda each: (round(after[each], 12), known.get(each, 0.0)))
        if after[name] >= _mean(best.values()):
            break
        chosen.append(name)
        best = {table: min(best[table], regret[table].get(name, UNKNOWN)) for table in regret}
    return chosen


def _known_to_several(regret: Losses) -> Losses:
    """The same without models that a single table knows, if there are others: to be the best of many on one table is
    partly luck, and says little of the next one."""
    times = Counter(name for by_model in regret.values() for name in by_model)
    if max(times.values(), default=0) < 2:
        return regret
    return {table: {name: one for name, one in own.items() if times[name] > 1} for table, own in regret.items()}


def relative_costs(seconds: Losses) -> dict[str, float]:
    """What each model takes, relative to the median of its tables; the mean over them."""
    found: dict[str, list[float]] = {}
    for by_model in seconds.values():
        middle = max(float(np.median(list(by_model.values()))), 1e-9)
        for name, value in by_model.items():
            found.setdefault(name, []).append(value / middle)
    return {name: _mean(values) for name, values in found.items()}


def regret_of(chosen: Iterable[str], regret: Mapping[str, float]) -> float:
    return min((regret.get(name, UNKNOWN) for name in chosen), default=UNKNOWN)


def regret_of_chance(regret: Mapping[str, float], size: int, draws: int = 500) -> float:
    """The mean regret of the best of so many models drawn at random."""
    rng, values = np.random.default_rng(0), np.array(list(regret.values()))
    return _mean(float(rng.choice(values, min(size, len(values)), replace=False).min()) for _ in range(draws))


def left_out(regret: Losses, size: int, costs: Mapping[str, float] | None, among: Losses) -> list[LeftOut]:
    """What the portfolio of the other tables is worth on each table; nothing for those where none of it is known. Drawn
    models are `among` all of a table."""
    found = []
    for name in regret if len(regret) >= FEWEST_TABLES else ():
        chosen = greedy_portfolio({other: own for other, own in regret.items() if other != name}, size, costs)
        known = [one for one in chosen if one in regret[name]]
        if known:
            chance = regret_of_chance(among[name], len(known))
            found.append(LeftOut(name, regret_of(known, regret[name]), len(known), chance))
    return found


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


# --- the text ---------------------------------------------------------------------------------------------------------


def portfolio_file(tables: Sequence[TableLosses], size: int) -> tuple[str, list[LeftOut]]:
    """The text of the portfolio of tables of one task, the cheap models first, and what it is worth where one of these
    tables is left out."""
    places = {str(number): table for number, table in enumerate(tables)}
    every = regrets({place: table.losses for place, table in places.items()})
    regret = _known_to_several(every)
    costs = relative_costs({place: table.seconds for place, table in places.items()})
    chosen = sorted(greedy_portfolio(regret, size, costs), key=lambda name: costs[name])
    lines = [
        f'# Models to evaluate first: `search start("FILE") then auto`. Chosen greedily from {len(regret)} '
        f"{'table' if len(regret) == 1 else 'tables'} of {tables[0].task},",
        "# the cheap ones first. Regret is 0 for the best model of a table and 1 for the median one. What the blocks",
        "# of a spec fix is not said here: it follows from the spec that starts from this file.",
    ]
    for number, name in enumerate(chosen, start=1):
        own = [regret[place][name] for place in regret if name in regret[place]]
        on = "1 table" if len(own) == 1 else f"{len(own)} tables"
        lines += ["", f"# regret {_mean(own):.2f} in the mean of {on}, {costs[name]:.2f} × the usual time"]
        lines += [f"chain first_{number} = {name}"]
    names = {place: table.name for place, table in places.items()}
    judged = [replace(one, name=names[one.name]) for one in left_out(regret, size, costs, every)]
    return "\n".join(lines) + "\n", judged
