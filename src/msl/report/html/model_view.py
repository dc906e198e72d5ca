"""Show MSL code with syntax colours, and a model as a railway diagram."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from msl.diagnostics.source import Source
from msl.language import ast
from msl.language.parser import text_to_ast
from msl.language.tokens import STATEMENTS, WORDS
from msl.report.diagrams.draw_space import outline_to_svg
from msl.report.diagrams.outline import Group, Kind, More, Outline, Piece, Setting, Station
from msl.report.html.markup import Content, Html, shortened, tag

_PIECES = re.compile(
    r"""
      (?P<comment>\#[^\n]*)
    | (?P<string>"(?:\\.|[^"\\\n])*"?)
    | (?P<number>(?<![\w.])\d(?:[\d_]*\d)?(?:\.\d(?:[\d_]*\d)?)?(?:[eE][+-]?\d+)?(?:%|[A-Za-z]+)?)
    | (?P<name>[A-Za-z_]\w*)
    | (?P<sign>>>|\.\.|[|&?:=<>!+\-*/]+)
    """,
    re.VERBOSE,
)
#: Characters of a model in a table; a mask over many features is very long.
LONGEST_MODEL = 600
_SETS = re.compile(r"[ \t]*[:=](?!=)")
_CALLS = re.compile(r"\(")
#: What follows the word `on` where it is a keyword.
_SELECTS = re.compile(r'\s+[\w"\[]|\[')


def coloured(source: str) -> Html:
    """The text as code, in spans whose classes name what they are."""
    return tag("code", _spans(source), class_="msl")


def code_box(source: str, label: str) -> Html:
    """Code in a box of its own, which scrolls with keys as well."""
    return tag("pre", coloured(source.rstrip("\n")), tabindex="0", role="region", aria_label=label)


def _spans(source: str) -> Iterator[Content]:
    done = 0
    for found in _PIECES.finditer(source):
        if (kind := _kind(found, source)) is None:
            continue
        yield source[done : found.start()]
        yield tag("span", found[0], class_=kind)
        done = found.end()
    yield source[done:]


def _kind(found: re.Match[str], source: str) -> str | None:
    kind = found.lastgroup
    if kind != "name":
        return f"m-{kind}"
    word, end = found[0], found.end()
    if _SETS.match(source, end) and (word not in STATEMENTS):
        return "m-key"
    if word in STATEMENTS and _starts_line(source, found.start()):
        return "m-statement"
    if word in WORDS or (word == "on" and _SELECTS.match(source, end)):
        return "m-word"
    return "m-call" if _CALLS.match(source, end) else None


def _starts_line(source: str, start: int) -> bool:
    return not source[source.rfind("\n", 0, start) + 1 : start].strip()


# --- A model as a railway diagram, drawn from its text alone: its blocks need not be installed ------------------------


_LONGEST_VALUE = 44
_MOST_SETTINGS = 12
_MOST_BITS = 4
_PHONE = 235.0
_WORDS = re.compile(r'"(?:\\.|[^"\\])*"|(?P<name>[A-Za-z_][\w.]*)|(?P<opens>[(\[])|(?P<closes>[)\]])')


#: `on [age, "income_*"]`, before the parentheses that hold its steps.
_COLUMNS = re.compile(r'\bon (?:\w+|\[(?:"(?:\\.|[^"\\])*"|[^\]"])*\]) (?=\()')


def steps_of(model: str) -> tuple[str, ...]:
    """The names of the blocks that a model is a chain of, in their order; those inside brackets are parts of others."""
    names: list[str] = []
    hides: list[bool] = []  # for each bracket that is open, whether it holds arguments
    for found in _WORDS.finditer(model := _COLUMNS.sub("", model)):
        if found["opens"]:
            hides.append(found.start() > 0 and model[found.start() - 1] not in " (&")
        elif found["closes"] and hides:
            hides.pop()
        elif found["name"] and not any(hides):
            names.append(found["name"].rpartition(".")[2])
    return tuple(name for name in names if name not in ("", "none"))


def chain_picture(model: str, title: str, roles: Mapping[str, str]) -> Html | None:
    """The model as a picture, wide or, for narrow screens, one step below the other; None where it is no chain."""
    source = Source("<model>", f"chain model = {model}")
    file, problems = text_to_ast(source)
    statement = file.statements[0] if file.statements and not problems else None
    if not isinstance(statement, ast.Chain):
        return None
    outline = Outline(_Sketch(source.text, roles).piece(statement.space))
    narrow = tag("source", media="(max-width: 700px)", srcset=_address(outline_to_svg(outline, title, widest=_PHONE)))
    words = f"The winner as a chain of steps: {', then '.join(steps_of(model)) or 'no step'}."
    wide = tag("img", src=_address(outline_to_svg(outline, title)), alt=words)
    return tag("picture", narrow, wide)


def _address(svg: str) -> str:
    """A picture inside the page: its style sheet is its own and touches nothing else."""
    return "data:image/svg+xml;base64," + b64encode(svg.encode()).decode()


@dataclass(frozen=True, slots=True)
class _Sketch:
    """From the tree of a model to the pieces of a picture; `text` is what the tree was read from."""

    text: str
    roles: Mapping[str, str]

    def piece(self, node: ast.Node) -> Piece:
        match node:
            case ast.Sequence(items=items):
                return Group(Kind.SEQUENCE, tuple(map(self.piece, items)))
            case ast.Union(items=items):
                return Group(Kind.UNION, tuple(map(self.piece, items)), "side by side, columns joined")
            case ast.On(selector=selector, space=space):
                columns = Station((f"on {self._spelt(selector)}",), "transformer")
                return columns if isinstance(space, ast.Nothing) else Group(Kind.SEQUENCE, (columns, self.piece(space)))
            case ast.Path():
                return Station((node.text,), self._role(node))
            case ast.Call(path=path, arguments=arguments):
                settings = tuple(self._settings(arguments))
                shown = settings if len(settings) <= _MOST_SETTINGS else settings[: _MOST_SETTINGS - 1]
                return Station((path.text,), self._role(path), shown, len(settings) - len(shown))
        return More(self._spelt(node))

    def _role(self, path: ast.Path) -> str:
        return self.roles.get(path.names[-1].text, "step")

    def _settings(self, arguments: tuple[ast.Argument, ...], owner: str = "", depth: int = 0) -> Iterator[Setting]:
        """What each parameter is; those of a value that is itself a block stand below it."""
        for argument in arguments:
            value, name = argument.value, "" if argument.key is None else argument.key.text
            inner = value.arguments if isinstance(value, ast.Call) else ()
            spelt = value.path.text if isinstance(value, ast.Call) else self._spelt(value)
            yield Setting(f"{owner}{name}", spelt, False, depth)
            yield from self._settings(inner, f"{spelt}.", depth + 1)

    def _spelt(self, value: ast.Node) -> str:
        """A value in a few letters: of many bits, how many are set."""
        if isinstance(value, ast.ListOf) and len(value.items) > _MOST_BITS:
            bits = [item.value for item in value.items if isinstance(item, ast.Boolean)]
            if len(bits) == len(value.items):
                return f"{sum(bits)} of {len(bits)}"
        return shortened(" ".join(self.text[value.span.start : value.span.end].split()), _LONGEST_VALUE)
