"""Uses of one block, alternatives of one name and lists of one length, united into one form.

Each is a box: a domain for every parameter. `sc | sc(k: 1..2)` is the box of `sc` alone, and `rf(units: 10..50) |
rf(units: 51..1000)` is `rf(units: 10..1000)`. In general boxes are cut along one parameter, what is left of them for
each of its values is put into its one form, and values with the same rest are put together again; of the parameters,
the one is taken that leaves the fewest boxes. Nothing in this depends on how the boxes were written, so boxes that hold
the same values get the same form, as long as the pieces of their domains are numbers, texts, yes or no, or nothing.
Any other piece, such as an end that follows the table or an alternative with parameters of its own, is the same as
another only where it reads the same; that never makes two different sets one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

from msl.space.canonical.content_hash import Entries, Entry, Key
from msl.space.canonical.normal_numbers import MOST_LISTED, int_spans, number_key, real_points

#: How many comparisons of pieces may be made to unite the alternatives of one choice; beyond, they stay as they are.
MOST_COMPARISONS = 200_000

#: A domain for each parameter, in the order of their names; None for those that were cut along before.
Box = tuple[Key | None, ...]
Boxes = frozenset[Box]
Span = tuple[int, int]
Stretch = tuple[float, float]

#: How many words of an entry say what it is, before its parameters.
_HEADS = {"block": 5, "symbol": 2, "own": 2}


def merge_records(entries: Entries, options: list[Key], unite: Callable[[list[Key]], Key]) -> list[Key]:
    """Alternatives with those of one block, name or length united; `unite` gives the key of a choice of values."""
    heads = [_what(key, entries[key]) for key in options]
    if len(set(heads)) == len(options):
        return options
    alike: dict[object, list[Key]] = defaultdict(list)
    for head, key in zip(heads, options, strict=True):
        alike[head].append(key)
    found: list[Key] = []
    for same in alike.values():
        found.extend(_merged(entries, same, unite) if len(same) > 1 else same)
    return found


def _what(key: Key, entry: Entry) -> object:
    """What two alternatives must have in common to hold the same values, at first sight."""
    kind = entry[0]
    if kind in ("block", "symbol", "own"):
        return entry[: _HEADS[kind]]
    return ("list", len(entry)) if kind == "list" else key


def _merged(entries: Entries, options: list[Key], unite: Callable[[list[Key]], Key]) -> Iterator[Key]:
    """Alternatives that look alike; united are those with the same parameters under the same conditions."""
    kinds: dict[_Frame, set[Box]] = defaultdict(set)
    for key in options:
        frame, box = _taken_apart(entries, entries[key])
        kinds[frame].add(box)
    for frame, boxes in kinds.items():
        try:
            united = _Union(entries, unite).form(frozenset(boxes)) if len(boxes) > 1 else boxes
        except _TooMany:
            united = boxes
        yield from (_put_together(entries, frame, box) for box in united)


#: The head of an entry, and of each parameter its name and condition; no names for the elements of a list.
_Frame = tuple[Entry, tuple[tuple[str, Key | None], ...]]


def _taken_apart(entries: Entries, entry: Entry) -> tuple[_Frame, Box]:
    words = _HEADS.get(str(entry[0]))
    if words is None:
        return (entry[:1], ()), tuple(map(str, entry[1:]))
    params = [entries[str(key)] for key in entry[words:]]
    frame = tuple((str(name), None if condition is None else str(condition)) for _, name, _, condition in params)
    return (entry[:words], frame), tuple(str(domain) for _, _, domain, _ in params)


def _put_together(entries: Entries, frame: _Frame, box: Box) -> Key:
    head, names = frame
    if head == ("list",):
        return entries.add("list", *box)
    params = (entries.add("param", *(name, box[i], condition)) for i, (name, condition) in enumerate(names))
    return entries.add(*head, *params)


class _TooMany(Exception):
    """More comparisons than are worth it."""


class _Union:
    """A union of boxes, as the one set of boxes that stands for it."""

    def __init__(self, entries: Entries, unite: Callable[[list[Key]], Key]) -> None:
        self._entries, self._unite = entries, unite
        self._left = MOST_COMPARISONS
        self._forms: dict[Boxes, Boxes] = {}
        self._pieces: dict[Key, _Pieces] = {}

    def form(self, boxes: Boxes) -> Boxes:
        """The boxes that stand for all sets of boxes with the same values."""
        if len(boxes) == 1:
            return boxes
        if boxes not in self._forms:
            self._forms[boxes] = self._form(boxes)
        return self._forms[boxes]

    def _form(self, boxes: Boxes) -> Boxes:
        some = next(iter(boxes))
        axes = [axis for axis, domain in enumerate(some) if any(box[axis] != domain for box in boxes)]
        self._spend(len(boxes))
        if len(axes) == 1:
            return frozenset({_with(some, axes[0], self._united(str(box[axes[0]]) for box in boxes))})
        best: tuple[tuple[int, int, int], Boxes] | None = None
        for axis in axes:
            cut = self._cut(boxes, axis)
            united = frozenset(_with(rest, axis, domain) for form, domain in cut.items() for rest in form)
            rank = len(united), len(cut), axis
            if best is None or rank < best[0]:
                best = rank, united
        assert best is not None
        return best[1]

    def _united(self, domains: Iterable[Key]) -> Key:
        return self._unite(sorted(set(domains)))

    def _spend(self, comparisons: int) -> None:
        self._left -= comparisons
        if self._left < 0:
            raise _TooMany

    # --- along one parameter ---

    def _cut(self, boxes: Boxes, axis: int) -> dict[Boxes, Key]:
        """The forms of what is left for the values of one parameter, each with the domain of these values."""
        rests: dict[Key, set[Box]] = defaultdict(set)
        for box in boxes:
            self._spend(len(box))
            rests[str(box[axis])].add(_with(box, axis, None))
        domains = {domain: self._known(domain) for domain in rests}
        found: dict[Boxes, list[Key]] = defaultdict(list)

        def form(holders: Iterable[Key]) -> Boxes:
            return self.form(frozenset(rest for domain in holders for rest in rests[domain]))

        for key, holders in self._others(domains):
            found[form(holders)].append(key)
        for log in (False, True):
            for first, last, holders in self._whole(domains, log):
                found[form(holders)].append(_span_key(self._entries, first, last, log))
            self._real(domains, log, form, found)
        return {rest: self._united(pieces) for rest, pieces in found.items()}

    def _known(self, domain: Key) -> _Pieces:
        if domain not in self._pieces:
            self._pieces[domain] = _Pieces(self._entries, domain)
        return self._pieces[domain]

    def _others(self, domains: dict[Key, _Pieces]) -> Iterator[tuple[Key, list[Key]]]:
        holders: dict[Key, list[Key]] = defaultdict(list)
        for domain, pieces in domains.items():
            for key in pieces.others:
                holders[key].append(domain)
        self._spend(len(holders))
        yield from holders.items()

    def _whole(self, domains: dict[Key, _Pieces], log: bool) -> Iterator[tuple[int, int, list[Key]]]:
        spans = [(*span, domain) for domain, pieces in domains.items() for span in pieces.spans[log]]
        edges = sorted({edge for first, last, _ in spans for edge in (first, last + 1)})
        self._spend(len(edges) * len(spans))
        for edge, following in pairwise(edges):
            holders = [domain for first, last, domain in spans if first <= edge and following - 1 <= last]
            if holders:
                yield edge, following - 1, holders

    def _real(
        self,
        domains: dict[Key, _Pieces],
        log: bool,
        form: Callable[[Iterable[Key]], Boxes],
        found: dict[Boxes, list[Key]],
    ) -> None:
        """Stretches keep their ends, since whatever holds a stretch holds them; ends and points where more is left."""
        stretches = [(*ends, domain) for domain, pieces in domains.items() for ends in pieces.stretches[log]]
        points: dict[float, set[Key]] = defaultdict(set)
        for domain, pieces in domains.items():
            for point in () if log else pieces.points:
                points[point].add(domain)
        edges = sorted({edge for low, high, _ in stretches for edge in (low, high)} | points.keys())
        self._spend(len(edges) * (1 + len(stretches)))
        before: set[Key] = set()
        for i, edge in enumerate(edges):
            after: set[Key] = set()
            if i + 1 < len(edges):
                after = {domain for low, high, domain in stretches if low <= edge and edges[i + 1] <= high}
            here = {domain for low, high, domain in stretches if low <= edge <= high} | points.get(edge, set())
            beside = before | after
            if here != beside and (not beside or form(here) != form(beside)):
                found[form(here)].append(_point_key(self._entries, edge, log))
            if after:
                found[form(after)].append(self._entries.add("reals", edge, edges[i + 1], log))
            before = after


class _Pieces:
    """A domain taken apart: whole numbers and ranges of reals by their scale, single reals, and what is no number."""

    def __init__(self, entries: Entries, domain: Key) -> None:
        self.spans: dict[bool, list[Span]] = {False: [], True: []}
        self.stretches: dict[bool, list[Stretch]] = {False: [], True: []}
        self.points: list[float] = []
        self.others: list[Key] = []
        for key in entries.pieces(domain, "choice"):
            match entries[key]:
                case ("int", _) | ("ints", _, _, 1) as entry:
                    self.spans[False].extend(int_spans(entry))
                case ("ints", int(first), int(last), int(step)) as entry if (last - first) // step < MOST_LISTED:
                    self.spans[False].extend(int_spans(entry))
                case ("log_ints", int(first), int(last), 1):
                    self.spans[True].append((first, last))
                case ("real", _) as entry:
                    self.points.extend(real_points(entry))
                case ("grid", _, _, int(levels), False) as entry if levels <= MOST_LISTED:
                    self.points.extend(real_points(entry))
                case ("reals", float(low), float(high), bool(log)):
                    self.stretches[log].append((low, high))
                case _:
                    self.others.append(key)


def _with(box: Box, axis: int, domain: Key | None) -> Box:
    return (*box[:axis], domain, *box[axis + 1 :])


def _span_key(entries: Entries, first: int, last: int, log: bool) -> Key:
    if log:
        return entries.add("log_ints", first, last, 1)
    return entries.add("int", first) if first == last else entries.add("ints", first, last, 1)


def _point_key(entries: Entries, point: float, log: bool) -> Key:
    return entries.add("reals", point, point, True) if log else number_key(entries, point)
