"""Narrow ranges, vectors, `any ROLE` and lists: what is written in a use must be within the declared domain.

Their elements are narrowed by the `Narrower` of `narrow`, which passes itself in.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from msl.check.domains.alternatives import choice
from msl.check.domains.contains import (
    Outside,
    Place,
    has_finer_step,
    is_on_grid,
    may_lie_inside,
    options_of_kind,
)
from msl.check.domains.declared import Declarer, listing_of
from msl.check.domains.number_ranges import Bounds
from msl.check.domains.vector_lengths import Lengths
from msl.diagnostics.diagnostic import Report
from msl.diagnostics.source import Source
from msl.language import ast
from msl.record import record
from msl.space.formulas import Amount, Formula
from msl.space.nodes import (
    BlockUse,
    Bool,
    Const,
    IntRange,
    Listing,
    Node,
    RealRange,
    Regions,
    Sized,
    Vector,
    alternatives,
)
from msl.space.values import is_number


class Items(Protocol):
    """Narrows the elements of vectors and lists."""

    def open(self, declared: Node, expression: ast.Expression, place: Place, closes: bool = False) -> Node | None: ...

    def one(self, declared: Node, expression: ast.Expression, place: Place, closes: bool) -> Node | None: ...

    def choice(self, declared: Node, written: ast.Choice, place: Place) -> Node | None: ...


@record
class StructuredNarrower:
    """Narrows domains with a structure; what is outside the declared domain is reported and returned as None."""

    declarer: Declarer
    items: Items

    def range(self, declared: Node, written: ast.Range, place: Place) -> Node | None:
        ranges = options_of_kind(declared, IntRange) + options_of_kind(declared, RealRange)
        if not ranges:
            numbers = [o for o in alternatives(declared) if isinstance(o, Const) and is_number(o.value)]
            if numbers and written.kind is None and not written.log and written.step is None:
                return self._listed_numbers(declared, written, place)
            domain = self._source.slice(written.span) if written.kind is not None else None
            self._outside.other(written, place, "a range", domain)
            return None
        inherited = ranges[0]
        assert isinstance(inherited, IntRange | RealRange)
        if not self._ends_inside(inherited, written, place):
            return None
        node = self.declarer.range(written, inherited)
        if node is None:
            return None
        if isinstance(node, RealRange) and isinstance(inherited, IntRange):
            message = f"`{place.parameter}` takes integers"
            also = place.owner.also(place.parameter)
            help = f"write `{self._source.slice(written.span).replace('real', 'int', 1)}`"
            self._report.error("MSL086", self._source, written.span, message, "", help, also)
            return None
        if isinstance(node, IntRange) and isinstance(inherited, RealRange):
            node = RealRange(node.low, node.high, node.log, float(node.step), node.prior)
        if has_finer_step(node, inherited):
            self._outside.steps(written, place, inherited, written)
            return None
        if not is_on_grid(node.low, inherited):
            self._outside.steps(written.low, place, inherited, written)
            return None
        return node

    def _ends_inside(self, declared: IntRange | RealRange, written: ast.Range, place: Place) -> bool:
        """Whether both ends may be in the declared range; invalid ends are reported later, when the range is read."""
        bounds = Bounds(self.declarer.module, Report())
        low, high = bounds.amount(written.low), bounds.amount(written.high)
        if low is None or high is None or not (isinstance(low, Formula) or isinstance(high, Formula) or low <= high):
            return True
        for amount, end in ((low, written.low), (high, written.high)):
            if not may_lie_inside(amount, declared):
                self._outside.range_end(end, place, written)
                return False
        return True

    def _listed_numbers(self, declared: Node, written: ast.Range, place: Place) -> Node | None:
        """A range where the declared alternatives are numbers: those within it."""
        bounds = Bounds(self.declarer.module, self._report)
        low, high = bounds.amount(written.low), bounds.amount(written.high)
        if low is None or high is None:
            return None
        if isinstance(low, Formula) or isinstance(high, Formula):
            self._outside.other(written, place, "a range that depends on the table")
            return None
        inside = [
            o
            for o in alternatives(declared)
            if isinstance(o, Const) and is_number(o.value) and low <= o.value <= high  # type: ignore[operator]
        ]
        if not inside:
            self._outside.other(written, place, "a range without any of its values")
            return None
        return choice(list(inside))

    def vector(self, declared: Node, written: ast.Vector, place: Place) -> Node | None:
        if isinstance(declared, Sized):
            return self._sized(declared, written, place)
        vectors = options_of_kind(declared, Vector)
        if not vectors and isinstance(declared, Listing) and isinstance(written.size, ast.Number):
            return self._repeated(declared, written, place)
        if not vectors:
            self._outside.other(written, place, "a vector", self._source.slice(written.span))
            return None
        parent = vectors[0]
        assert isinstance(parent, Vector)
        size = Bounds(self.declarer.module, self._report).amount(written.size)
        element = self.items.open(parent.element, written.element, _element(place, parent.element))
        if size is None or element is None:
            return None
        if size != parent.size:
            self._outside.other(written.size, place, f"a vector of {size}")
            return None
        if not isinstance(element, IntRange | RealRange | Bool):
            self._outside.other(written.element, place, "that element")
            return None
        return Vector(size, element)

    def _sized(self, declared: Sized, written: ast.Vector, place: Place) -> Node | None:
        """A vector by a parameter: the same length, narrower elements."""
        length = Lengths(self._source, self._report).term(written.size)
        if length is None:
            return None
        if length != declared.length:
            self._outside.other(written.size, place, f"a vector of length `{self._source.slice(written.size.span)}`")
            return None
        element = self._element_of(declared.element, written.element, place)
        return None if element is None else Sized(length, element)

    def _repeated(self, declared: Listing, written: ast.Vector, place: Place) -> Node | None:
        """A vector of alternatives where as many are declared."""
        if written.size.value != len(declared.elements):  # type: ignore[union-attr]
            self._outside.other(written.size, place, f"a vector of {self._source.slice(written.size.span)}")
            return None
        elements = [self._element_of(element, written.element, place) for element in declared.elements[:1]]
        return _listing(elements * len(declared.elements))

    def _element_of(self, declared: Node, written: ast.Expression, place: Place) -> Node | None:
        if not isinstance(written, ast.Choice):
            return self.items.open(declared, written, _element(place, declared))
        return self.items.choice(declared, written, _element(place, declared))

    def any_of(self, declared: Node, where: ast.AnyOf, role: ast.Path, place: Place) -> Node | None:
        of_role = [o for o in alternatives(declared) if isinstance(o, BlockUse) and o.block.role == role.names[-1].text]
        if not of_role:
            self._outside.other(where, place, f"`any {role.text}`")
            return None
        return choice(list(of_role))

    def list_of(self, declared: Node, written: ast.ListOf, place: Place, closes: bool) -> Node | None:
        """A list in brackets: the value of a vector, of regions, or one of the declared lists."""
        for parent in alternatives(declared):
            if isinstance(parent, Sized):
                place = _element(place, parent.element)
                return _listing([self.items.open(parent.element, item, place, closes) for item in written.items])
            if isinstance(parent, Vector):
                return self._elements(written, parent.element, parent.size, place)
            if isinstance(parent, Regions):
                return self._points(written, parent, place)
            if isinstance(parent, Listing) and len(parent.elements) == len(written.items):
                pairs = zip(parent.elements, written.items, strict=True)
                elements = [self.items.open(inner, item, _element(place, inner), closes) for inner, item in pairs]
                return _listing(elements)
        node = self.declarer.listing(written.items, written)
        if node is None:
            return None
        constants = [option.value for option in alternatives(declared) if isinstance(option, Const)]
        if isinstance(node, Const) and node.value in constants:
            return node
        lengths = {len(o.elements) for o in alternatives(declared) if isinstance(o, Listing)}
        what = f"a list of {len(written.items)}" if lengths else "a list"
        self._outside.other(written, place, what)
        return None

    def _elements(self, written: ast.ListOf, element: Node, size: Amount, place: Place) -> Node | None:
        if isinstance(size, int) and size != len(written.items):
            self._outside.other(written, place, f"a list of {len(written.items)}")
            return None
        return _listing([self.items.one(element, item, _element(place, element), True) for item in written.items])

    def _points(self, written: ast.ListOf, parent: Regions, place: Place) -> Node | None:
        """Regions as a list of points: numbers for a unit that is used, `none` for one that is not."""
        points: list[Node] = []
        for item in written.items:
            if isinstance(item, ast.Nothing):
                points.append(Const(None))
                continue
            if not isinstance(item, ast.ListOf):
                self._outside.other(item, place, f"`{self._source.slice(item.span)}`")
                return None
            point = self._elements(item, RealRange(0, 1), parent.width, place)
            if point is None:
                return None
            points.append(point)
        return listing_of(points)

    @property
    def _source(self) -> Source:
        return self.declarer.module.source

    @property
    def _report(self) -> Report:
        return self.declarer.report

    @property
    def _outside(self) -> Outside:
        return Outside(self._source, self._report)


def _element(place: Place, declared: Node) -> Place:
    return replace(place, declared=declared, is_element=True)


def _listing(elements: list[Node | None]) -> Node | None:
    sound = [element for element in elements if element is not None]
    return listing_of(sound) if len(sound) == len(elements) else None
