"""Check `on columns (steps)`: its selector, where it stands, and its columns in a table."""

from __future__ import annotations

from msl.check.names.library import Module
from msl.check.structure.step_order import Walk
from msl.diagnostics.diagnostic import Report
from msl.diagnostics.source import Source, Span
from msl.diagnostics.suggest import did_you_mean, listing
from msl.language import ast
from msl.record import record
from msl.space.column_selectors import KINDS, REST, Selector, first_blocks, is_pattern, matching, selected, selector_of
from msl.space.formulas import Facts
from msl.space.names_to_text import name_to_text
from msl.space.nodes import BlockUse, Node, Union, bottom_up

#: What people who come from other tools call the kinds.
_KIND_MEANT = {
    **dict.fromkeys(("number", "numeric", "numerical", "num", "int", "real", "float", "continuous"), "numbers"),
    **dict.fromkeys(("symbol", "symbolic", "categorical", "category", "categories", "cat", "nominal"), "symbols"),
    **dict.fromkeys(("ordinal", "ordinals", "order", "ordered_symbols", "ranked"), "ordered"),
    **dict.fromkeys(("date", "datetime", "time", "datetimes"), "dates"),
    **dict.fromkeys(("texts", "string", "strings"), "text"),
    **dict.fromkeys(("remainder", "others", "other", "remaining", "the_rest"), REST),
}
_EVERYTHING = frozenset({"all", "everything", "columns", "features"})
#: Blocks that hand on columns of the table as they are.
_KEEP_COLUMNS = frozenset(f"msl.blocks:{name}" for name in ("Passthrough", "Columns", "KeepFeatures", "TableColumns"))


@record
class OnPlace:
    """Where `on` is written."""

    source: Source
    node: ast.On

    @property
    def span(self) -> Span:
        return self.node.selector.span

    def entry(self, text: str) -> Span:
        """Where an entry of the list is written."""
        entries = self.node.selector.items if isinstance(self.node.selector, ast.ListOf) else ()
        return next((item.span for item in entries if _entry(item) == text), self.span)


# --- selectors --------------------------------------------------------------------------------------------------------


def read_selector(written: ast.Name | ast.ListOf, module: Module, report: Report) -> Selector | None:
    """What `on` selects, or None if it is no selector, which is reported."""
    if isinstance(written, ast.ListOf):
        return _list(written, module, report)
    text = written.text
    is_quoted = module.source.text[written.span.start] == '"'
    if not is_quoted and text in (*KINDS, REST):
        return text
    name = name_to_text(text)
    help = f"for a column of this name write `on [{name}] (…)`; kinds are {listing(KINDS)}, and `{REST}`"
    if is_quoted:
        help = f"names and patterns are written in a list: `on [{name}] (…)`"
    elif text in _KIND_MEANT:
        help = f"write `on {_KIND_MEANT[text]} (…)`; for a column of this name `on [{name}] (…)`"
    elif text in _EVERYTHING:
        help = f"steps for all columns need no `on`; for those that no other branch names write `on {REST} (…)`"
    elif (close := did_you_mean(text, (*KINDS, REST))) is not None:
        help = f"{close} For a column of this name write `on [{name}] (…)`"
    report.error("MSL198", module.source, written.span, f"`{text}` is not a kind of columns", "", help)
    return None


def _list(written: ast.ListOf, module: Module, report: Report) -> Selector | None:
    if not written.items:
        help = 'name columns, as in `on [age, "income_*"] (…)`'
        report.error("MSL198", module.source, written.span, "this list names no column", "", help)
        return None
    entries = [_entry(item) for item in written.items]
    for entry, item in zip(entries, written.items, strict=True):
        if entry is None:
            text = module.source.slice(item.span)
            help = 'a list has names of columns and patterns: `on [age, "income_*"] (…)`'
            if isinstance(item, ast.Number):
                help = f'columns are selected by name, not by number; for a column of this name write `["{text}"]`'
            elif isinstance(item, ast.Choice | ast.Union):
                help = f"write `[{', '.join(module.source.slice(inner.span) for inner in item.items)}]`"
            elif isinstance(item, ast.Arithmetic):
                help = f'a pattern, or a name that is no plain word, is written in quotes: `["{text}"]`'
            elif isinstance(item, ast.Path):
                help = f'a name that is no plain word is written in quotes: `["{text}"]`'
            report.error("MSL198", module.source, item.span, f"`{text}` is not the name of a column", "", help)
            return None
    names = [entry for entry in entries if entry is not None]
    for place, name in enumerate(names):
        if name in names[:place]:
            message = f"`{name}` is in this list already"
            report.warning("MSL224", module.source, written.items[place].span, message, "", "remove it")
    return tuple(sorted(set(names)))


def needs_on(call: ast.Call, module: Module) -> str | None:
    """What `numbers(impute)` or `on(numbers, impute)` was probably meant to be; None for any other call."""
    name = call.path.text
    if name == "on":
        return meant_on(call, module)
    if name not in (*KINDS, REST) or len(call.arguments) != 1:
        return None
    return f"write `on {name} ({module.source.slice(call.arguments[0].span)})`"


def meant_on(call: ast.Call, module: Module) -> str:
    """What `on(numbers, impute)` was probably meant to be."""
    texts = [module.source.slice(argument.value.span) for argument in call.arguments if argument.key is None]
    columns = texts[0] if texts else "numbers"
    columns = f"[{columns}]" if columns.startswith('"') else columns
    return f"write `on {columns} ({' >> '.join(texts[1:]) or 'impute'})`"


def _entry(item: ast.Expression) -> str | None:
    match item:
        case ast.String(value=text) if text:
            return text
        case ast.Path(names=(name,)):
            return name.text
    return None


# --- where `on` may stand ---------------------------------------------------------------------------------------------


class _Changes(Walk):
    """Finds each `on` that follows a step which may have changed the columns of the table."""

    def __init__(self) -> None:
        super().__init__()
        self.late: list[tuple[BlockUse, str]] = []

    def block(self, use: BlockUse, changer: str | None) -> str | None:
        if changer is not None and selector_of(use) is not None:
            self.late.append((use, changer))
        return changer or (None if use.block.target in _KEEP_COLUMNS else use.block.name)


@record
class OnColumns:
    """The uses of `on` in a space, and where they are written, by the identity of their steps."""

    report: Report
    root: Node
    places: dict[int, OnPlace]

    def are_proven(self) -> None:
        """Report what does not depend on a table."""
        if not any(id(node) in self.places for node in bottom_up(self.root)):
            return
        changes = _Changes()
        changes.walk(self.root, None)
        for use, changer in {id(use): (use, changer) for use, changer in changes.late}.values():
            place = self.places[id(use)]
            message = f"`on` selects columns of the table, but `{changer}` changes the columns first"
            help = f"put `on` first, and `{changer}` into its parentheses or after it"
            if changer == "&":
                help = "after `&` columns have no names any more: put `on` into its branches"
            self.report.error("MSL340", place.source, place.span, message, "", help)
        self._rests()

    def _rests(self) -> None:
        shared: set[int] = set()
        for union in [node for node in bottom_up(self.root) if isinstance(node, Union)]:
            firsts = [[use for use in first_blocks(branch) if selector_of(use) == REST] for branch in union.branches]
            rests = [uses[0] for uses in firsts if uses]
            shared.update(id(use) for uses in firsts for use in uses)
            if len(rests) > 1:
                first, second = self.places[id(rests[0])], self.places[id(rests[1])]
                message = "`rest` stands in two branches of the same `&`"
                help = "keep one of them; put several steps for the rest into its parentheses: `on rest (a & b)`"
                self.report.error("MSL199", second.source, second.span, message, "again", help)
                shared.add(id(first))
        for node in bottom_up(self.root):
            if selector_of(node) == REST and id(node) not in shared:
                place = self.places[id(node)]
                message = "`rest` is every column here: no other branch of an `&` names any"
                help = "leave out `on rest`, or join branches: `on numbers (…) & on rest (…)`"
                self.report.warning("MSL346", place.source, place.span, message, "", help)

    # --- the columns of a table ---

    def fit(self, facts: Facts) -> None:
        """Report what the table lacks, and columns of the table that no step takes."""
        uses = [node for node in bottom_up(self.root) if isinstance(node, BlockUse) and id(node) in self.places]
        if not uses or not facts.columns:
            return
        for use in uses:
            selector = selector_of(use)
            assert selector is not None
            if isinstance(selector, tuple):
                self._names(selector, self.places[id(use)], facts)
            elif selector != REST and not _selected(selector, facts):
                place = self.places[id(use)]
                message = f"the table has no {_in_words(selector)}: this branch adds no columns"
                self.report.note("MSL343", place.source, place.span, message)
        if not self.report.failed:
            self._nothing_left(facts)
            self._taken(facts)

    def _names(self, selector: tuple[str, ...], place: OnPlace, facts: Facts) -> None:
        for entry in selector:
            if matching(entry, facts.columns):
                continue
            span = place.entry(entry)
            if is_pattern(entry):
                message = f"no column of the table fits the pattern `{entry}`"
                help = f"columns are {listing(facts.columns)}; `*` is any text, `?` any character"
                self.report.warning("MSL342", place.source, span, message, "", help)
                continue
            help = did_you_mean(entry, facts.columns) or f"columns are {listing(facts.columns)}"
            if entry in (*KINDS, REST):
                help = f"for that kind write `on {entry} (…)`, without a list"
            message = f"the table has no feature `{entry}`"
            self.report.error("MSL341", place.source, span, message, "", help)

    def _nothing_left(self, facts: Facts) -> None:
        """Report each `rest` to which the other branches leave nothing."""
        for union in [node for node in bottom_up(self.root) if isinstance(node, Union)]:
            firsts = [use for branch in union.branches for use in first_blocks(branch)]
            selectors = {selector for use in firsts if (selector := selector_of(use)) is not None}
            rest = next((use for use in firsts if selector_of(use) == REST), None)
            named = {name for s in selectors - {REST} for name in _selected(s, facts)}
            if rest is not None and named.issuperset(facts.columns):
                place = self.places[id(rest)]
                message = "the other branches name every column of the table, so that `rest` adds none"
                self.report.note("MSL343", place.source, place.span, message)

    def _taken(self, facts: Facts) -> None:
        """Report columns that no model takes, or that no model has any."""
        first = first_blocks(self.root)
        selectors = [selector_of(use) for use in first]
        if None in selectors or REST in selectors:
            return
        taken = {name for s in selectors if s is not None for name in _selected(s, facts)}
        place = self.places[id(first[0])]
        if not taken:
            message = "no column of the table is selected, so that the models have nothing to learn from"
            help = f"select columns that the table has, such as {_example(facts)}"
            self.report.error("MSL344", place.source, place.span, message, "", help)
            return
        left = [name for name in facts.columns if name not in taken]
        if left:
            columns = "1 column of the table is" if len(left) == 1 else f"{len(left)} columns of the table are"
            message = f"{columns} dropped, because no branch selects them: {listing(left)}"
            help = "add a branch `& on rest (…)`, or list them in `data(ignore = […])` to drop them on purpose"
            self.report.warning("MSL345", place.source, place.span, message, "", help)


def _in_words(kind: str) -> str:
    words = {"numbers": "numeric columns", "ordered": "columns of ordered symbols", "text": "columns of text"}
    return words.get(kind, f"columns of {kind}")


def _selected(selector: Selector, facts: Facts) -> list[str]:
    return selected(selector, facts.columns, facts.symbolic, facts.dates, facts.texts, facts.ordered)


def _example(facts: Facts) -> str:
    return "`symbols`" if len(facts.symbolic) == len(facts.columns) else "`numbers`"
