"""What a search says about its spec: edits, each with its evidence, that are checked before they are shown.

The good models are the best quarter. Of each kind of suggestion many are looked at, so a finding counts if its chance
is below 5 % for all of them together (Bonferroni). An edit is made on the text and the spec is checked: it has to
change what it is about and nothing else.

To close a choice or parameter that does not matter was a suggestion too. Made and searched again on real tables it
gained nothing in the mean (`benchmarks/suggestions.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import hypergeom, mannwhitneyu

from msl.check.check_spec import check_source
from msl.check.names.library import ReadFile
from msl.diagnostics.source import Source
from msl.diagnostics.user_error import UserError
from msl.encode.codec import space_to_layout
from msl.encode.layout import Meaning
from msl.language.edit_space import Edit, edit_source, patch_text
from msl.report.search_importance import (
    GOOD,
    EvaluatedModels,
    level_names,
    with_whole_losses,
)
from msl.space.formulas import Facts
from msl.space.names_to_text import number_to_text
from msl.space.spec import Spec

#: Fewer evaluations say nothing about a spec.
FEWEST = 30
_CHANCE = 0.05
_FEWEST_TRIES = 6
#: The part of a range that is its end, the part beside it, and how many of the good models have to lie at the end.
_END, _BESIDE, _CROWD = 0.1, 0.5, 0.25
_FEWEST_GOOD = 4
#: Gains of twice and losses of half the budget, in standard errors of the estimate.
_WORTH, _WORTHLESS = 0.2, 0.02
_MOST_OF_KIND = 4


@dataclass(frozen=True, slots=True)
class Suggestion:
    """An edit of a spec with its evidence. `patch` is what it changes in the text of the run."""

    kind: str
    says: str
    evidence: str
    edits: tuple[Edit, ...]
    patch: str = ""
    figures: Mapping[str, float] = field(default_factory=dict)

    def to_record(self) -> dict[str, Any]:
        edits = [str(edit) for edit in self.edits]
        return {
            "kind": self.kind,
            "says": self.says,
            "evidence": self.evidence,
            "edits": edits,
            "figures": dict(self.figures),
            "patch": self.patch,
        }


@dataclass(frozen=True, slots=True, eq=False)
class SpecOfRun:
    """The text of a spec with what it takes to check it again."""

    source: Source
    chain: str | None = None
    facts: Facts | None = None
    read_file: ReadFile | None = None

    def spec(self, source: Source) -> Spec:
        """A text as a spec; raises UserError if it has errors."""
        checked = check_source(source, self.facts, self.chain, self.read_file)
        if checked.spec is None or any(one.is_error for one in checked.diagnostics):
            first = next(one for one in checked.diagnostics if one.is_error)
            raise UserError(first.message, first.help)
        return checked.spec


def suggestions(
    evaluated: EvaluatedModels,
    of: SpecOfRun,
    standard_error: float | None = None,
) -> tuple[list[Suggestion], str]:
    """The suggestions of a run, and why there are none where it cannot say anything."""
    losses = with_whole_losses(evaluated, 0) if len(evaluated) else np.empty(0)
    known = np.isfinite(losses)
    if len(evaluated) < FEWEST:
        return [], f"{len(evaluated)} evaluated models are too few to suggest anything: it takes {FEWEST}"
    looked = _Look(evaluated, losses, known, of, standard_error)
    found = [*looked.of_failures()]
    why = ""
    if known.sum() < FEWEST:
        why = f"{int(known.sum())} models with a loss are too few to say more: it takes {FEWEST}"
    elif np.ptp(losses[known]) == 0:
        why = "all models have the same loss"
    else:
        found += [*looked.of_alternatives(), *looked.of_ends(), *looked.of_budget()]
    return _made(found, of), why


def _made(found: Sequence[Suggestion], of: SpecOfRun) -> list[Suggestion]:
    """Those whose edits can be made, with their patches; at most a few of each kind."""
    kept: list[Suggestion] = []
    for one in found:
        if sum(other.kind == one.kind for other in kept) >= _MOST_OF_KIND:
            continue
        try:
            after = edit_source(of.source, one.edits)
            of.spec(after)
        except UserError:
            continue
        if after.text != of.source.text:
            patch = patch_text(of.source, after)
            kept.append(Suggestion(one.kind, one.says, one.evidence, one.edits, patch, one.figures))
    return kept


@dataclass(frozen=True, slots=True, eq=False)
class _Look:
    evaluated: EvaluatedModels
    losses: NDArray[np.float64]
    known: NDArray[np.bool_]
    of: SpecOfRun
    standard_error: float | None

    @property
    def good(self) -> NDArray[np.bool_]:
        """The best quarter of the models that have a loss."""
        limit = np.quantile(self.losses[self.known], GOOD)
        return self.known & (self.losses <= limit)

    def _numbers(self) -> Iterator[tuple[int, Meaning]]:
        counts = [meaning.path + meaning.alternative for meaning in self.evaluated.meanings]
        for slot, meaning in enumerate(self.evaluated.meanings):
            is_number = meaning.kind in ("int", "real") and meaning.ends is not None
            if is_number and counts.count(meaning.path + meaning.alternative) == 1:
                yield slot, meaning

    def _alternatives(self) -> Iterator[tuple[int, Meaning, list[str], NDArray[np.intp]]]:
        """Each choice with its alternatives, and the one of each model, -1 where there is none."""
        for slot, meaning in enumerate(self.evaluated.meanings):
            names = level_names(meaning)
            if names and meaning.kind == "choice":
                levels = np.minimum((self.evaluated.shares[:, slot] * len(names)).astype(np.intp), len(names) - 1)
                yield slot, meaning, names, np.where(self.evaluated.active[:, slot], levels, -1)

    # --- alternatives that were never good ---

    def of_alternatives(self) -> list[Suggestion]:
        tests = [
            (meaning, names, place, levels)
            for _, meaning, names, levels in self._alternatives()
            for place in range(len(names))
            if len(names) > 1 and (levels[self.known] == place).sum() >= _FEWEST_TRIES
        ]
        found = []
        for meaning, names, place, levels in tests:
            there = self.known & (levels >= 0)
            tries, total, good = int((levels[there] == place).sum()), int(there.sum()), int((self.good & there).sum())
            if (self.good & (levels == place)).any() or good == 0:
                continue
            chance = float(hypergeom.cdf(0, total, good, tries))
            if chance * len(tests) >= _CHANCE:
                continue
            says = f"drop `{names[place]}` from `{meaning.path}`"
            evidence = (
                f"none of its {tries} models is among the {good} best of {total}; by chance that would happen with "
                f"p = {_p(chance * len(tests))}, {len(tests)} alternatives looked at"
            )
            edit = self._drop(meaning, names, names[place])
            figures = {"tries": tries, "good": good, "p": min(1.0, chance * len(tests))}
            found.append(Suggestion("drop", says, evidence, edit, figures=figures))
        return sorted(found, key=lambda one: one.figures["p"])

    def _drop(self, meaning: Meaning, names: list[str], name: str) -> tuple[Edit, ...]:
        """Takes an alternative out of its choice; one of an optional step or of `any learner` is ruled out instead."""
        edit = Edit("drop", name, tuple(names))
        try:
            edit_source(self.of.source, [edit])
        except UserError:
            owner = ".".join(meaning.path.split(".")[-2:])
            is_parameter = "." in meaning.path and meaning.alternative != ""
            others = " | ".join(other for other in names if other != name)
            return (Edit("require", f"{owner} is {others}" if is_parameter else f"not {name}"),)
        return (edit,)

    # --- ranges whose good models crowd at an end ---

    def of_ends(self) -> list[Suggestion]:
        """Many good models at an end say little by themselves, since searches go where models are good.

        So the models at the end also have to be better than those beside it.
        """
        tests = []
        for slot, meaning in self._numbers():
            here = self.evaluated.active[:, slot] & self.known
            good = self.good & here
            if good.sum() < _FEWEST_GOOD or (meaning.levels is not None and meaning.levels < 4):
                continue
            shares = self.evaluated.shares[:, slot]
            tests += [(meaning, False, here, good, shares), (meaning, True, here, good, 1.0 - shares)]
        found = []
        for meaning, is_high, here, good, distance in tests:
            at_end, beside = here & (distance < _END), here & (distance >= _END) & (distance < _BESIDE)
            crowd = int((good & at_end).sum())
            if crowd < max(_FEWEST_GOOD, _CROWD * good.sum()) or not beside.any():
                continue
            better = mannwhitneyu(self.losses[at_end], self.losses[beside], alternative="less")
            chance = float(better.pvalue) * len(tests)
            if chance >= _CHANCE:
                continue
            edit, domain = self._widened(meaning, is_high)
            if edit is None:
                continue
            end = "upper" if is_high else "lower"
            says = f"widen `{meaning.path}` at its {end} end: {domain}"
            evidence = (
                f"{crowd} of the {int(good.sum())} good models lie in the last tenth of its range, whose "
                f"{int(at_end.sum())} models are better than the {int(beside.sum())} in the four tenths beside it; "
                f"p = {_p(chance)}, {len(tests)} ends looked at"
            )
            figures = {"crowd": crowd, "good": int(good.sum()), "p": min(1.0, chance)}
            found.append(Suggestion("widen", says, evidence, (edit,), figures=figures))
        return sorted(found, key=lambda one: one.figures["p"])

    def _widened(self, meaning: Meaning, is_high: bool) -> tuple[Edit | None, str]:
        """The widest of some new domains that the checker accepts."""
        assert meaning.ends is not None
        low, high = meaning.range.split()[1].split("..")
        ends = [float(low.replace("_", "")), float(high.replace("_", ""))]
        rest = " ".join(meaning.range.split()[2:])
        least, most = _natural_limits(ends, meaning.kind)
        for factor in (1.0, 0.5, 0.25, 0.1):
            changed = list(ends)
            if meaning.scale == "log":
                grown = (ends[1] / ends[0]) ** (0.5 * factor)
                changed[is_high] = ends[1] * grown if is_high else ends[0] / grown
            else:
                grown = (ends[1] - ends[0]) * factor
                changed[is_high] = ends[1] + grown if is_high else ends[0] - grown
            changed[is_high] = min(max(float(f"{changed[is_high]:.2g}"), least), most)
            if meaning.kind == "int":
                changed = [float(round(one)) for one in changed]
            written = [number_to_text(int(one) if one.is_integer() else one) for one in changed]
            domain = f"{meaning.kind} {written[0]}..{written[1]}{' ' + rest if rest else ''}"
            if changed != ends and (edit := self._setting(meaning, domain, domain)) is not None:
                return edit, domain
        return None, ""

    def _setting(self, meaning: Meaning, value: str, expected: str | None) -> Edit | None:
        """The change of a parameter that changes it alone; None if there is none.

        That is where the spec uses it, or else, for another range, where the spec declares it.
        """
        *_, owner, name = ["", *meaning.path.split(".")]
        paths = sorted(
            (one for one in meaning.names if one.endswith(f".{name}")), key=lambda one: (one.count("."), one)
        )
        edits = [Edit("set", f"{path}={value}") for path in paths]
        if expected is not None:
            edits.append(Edit("declare", f"{owner}.{name}={value}"))
        before = {(m.path, m.alternative): m.range for m in self.evaluated.meanings}
        own = (meaning.path, meaning.alternative)
        inside = {other for other in before if other[0].startswith(meaning.path) or other[1] in meaning.range}
        # A block that is used twice has one declaration.
        same = {other for other in before if other[0].endswith(f"{owner}.{name}") and before[other] == meaning.range}
        for edit in edits:
            try:
                spec = self.of.spec(edit_source(self.of.source, [edit]))
                layout = space_to_layout(spec.space, "separate")
            except UserError:
                continue
            after = {(m.path, m.alternative): m.range for m in layout.meanings}
            changed = {key for key in {*before, *after} if before.get(key) != after.get(key)} - {own}
            allowed = inside if expected is None else same if edit.kind == "declare" else set()
            if after.get(own) != before[own] and changed <= allowed:
                return edit
        return None

    # --- the budget ---

    def of_budget(self) -> list[Suggestion]:
        option = self._budget_option()
        if option is None or not self.standard_error:
            return []
        path, size = option
        losses = self.losses[self.known]
        number = len(losses)
        is_random = all(stage.call.name == "random" for stage in self.evaluated.spec.search)
        best = float(losses.min())
        half = _expected_least(losses, number // 2) if is_random else float(losses[: number // 2].min())
        gain = (half - best) / self.standard_error
        if gain >= _WORTH:
            says = f"twice the budget: `{path} = {2 * size}`"
            evidence = (
                f"the second half of the evaluations gained {gain:.2f} standard errors of the estimate, so as many "
                "again may gain too"
            )
            edits = (Edit("set", f"{path}={2 * size}"),)
            return [Suggestion("longer", says, evidence, edits, figures={"gain": gain})]
        if gain <= _WORTHLESS and number >= 2 * FEWEST:
            says = f"half the budget: `{path} = {size // 2}`"
            evidence = f"the second half of the evaluations gained {gain:.2f} standard errors of the estimate"
            edits = (Edit("set", f"{path}={size // 2}"),)
            return [Suggestion("shorter", says, evidence, edits, figures={"gain": gain})]
        return []

    def _budget_option(self) -> tuple[str, int] | None:
        spec = self.evaluated.spec
        if len(spec.search) != 1:
            return None if spec.budget.evaluations is None else ("budget.evaluations", spec.budget.evaluations)
        options = dict(spec.search[0].call.options)
        for name in ("evaluations", "iterations"):
            if isinstance(size := options.get(name), int) and size >= 4:
                return f"search.{name}", size
        return None if spec.budget.evaluations is None else ("budget.evaluations", spec.budget.evaluations)

    # --- failures ---

    def of_failures(self) -> list[Suggestion]:
        failed = self.evaluated.failed
        if failed.sum() < _FEWEST_TRIES:
            return []
        return [*self._late(), *self._implied()]

    def _late(self) -> Iterator[Suggestion]:
        """Alternatives whose models ran into the limit of time."""
        late = np.array([
            one.failure is not None and one.failure.cause == "timeout" for one in self.evaluated.evaluations
        ])  # fmt: skip
        each = self.evaluated.spec.budget.each
        for _, meaning, names, levels in self._alternatives():
            for place, name in enumerate(names):
                own = levels == place
                if own.sum() < _FEWEST_TRIES or late[own].mean() < 0.5 or late[own].mean() < 2 * late[~own].mean():
                    continue
                evidence = f"{int(late[own].sum())} of its {int(own.sum())} models ran into the limit of time"
                is_good = self.known.any() and bool((self.good & own).any())
                if is_good and each is not None:
                    edits: tuple[Edit, ...] = (Edit("set", f"budget.each={number_to_text(2 * each)}s"),)
                    says = f"allow each model {2 * each:g} s, for `{name}`"
                    evidence += ", and others with it are among the best"
                else:
                    edits, says = self._drop(meaning, names, name), f"drop `{name}` from `{meaning.path}`"
                    evidence += ", and none is among the best"
                yield Suggestion("late", says, evidence, edits, figures={"late": int(late[own].sum())})

    def _implied(self) -> list[Suggestion]:
        """A relation of two numbers of one block that separates what failed from what did not."""
        failed, found, looked = self.evaluated.failed, [], 0
        numbers = list(self._numbers())
        for (one, first), (other, second) in combinations(numbers, 2):
            owner, other_owner = first.path.rpartition(".")[0], second.path.rpartition(".")[0]
            both = self.evaluated.active[:, one] & self.evaluated.active[:, other]
            if owner != other_owner or (failed & both).sum() < _FEWEST_TRIES:
                continue
            looked += 2
            a, b = _values(first, self.evaluated.shares[:, one]), _values(second, self.evaluated.shares[:, other])
            for sign, holds in ((">", a > b), ("<", a < b)):
                wrong, right = int((holds & both & failed).sum()), int((holds & both & ~failed).sum())
                if wrong < _FEWEST_TRIES or right or (~holds & both & failed).sum() > 0.1 * wrong:
                    continue
                chance = float(hypergeom.sf(wrong - 1, int(both.sum()), int((both & failed).sum()), wrong))
                found.append((first, second, sign, wrong, int(both.sum()), chance))
        result = []
        for first, second, sign, wrong, total, chance in found:
            if chance * looked >= _CHANCE:
                continue
            left, right_ = (".".join(each.path.split(".")[-2:]) for each in (first, second))
            condition = f"{left} {'<=' if sign == '>' else '>='} {right_}"
            evidence = (
                f"all {wrong} models with {left} {sign} {right_} failed, and almost no other of {total}; "
                f"p = {_p(chance * looked)}, {looked} relations looked at"
            )
            edits = (Edit("require", condition),)
            figures = {"failures": wrong, "p": chance * looked}
            result.append(Suggestion("require", f"require {condition}", evidence, edits, figures=figures))
        return result


def _natural_limits(ends: Sequence[float], kind: str) -> tuple[float, float]:
    """What a wider range does not cross: the sign, and for reals between 0 and 1, which may be shares, these two."""
    low, high = ends
    least = -math.inf if low < 0 else 0.0 if low == 0 else 1.0 if kind == "int" else low / 10
    return least, 1.0 if kind == "real" and low >= 0 and high <= 1 else math.inf


def _values(meaning: Meaning, shares: NDArray[np.float64]) -> NDArray[np.float64]:
    assert meaning.ends is not None
    low, high = meaning.ends
    values = low + shares * (high - low)
    values = 10.0**values if meaning.scale == "log" else values
    return np.rint(values) if meaning.kind == "int" else values


def _expected_least(losses: NDArray[np.float64], number: int) -> float:
    """The least of so many of these losses to expect, if they are drawn without replacement."""
    ordered = np.sort(losses)
    total, expected, left = len(ordered), 0.0, 1.0
    for place, loss in enumerate(ordered):
        if total - place < number:
            break
        chance = number / (total - place)  # that it is drawn, where none below it was
        expected += left * chance * float(loss)
        left *= 1.0 - chance
    return expected / (1.0 - left) if left < 1.0 else float(ordered[0])


def _p(chance: float) -> str:
    return f"{min(chance, 1.0):.1g}" if chance >= 1e-4 or not math.isfinite(chance) else "0.0001 or less"
