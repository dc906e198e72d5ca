"""Symbols that have an order: the order that the user gives for a column, or the one that its symbols plainly have.

`infer_order` knows the words of scales (small, medium, large; never … always; strongly disagree … strongly agree),
numbered words (1st, level 2), and ranges of numbers that do not overlap (<1 year, 10-20, 60+). In an ordered column
`unknown` and its like mean that the value is missing, since they have no place in any order.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import pairwise
from math import inf

import polars as pl

from msl.data.data_errors import DataError, DataProblem, in_spec, listed, problem
from msl.data.infer_types import TypedColumn, is_usual

#: A column with its symbols, the lowest first; without symbols where their order is to be inferred.
Order = tuple[str, ...]

#: Two symbols have no order that helps: one column of 0 and 1 says the same.
_FEWEST = 3

# --- scales -----------------------------------------------------------------------------------------------------------

#: The levels of each scale, the lowest first; `/` stands between words for the same level.
_SCALES = (
    "none/no/nil/zero, lowest/minimal/extremely low, very low/vlow/very small, low/lo,"
    " below average/medium low/mid low,"
    " medium/med/mid/moderate/middle/normal, above average/medium high/mid high, high/hi, very high/vhigh,"
    " highest/extremely high/maximal",
    "none, xxxs, xxs/extra extra small, xs/extra small/x small/tiny, s/sm/small, m/med/md/medium, l/lg/large,"
    " xl/extra large/x large/huge, xxl/2xl/extra extra large, xxxl/3xl, xxxxl/4xl, 5xl",
    "none, very small/tiny, small, medium/med/moderate/average, big/large, very big/very large/huge",
    "none, light/slight/mild/minor, medium/moderate, strong/severe/major/heavy,"
    " very strong/very severe/extreme/critical",
    "strongly disagree/disagree strongly/completely disagree/totally disagree/fully disagree, disagree,"
    " slightly disagree/somewhat disagree/rather disagree, neutral/neither agree nor disagree/neither/undecided/unsure,"
    " slightly agree/somewhat agree/rather agree, agree,"
    " strongly agree/agree strongly/completely agree/totally agree/fully agree",
    "extremely dissatisfied, very dissatisfied/very unsatisfied, dissatisfied/unsatisfied,"
    " slightly dissatisfied/somewhat dissatisfied, neutral/neither/neither satisfied nor dissatisfied,"
    " slightly satisfied/somewhat satisfied, satisfied, very satisfied, extremely satisfied",
    "never/not at all, almost never/hardly ever/very rarely, rarely/seldom, occasionally,"
    " sometimes, often/frequently, very often/very frequently/usually/mostly, almost always, always",
    "no travel/non travel, travel rarely, travel frequently",
    "extremely unlikely, very unlikely, unlikely, neutral/possible, likely/probable, very likely,"
    " extremely likely/certain",
    "not important/unimportant/not at all important, slightly important, moderately important/neutral, important,"
    " very important, extremely important",
    "worst/terrible/awful/extremely poor, very poor/very bad, poor/bad, fair, below average,"
    " average/typical/acceptable/ok/okay/normal/neutral, above average, good, very good, excellent/great,"
    " very excellent/perfect/outstanding",
    "bad, good, better, best",
    "fail/failed, pass/passed, merit/credit, distinction",
    "unacceptable/unacc, acceptable/acc, good, very good/vgood",
    "none, primary/elementary/primary school, secondary/middle/secondary school, tertiary/university",
    "below college/no college, high school/highschool, college/some college, associate/associates,"
    " bachelor/bachelors/bachelor's/undergraduate, master/masters/master's/graduate,"
    " doctor/doctorate/phd/doctoral/postgraduate",
    "unfinished, rough finished/rough/roughly finished, finished",
    "beginner/novice/newbie, elementary, intermediate, advanced, expert/proficient",
    "trainee/intern, junior/jr, mid/medior/regular, senior/sr, lead/staff, principal",
    "newborn/infant/baby, toddler, child, teenager/teen/adolescent, young adult, adult, senior/elderly",
    "bronze, silver, gold, platinum, diamond",
    "cold/freezing, cool, mild/warm, hot, very hot",
    "very slow, slow, medium/moderate/normal, fast, very fast",
    "very easy, easy, medium/moderate/normal, hard/difficult, very hard/very difficult",
    "gentle/gtl, moderate/mod, severe/sev",
    "minimum, typical/medium/average, maximum",
)


def _levels(text: str) -> dict[str, int]:
    return {word.strip(): place for place, level in enumerate(text.split(",")) for word in level.split("/")}


_PLACES = tuple(_levels(text) for text in _SCALES)


def infer_order(name: str, symbols: Collection[str]) -> Order | None:
    """The symbols from the lowest to the highest, if it is plain; None if not, or if there are fewer than three."""
    if len(symbols) < _FEWEST:
        return None
    spelt = {symbol: _plain(symbol) for symbol in symbols}
    absent = [symbol for symbol, word in spelt.items() if word.startswith("no ")]
    for scale in _PLACES:
        if all(word in scale for word in spelt.values()):
            return _ascending({symbol: scale[word] for symbol, word in spelt.items()})
        # No pool is less than a poor one.
        if len(absent) == 1 and len(symbols) > _FEWEST:
            places = {symbol: -1 if symbol in absent else scale.get(word) for symbol, word in spelt.items()}
            if None not in places.values():
                return _ascending(places)  # type: ignore[arg-type]
    return _grades(name, symbols) or _numbered(symbols) or _ranges(symbols)


def _plain(symbol: str) -> str:
    """In lower case, with blanks for other signs between words, without a number before it as in `3 - neutral`."""
    words = re.sub(r"[\s_\-./]+", " ", symbol.replace("'", "").lower()).strip()
    return re.sub(r"^\(?[0-9]{1,2}\)?[:) ]+(?=[a-z])", "", words)


def _ascending(places: dict[str, int]) -> Order | None:
    """None where two symbols are on the same level: one of them is then probably something else."""
    if len(set(places.values())) < len(places):
        return None
    return tuple(sorted(places, key=places.__getitem__))


_UNKNOWN = re.compile(
    r"([a-z]+ )?(unk|unknown|not (known|stated|given|available|applicable|specified|reported)|no (answer|response)|"
    r"missing|unspecified|undisclosed|prefer not to (say|answer)|dont know|do not know|refused)"
)


def says_nothing(symbol: str) -> bool:
    """Whether a symbol of an ordered column means that its place is not known: that value is then missing."""
    return is_usual(symbol) or _UNKNOWN.fullmatch(_plain(symbol)) is not None


# --- grades, numbered words, ranges -----------------------------------------------------------------------------------

_GRADED = re.compile(r"(grade|rating|rank|tier|band|level|stage|score|quality|condition)", re.IGNORECASE)
_GRADE = re.compile(r"([A-Za-z])([0-9]{0,2}|[+-])")


def _grades(name: str, symbols: Collection[str]) -> Order | None:
    """A, B, C … or A1, A2, B1 …, where the column is called a grade or the like; A is the first."""
    found = {symbol: _GRADE.fullmatch(symbol) for symbol in symbols}
    if not _GRADED.search(name) or not all(found.values()):
        return None
    signs = {"+": 0.0, "": 1.0, "-": 2.0}
    keys = {s: (m[1].upper(), signs[m[2]] if m[2] in signs else float(m[2])) for s, m in found.items() if m is not None}
    letters = sorted({letter for letter, _ in keys.values()})
    gaps = [ord(after) - ord(before) for before, after in pairwise(letters)]
    if letters[0] != "A" or any(gap > 2 for gap in gaps) or len(set(keys.values())) < len(keys):
        return None
    return tuple(sorted(keys, key=keys.__getitem__))


_NUMBERED = re.compile(r"([A-Za-z]{2,}[\s_\-.]*)?([0-9]{1,3})(st|nd|rd|th)?([\s_\-.]*[A-Za-z]{2,})?", re.IGNORECASE)


def _numbered(symbols: Collection[str]) -> Order | None:
    """1st, 2nd, 3rd, or words that stand with nearly all numbers from the first to the last: level 1, level 2 …"""
    found = [(symbol, _NUMBERED.fullmatch(symbol.strip())) for symbol in symbols]
    parts = [(symbol, match[1], int(match[2]), match[3], match[4]) for symbol, match in found if match is not None]
    if len(parts) < len(found) or len({number for _, _, number, _, _ in parts}) < len(parts):
        return None
    counts = all(ending for *_, ending, _ in parts)
    same = len({((before or "").lower(), (after or "").lower()) for _, before, _, _, after in parts}) == 1
    graded = all(before and _GRADED.search(before) for _, before, *_ in parts)
    if not same or not (counts or graded):
        return None
    return tuple(symbol for symbol, *_ in sorted(parts, key=lambda part: part[2]))


_AMOUNT = r"[€$£]?\s*([0-9][0-9,' ]*(?:\.[0-9]+)?)\s*([kKmM](?![a-z]))?"
_UNIT = r"\s*([A-Za-z%€$£²°][A-Za-z%€$£²°/. ]*)?"
_BELOW = re.compile(rf"(<=?|≤|under|less than|below|up to|at most|until|lt|fewer than)[\s_]*{_AMOUNT}{_UNIT}", re.I)
_ABOVE = re.compile(rf"(>=?|≥|over|more than|above|at least|from|ge|gt)[\s_]*{_AMOUNT}{_UNIT}", re.I)
_OPEN = re.compile(
    rf"{_AMOUNT}\s*(?:\+|and (?:over|above|more|older)|or (?:more|over|older|above)|plus|more){_UNIT}", re.I
)
_OPEN_UNIT = re.compile(rf"{_AMOUNT}{_UNIT}\s*(?:\+|and (?:over|above|more|older)|or (?:more|over|older|above))", re.I)
_BETWEEN = re.compile(rf"[(\[]?{_AMOUNT}{_UNIT}\s*(?:-|–|—|to|\.\.|,|;)\s*{_AMOUNT}{_UNIT}[)\]]?", re.I)
_ONE = re.compile(rf"{_AMOUNT}{_UNIT}")
_TIMES = {"k": 1e3, "m": 1e6}


def _ranges(symbols: Collection[str]) -> Order | None:
    """Ranges of numbers of one unit that do not overlap, with at least one that is more than a number."""
    ends: dict[str, tuple[float, float]] = {}
    units: set[str] = set()
    n_ranges = 0
    for symbol in symbols:
        found = _range(symbol)
        if found is None:
            return None
        low, high, unit = found
        ends[symbol] = (low, high)
        n_ranges += low < high
        if unit:
            units.add(unit.lower().rstrip("s. ").strip())
    in_order = sorted(ends, key=ends.__getitem__)
    overlaps = any(ends[a][1] > ends[b][0] or ends[a] == ends[b] for a, b in pairwise(in_order))
    return None if overlaps or len(units) > 1 or not n_ranges else tuple(in_order)


def _range(symbol: str) -> tuple[float, float, str] | None:
    """The lowest and the highest number that a symbol stands for, and their unit; None where it is no range."""
    text = re.sub(r"^[A-Za-z]+_(?=(lt|ge|gt|le)?_?[0-9])", "", symbol.strip()).replace("_", " ").strip()
    if match := _BELOW.fullmatch(text):
        return -inf, _amount(match[2], match[3]), match[4] or ""
    if match := _ABOVE.fullmatch(text):
        return _amount(match[2], match[3]), inf, match[4] or ""
    for form in (_OPEN, _OPEN_UNIT):
        if match := form.fullmatch(text):
            return _amount(match[1], match[2]), inf, match[3] or ""
    if match := _BETWEEN.fullmatch(text):
        low, high = _amount(match[1], match[2]), _amount(match[4], match[5])
        # `10 - 20k` means thousands on both sides.
        low = low * _TIMES[match[5].lower()] if match[5] and not match[2] and low < high else low
        return (low, high, match[6] or match[3] or "") if low < high else None
    if match := _ONE.fullmatch(text):
        value = _amount(match[1], match[2])
        return value, value, match[3] or ""
    return None


def _amount(digits: str, times: str | None) -> float:
    return float(re.sub(r"[,' ]", "", digits)) * _TIMES.get((times or "").lower(), 1.0)


# --- columns in `data(ordered = …)` -----------------------------------------------------------------------------------


def ordered_column(column: TypedColumn, given: Sequence[str]) -> tuple[TypedColumn, Order]:
    """A column of symbols as an ordered one, and its symbols from the lowest to the highest.

    `given` is their order, or empty to infer it; raises DataError where it cannot be inferred or lacks a symbol.
    """
    values = column.values
    if values.dtype != pl.String:
        values = values.cast(pl.String)
    symbols = list(dict.fromkeys(values.drop_nulls()))
    if not given:
        stated = [symbol for symbol in symbols if not says_nothing(symbol)]
        found = infer_order(column.name, symbols) or infer_order(column.name, stated)
        if found is None:
            raise DataError([_not_plain(column.name, symbols)])
        given = found
    known = set(given)
    if unknown := [symbol for symbol in symbols if symbol not in known and not says_nothing(symbol)]:
        raise DataError([_without_place(column.name, values, unknown, given)])
    values = values.set(~values.is_in(list(known)), None)
    return TypedColumn(column.name, "ordered", values, column.decimal), tuple(given)


def _not_plain(name: str, symbols: Sequence[str]) -> DataProblem:
    shown = listed([repr(symbol) for symbol in symbols], shown=8)
    if len(symbols) < _FEWEST:
        message = (
            f"column `{name}` has {len(symbols)} different symbols, and an order needs at least {_FEWEST}: {shown}"
        )
        return problem("MSL481", message, f"take `{name}` out of `ordered`", column=name)
    message = f"the order of the symbols of column `{name}` is not plain: {shown}"
    if all(re.fullmatch(r"[+-]?[0-9.]+", symbol) for symbol in symbols):
        message = f"column `{name}` holds numbers, which have their order already: {shown}"
        return problem("MSL481", message, f"take `{name}` out of `ordered`", column=name)
    help = f"write them from the lowest to the highest: ordered = [{order_in_spec((name, *sorted(symbols)[:8]))}]"
    return problem("MSL481", message, help, column=name)


def _without_place(name: str, values: pl.Series, unknown: Sequence[str], given: Sequence[str]) -> DataProblem:
    rows = values.is_in(list(unknown)).arg_true()
    places = ", ".join(f"row {row + 1} holds {values[row]!r}" for row in rows[:3])
    more = f", … ({len(rows):,} rows in all)" if len(rows) > 3 else ""
    message = f"the order of column `{name}` lacks {listed(map(repr, unknown))}: {places}{more}"
    order = " < ".join(map(in_spec, given[:6])) + (" < …" if len(given) > 6 else "")
    help = f"give each a place in `{order}`, or write missing = [{in_spec(unknown[0])}] if it means nothing"
    return problem("MSL480", message, help, column=name, row=rows[0] + 1)


def order_in_spec(order: Order) -> str:
    """As `data(ordered = […])` has it: `size(S < M < L)`, or the column alone."""
    name, *symbols = order
    return f"{in_spec(name)}({' < '.join(map(in_spec, symbols))})" if symbols else in_spec(name)
