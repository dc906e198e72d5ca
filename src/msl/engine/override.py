"""Override: one `PATH=VALUE` — a change to the text of a spec, made before anything is checked.

Because the text itself is changed, the checker judges the new value as if it had been written there, digests follow
it, and the store keeps what was really run. What is wrong with a value is told at the place where the user wrote it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from msl.text.diagnostic import Diagnostic, Label, Severity
from msl.text.source import Source, Span


@dataclass(frozen=True, slots=True)
class Override:
    """What is changed and to what; `source` is how the user wrote it, for messages."""

    path: tuple[str, ...]
    value: str
    source: Source

    @property
    def value_span(self) -> Span:
        """Where the value stands in the source."""
        end = len(self.source.text)
        return Span(end - len(self.value), end)

    def name_span(self, place: int) -> Span:
        """Where one name of the path stands in the source."""
        start = sum(len(name) + 1 for name in self.path[:place])
        return Span(start, start + len(self.path[place]))


class WrongOverride(ValueError):
    """A change that cannot be made; `diagnostics` says why."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("; ".join(each.message for each in diagnostics))


@dataclass(frozen=True, slots=True)
class Overridden:
    """A spec with its changes; `inserted` says which stretches of its text come from which change."""

    source: Source
    inserted: tuple[Inserted, ...] = ()

    def relocated(self, diagnostic: Diagnostic) -> Diagnostic:
        """A diagnostic about what a change has inserted, at the place where the user wrote that."""
        primary = self._label(diagnostic.primary)
        return replace(diagnostic, primary=primary, secondary=tuple(map(self._label, diagnostic.secondary)))

    def _label(self, label: Label) -> Label:
        if label.source != self.source:
            return label
        for inserted in self.inserted:
            if inserted.span.start <= label.span.start and label.span.end <= inserted.span.end:
                return replace(label, source=inserted.override.source, span=inserted.origin(label.span))
        return label


@dataclass(frozen=True, slots=True)
class Anchor:
    """A stretch of the new text, and the stretch of the user's words that it is."""

    start: int
    end: int
    origin: Span


@dataclass(frozen=True, slots=True)
class Inserted:
    """A stretch of the new text that a change has put there."""

    span: Span
    override: Override
    anchors: tuple[Anchor, ...]

    def origin(self, span: Span) -> Span:
        """The user's words behind a part of it; the blanks between two anchors belong to both."""
        first = next(anchor for anchor in self.anchors if anchor.end >= span.start)
        last = next(anchor for anchor in reversed(self.anchors) if anchor.start <= span.end)
        start = first.origin.start + max(0, span.start - first.start)
        end = last.origin.end - max(0, last.end - span.end)
        return Span(start, max(end, start))

    def moved(self, by: int) -> Inserted:
        anchors = tuple(replace(each, start=each.start + by, end=each.end + by) for each in self.anchors)
        return replace(self, span=Span(self.span.start + by, self.span.end + by), anchors=anchors)


def text_to_override(text: str, name: str = "--set") -> Override:
    """The change that `PATH=VALUE` asks for; raises WrongOverride where it is not of this form."""
    left, equals, value = text.partition("=")
    path, value = left.strip(), value.strip()
    source = Source(name, f"{path}={value}" if equals else path)
    names = tuple(path.split("."))
    if not equals or not value or not all(names):
        what = "has no value" if path and not value else "is no path and value"
        raise wrong_override(source, Span(0, len(source.text)), f"`{text}` {what}", f"write `{name} search.swarm=10`")
    return Override(names, value, source)


def wrong_override(source: Source, span: Span, message: str, help: str) -> WrongOverride:
    return WrongOverride([Diagnostic("MSL096", Severity.ERROR, message, Label(source, span), help=help)])
