"""Apply `--set PATH=VALUE`: change the text of a spec before it is checked.

Because the text itself is changed, the new value is checked as if it had been written there, it is part of digests, and
the store records what was run. Errors in a value are reported at the place where the user wrote it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace

from msl.diagnostics.diagnostic import Diagnostic, Label, Severity
from msl.diagnostics.source import Source, Span
from msl.diagnostics.suggest import did_you_mean, listing
from msl.diagnostics.user_error import UserError
from msl.language import ast
from msl.language.parser import text_to_ast
from msl.space.spec import DEFAULT_SEARCH, Budget, DataStatement


@dataclass(frozen=True, slots=True)
class Override:
    """A path and its new value; `source` is what the user wrote, for messages."""

    path: tuple[str, ...]
    value: str
    source: Source

    @property
    def value_span(self) -> Span:
        """The span of the value in the source."""
        end = len(self.source.text)
        return Span(end - len(self.value), end)

    def name_span(self, place: int) -> Span:
        """The span of one name of the path in the source."""
        start = sum(len(name) + 1 for name in self.path[:place])
        return Span(start, start + len(self.path[place]))


class WrongOverride(UserError):
    """A change that cannot be made; `diagnostics` say why."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("; ".join(each.message for each in diagnostics))


@dataclass(frozen=True, slots=True)
class Overridden:
    """A spec with its changes; `inserted` records which spans of its text come from which change."""

    source: Source
    inserted: tuple[Inserted, ...] = ()

    def relocated(self, diagnostic: Diagnostic) -> Diagnostic:
        """The diagnostic, moved from inserted text to the place where the user wrote it."""
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
    """A span of the new text, and the span of the user's text that it comes from."""

    start: int
    end: int
    origin: Span


@dataclass(frozen=True, slots=True)
class Inserted:
    """A span of the new text that was inserted by a change."""

    span: Span
    override: Override
    anchors: tuple[Anchor, ...]

    def origin(self, span: Span) -> Span:
        """The user's text for a part of it; blanks between two anchors belong to both."""
        first = next(anchor for anchor in self.anchors if anchor.end >= span.start)
        last = next(anchor for anchor in reversed(self.anchors) if anchor.start <= span.end)
        start = first.origin.start + max(0, span.start - first.start)
        end = last.origin.end - max(0, last.end - span.end)
        return Span(start, max(end, start))

    def moved(self, by: int) -> Inserted:
        anchors = tuple(replace(each, start=each.start + by, end=each.end + by) for each in self.anchors)
        return replace(self, span=Span(self.span.start + by, self.span.end + by), anchors=anchors)


def text_to_override(text: str, name: str = "--set") -> Override:
    """Parse `PATH=VALUE`; raises WrongOverride if it does not have this form."""
    left, equals, value = text.partition("=")
    path, value = left.strip(), value.strip()
    source = Source(name, f"{path}={value}" if equals else path)
    names = tuple(path.split("."))
    if not equals or not value or not all(names):
        what = "has no value" if path and not value else "is not of the form PATH=VALUE"
        raise wrong_override(source, Span(0, len(source.text)), f"`{text}` {what}", f"write `{name} search.swarm=10`")
    return Override(names, value, source)


def wrong_override(source: Source, span: Span, message: str, help: str) -> WrongOverride:
    return WrongOverride([Diagnostic("MSL096", Severity.ERROR, message, Label(source, span), help=help)])


# --- applying overrides -----------------------------------------------------------------------------------------------


#: The first names of paths, and the statements that they refer to.
_STATEMENTS: dict[str, type[ast.Node]] = {
    "budget": ast.Budget,
    "data": ast.Data,
    "ensemble": ast.Ensemble,
    "maximize": ast.Goal,
    "minimize": ast.Goal,
    "search": ast.Search,
    "seed": ast.Seed,
}
_WITH_OPTIONS = ("budget", "data", "ensemble", "search")
#: Statements whose options can be removed with `none`: then there is no limit, or it is inferred from the table.
_OPTIONAL = {
    "budget": [field.name for field in fields(Budget)],
    "data": [field.name for field in fields(DataStatement)],
}


def override_text(source: Source, overrides: Sequence[Override]) -> Overridden:
    """Apply changes one after the other; raises WrongOverride if one cannot be made."""
    changed = Overridden(source)
    for override in overrides:
        changed = _Editor(changed, override).edited()
    return changed


class _Editor:
    """Applies one change to a text."""

    def __init__(self, before: Overridden, override: Override) -> None:
        self.before, self.override = before, override
        self.head, *self.rest = override.path
        self.file, _ = text_to_ast(before.source)

    def edited(self) -> Overridden:
        if self.override.path == ("start",):
            return self._started()
        if self.head not in _STATEMENTS:
            return self._in_blocks()
        if not self.rest:
            return self._whole()
        if self.head not in _WITH_OPTIONS:
            example = "0" if self.head == "seed" else "ber by cv(folds = 5)"
            help = f"set it as a whole, as in `{self.head}={example}`"
            raise self._wrong_name(1, f"`{self.head}` has no options of its own", help)
        self._parses("part value = ")
        return self._stage() if self.head == "search" else self._option()

    # --- a statement as a whole ---

    def _whole(self) -> Overridden:
        """`seed=3`, `search=random(evaluations = 5)`; `none` removes the statement."""
        statement, value = self._statement(), self.override.value
        if value == "none" and self.head != "seed":
            return self.before if statement is None else self._replaced(statement.span, "", ())
        if self.head in _OPTIONAL:
            help = (
                f"set one of its options, as in `{self.head}.{'time=10min' if self.head == 'budget' else 'target=y'}`"
            )
            raise self._wrong_name(0, f"`{self.head}` is set one option at a time", help)
        self._parses(f"{self.head} ")
        text = f"{self.head} {value}"
        anchors = ((0, len(self.head), self.override.name_span(0)), self._value_anchor(len(self.head) + 1))
        if statement is None:
            return self._appended(text, anchors)
        return self._replaced(statement.span, text, anchors)

    # --- an option of a statement ---

    def _option(self) -> Overridden:
        name = self._last_name(self.rest)
        statement = self._statement()
        if self.head == "ensemble":
            if statement is None:
                help = "set it as a whole: `ensemble=vote(top = 5)`"
                raise self._wrong_name(0, "the spec has no `ensemble` statement", help)
            assert isinstance(statement, ast.Ensemble)
            return self._in_call(statement.call, name)
        assert statement is None or isinstance(statement, ast.Budget | ast.Data)
        if self.override.value == "none" and name in _OPTIONAL[self.head]:
            return self._without(statement, name)
        if statement is None:
            head = f"{self.head}("
            text, anchors = self._argument(name, len(head))
            return self._appended(f"{head}{text})", anchors)
        return self._in_arguments(statement.arguments, statement.span.end - 1, name)

    def _without(self, statement: ast.Budget | ast.Data | None, name: str) -> Overridden:
        if statement is None:
            return self.before
        kept = [a for a in statement.arguments if a.key is None or a.key.text != name]
        if len(kept) == len(statement.arguments):
            return self.before
        written = ", ".join(self.before.source.slice(argument.span) for argument in kept)
        return self._replaced(statement.span, f"{self.head}({written})" if kept else "", ())

    # --- a stage of the search ---

    def _stage(self) -> Overridden:
        statement = self._statement()
        if statement is None:
            call = f"search {DEFAULT_SEARCH[self._has_several_objectives()]}("
            text, anchors = self._argument(self._last_name(self.rest), len(call))
            return self._appended(f"{call}{text})", anchors)
        assert isinstance(statement, ast.Search)
        stages = statement.stages
        if len(self.rest) == 1:
            if len(stages) > 1:
                choices = " or ".join(
                    f"`search.{self._stage_name(stages, n)}.{self.rest[0]}`" for n in range(len(stages))
                )
                raise self._wrong_name(1, f"the search has {len(stages)} stages", f"write {choices}")
            return self._in_call(stages[0], self.rest[0])
        return self._in_call(stages[self._stage_number(stages)], self._last_name(self.rest[1:]))

    def _stage_number(self, stages: tuple[ast.Path | ast.Call, ...]) -> int:
        wanted = self.rest[0]
        if wanted.isascii() and wanted.isdigit() and 1 <= int(wanted) <= len(stages):
            return int(wanted) - 1
        names = [_strategy(stage) for stage in stages]
        if names.count(wanted) == 1:
            return names.index(wanted)
        if wanted in names:
            numbers = " or ".join(f"`search.{n + 1}`" for n, name in enumerate(names) if name == wanted)
            raise self._wrong_name(1, f"the search has {names.count(wanted)} stages `{wanted}`", f"write {numbers}")
        help = did_you_mean(wanted, names) or f"its stages are {', '.join(f'`{name}`' for name in names)}"
        raise self._wrong_name(1, f"the search has no stage `{wanted}`", help)

    def _stage_name(self, stages: tuple[ast.Path | ast.Call, ...], number: int) -> str:
        names = [_strategy(stage) for stage in stages]
        return names[number] if names.count(names[number]) == 1 else str(number + 1)

    # --- files to start from ---

    def _started(self) -> Overridden:
        """`start="portfolio.msl"`: the models of these files first, before all stages of the search."""
        _, problems = text_to_ast(Source("<value>", f"search start({self.override.value})"))
        if problems:
            raise WrongOverride([self._in_value(problems[0], len("search start("))])
        statement = self._statement_of(ast.Search)
        if statement is None:
            text = "search start("
            default = DEFAULT_SEARCH[self._has_several_objectives()]
            return self._appended(f"{text}{self.override.value}) then {default}", (self._value_anchor(len(text)),))
        assert isinstance(statement, ast.Search)
        first = statement.stages[0]
        if isinstance(first, ast.Call) and first.path.text == "start":
            at = first.arguments[0].span.start if first.arguments else first.span.end - 1
            joint = ", " if first.arguments else ""
            return self._replaced(Span(at, at), f"{self.override.value}{joint}", (self._value_anchor(0),))
        at = first.span.start
        return self._replaced(Span(at, at), f"start({self.override.value}) then ", (self._value_anchor(len("start(")),))

    # --- a parameter of a block ---

    def _in_blocks(self) -> Overridden:
        """`svc.C=1`: at every use of the block, or of the part; `learn.svc.C=1` only at those inside a part."""
        path, parts = self.override.path, {s.name.text: s for s in self.file.statements if isinstance(s, ast.Part)}
        scope: Sequence[ast.Statement] = [s for s in self.file.statements if isinstance(s, _WITH_BLOCKS)]
        if len(path) > 2 and path[0] in parts:
            scope, path = [parts[path[0]]], path[1:]
        *owner, name = path
        wanted = ".".join(owner)
        uses = [use for statement in scope for use in _uses(statement)]
        found = [use for use in uses if wanted and wanted in (_named(use).text, _named(use).names[-1].text)]
        places: list[tuple[Span, str, int]] = [self._place_in(use, name) for use in found]
        if not places:
            places = [
                self._field(s, name) for s in scope if isinstance(s, ast.Block | ast.Derive) and [s.name.text] == owner
            ]
        if not places:
            raise self._not_found(wanted, [_named(use).text for use in uses])
        self._parses("part value = ")
        sign = ":" if self._is_domain() else " ="
        key = self.override.name_span(len(self.override.path) - 1)
        inner = [span for span, _, _ in places if any(_is_inside(span, other) for other, _, _ in places)]
        for span, before, closing in sorted(places, key=lambda place: place[0].start, reverse=True):
            if span in inner:
                continue
            start = len(before)
            text = f"{before}{name}{sign} {self.override.value}"
            anchors = ((start, start + len(name), key), self._value_anchor(start + len(name) + len(sign) + 1))
            self.before = self._replaced(span, text + ")" * closing, anchors)
        return self.before

    def _place_in(self, use: ast.Path | ast.Call, name: str) -> tuple[Span, str, int]:
        """What is replaced at a use, what goes before the parameter, and how many parentheses close it."""
        if isinstance(use, ast.Path):
            return Span(use.span.end, use.span.end), "(", 1
        return self._place_among(use.arguments, use.span.end - 1, name)

    def _place_among(self, arguments: tuple[ast.Argument, ...], closing: int, name: str) -> tuple[Span, str, int]:
        for argument in arguments:
            if argument.key is not None and argument.key.text == name:
                return argument.span, "", 0
        if not arguments:
            return Span(closing, closing), "", 0
        return Span(arguments[-1].span.end, arguments[-1].span.end), ", ", 0

    def _field(self, block: ast.Block | ast.Derive, name: str) -> tuple[Span, str, int]:
        """The parameter of a block that no use names, such as one that `any learner` reaches, where it is declared."""
        declared = {field.key.text: field for field in block.fields if field.key is not None}
        place = len(self.override.path) - 1
        if isinstance(block, ast.Block) and name not in declared:
            help = did_you_mean(name, declared) or f"it declares {listing(declared)}"
            raise self._wrong_name(place, f"`{block.name.text}` declares no parameter `{name}`", help)
        if name in declared and declared[name].condition is not None:
            message = f"`{name}` of `{block.name.text}` exists only if {self._slice(declared[name].condition)}"
            raise self._wrong_name(place, message, f"use `{block.name.text}` by name in a chain, or edit the file")
        closing = self.before.source.text.rindex("}", block.span.start, block.span.end)
        return self._place_among(block.fields, closing, name)

    def _slice(self, node: ast.Node | None) -> str:
        return "" if node is None else self.before.source.slice(node.span)

    def _is_domain(self) -> bool:
        """Whether the value is a domain, which follows `:`."""
        file, _ = text_to_ast(Source("<value>", f"part value = {self.override.value}"))
        part = file.statements[0]
        assert isinstance(part, ast.Part)
        return isinstance(part.space, ast.Choice | ast.Range | ast.Bool | ast.Vector | ast.AnyOf)

    def _not_found(self, wanted: str, used: list[str]) -> WrongOverride:
        known = dict.fromkeys([*_STATEMENTS, *used])
        if not self.rest:
            help = did_you_mean(self.head, _STATEMENTS) or f"a path begins with {listing(_STATEMENTS)}"
            if self.head in used:
                help = f"name one of its parameters: `{self.head}.parameter={self.override.value}`"
            return self._wrong_name(0, f"`{self.head}` cannot be set", help)
        last = wanted.rpartition(".")[2]
        close = did_you_mean(wanted, known) or did_you_mean(self.head, known)
        help = f"a path begins with {listing(_STATEMENTS)}, or with a block or part that the file uses by name"
        if last in used:
            help = f"write `{last}.{self.override.path[-1]}={self.override.value}`, as the file calls it"
        elif close is not None:
            help = close
        return self._wrong_name(0, f"the file has no statement, and uses no block or part, called `{wanted}`", help)

    # --- changing the text ---

    def _in_call(self, call: ast.Path | ast.Call, name: str) -> Overridden:
        if isinstance(call, ast.Call):
            return self._in_arguments(call.arguments, call.span.end - 1, name)
        text, anchors = self._argument(name, 1)
        return self._replaced(Span(call.span.end, call.span.end), f"({text})", anchors)

    def _in_arguments(self, arguments: tuple[ast.Argument, ...], closing: int, name: str) -> Overridden:
        """Replace the value of an argument, or add one after the others."""
        for argument in arguments:
            if argument.key is not None and argument.key.text == name:
                return self._replaced(argument.value.span, self.override.value, (self._value_anchor(0),))
        joint = ", " if arguments else ""
        where = arguments[-1].span.end if arguments else closing
        text, anchors = self._argument(name, len(joint))
        return self._replaced(Span(where, where), f"{joint}{text}", anchors)

    def _argument(self, name: str, start: int) -> tuple[str, tuple[tuple[int, int, Span], ...]]:
        """`name = value`, and the anchors of its name and value, for a text that begins at `start`."""
        own = (start, start + len(name), self.override.name_span(len(self.override.path) - 1))
        return f"{name} = {self.override.value}", (own, self._value_anchor(start + len(name) + 3))

    def _value_anchor(self, start: int) -> tuple[int, int, Span]:
        return start, start + len(self.override.value), self.override.value_span

    def _appended(self, text: str, anchors: tuple[tuple[int, int, Span], ...]) -> Overridden:
        end = len(self.before.source.text)
        joint = "" if self.before.source.text.endswith("\n") or not end else "\n"
        moved = tuple((start + len(joint), stop + len(joint), origin) for start, stop, origin in anchors)
        return self._replaced(Span(end, end), f"{joint}{text}\n", moved)

    def _replaced(self, span: Span, text: str, anchors: tuple[tuple[int, int, Span], ...]) -> Overridden:
        before = self.before.source
        source = replace(before, text=before.text[: span.start] + text + before.text[span.end :])
        grown = len(text) - (span.end - span.start)
        kept = [one for one in self.before.inserted if one.span.end <= span.start]
        kept += [one.moved(grown) for one in self.before.inserted if one.span.start >= span.end]
        if anchors:
            placed = tuple(Anchor(span.start + start, span.start + end, origin) for start, end, origin in anchors)
            kept.append(Inserted(Span(placed[0].start, placed[-1].end), self.override, placed))
        return Overridden(source, tuple(kept))

    # --- errors ---

    def _has_several_objectives(self) -> bool:
        goal = self._statement_of(ast.Goal)
        return isinstance(goal, ast.Goal) and len(goal.objectives) > 1

    def _statement(self) -> ast.Statement | None:
        return self._statement_of(_STATEMENTS[self.head])

    def _statement_of(self, kind: type[ast.Node]) -> ast.Statement | None:
        return next((statement for statement in self.file.statements if isinstance(statement, kind)), None)

    def _last_name(self, names: Sequence[str]) -> str:
        if len(names) > 1:
            path = ".".join(self.override.path[:-1])
            place = len(self.override.path) - 1
            raise self._wrong_name(place, f"`{path}` has no options of its own", f"set it as a whole: `{path}=…`")
        return names[0]

    def _parses(self, before: str) -> None:
        """Parse the value by itself, as the end of a statement, so that its errors do not affect the rest."""
        value = self.override.value
        file, problems = text_to_ast(Source("<value>", before + value))
        if problems:
            raise WrongOverride([self._in_value(problems[0], len(before))])
        if len(file.statements) > 1:
            message = f"`{value}` is more than one value"
            raise wrong_override(self.override.source, self.override.value_span, message, "give one value")

    def _in_value(self, problem: Diagnostic, before: int) -> Diagnostic:
        """An error in a value that was parsed after `before` characters, moved to where the user wrote it."""
        value, origin, span = self.override.value, self.override.value_span.start, problem.primary.span
        start, end = (origin + min(max(place - before, 0), len(value)) for place in (span.start, span.end))
        where = Label(self.override.source, Span(start, end), problem.primary.text)
        return replace(problem, primary=where, secondary=())

    def _wrong_name(self, place: int, message: str, help: str) -> WrongOverride:
        return wrong_override(self.override.source, self.override.name_span(place), message, help)


#: Statements that use blocks or declare them.
_WITH_BLOCKS = (ast.Block, ast.Derive, ast.Part, ast.Chain, ast.Goal)


def _uses(node: ast.Node) -> Iterator[ast.Path | ast.Call]:
    """Every use of a name as a step, a value, a metric or an estimate, with its arguments if it has any."""
    match node:
        case ast.Path():
            yield node
            return
        case ast.Call():
            yield node
            below: Iterable[ast.Node] = node.arguments
        case ast.Argument():
            below = (node.value,) if node.default is None else (node.value, node.default)
        case ast.Range() | ast.Arithmetic() | ast.Negative() | ast.AnyOf():
            if not isinstance(node, ast.Arithmetic):
                return
            below = node.operands  # objectives
        case ast.On():
            below = (node.space,)
        case ast.Derive():
            below = node.fields
        case _:
            below = ast.children(node)
    for child in below:
        yield from _uses(child)


def _named(use: ast.Path | ast.Call) -> ast.Path:
    return use if isinstance(use, ast.Path) else use.path


def _is_inside(span: Span, other: Span) -> bool:
    """Whether a span lies within a longer one."""
    return span != other and other.start <= span.start and span.end <= other.end


def _strategy(stage: ast.Path | ast.Call) -> str:
    return stage.path.text if isinstance(stage, ast.Call) else stage.text
