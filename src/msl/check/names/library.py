"""Load a spec and all files and catalogues that it uses, each once, with their declarations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path, PurePath
from typing import TypeVar

from msl.check.names import catalogues
from msl.diagnostics.diagnostic import Label, Report
from msl.diagnostics.source import Refused, Source, Span, read_regular, real_path
from msl.diagnostics.suggest import did_you_mean, listing
from msl.language import ast
from msl.language.parser import text_to_ast
from msl.record import record
from msl.space.nodes import Node

BUILT_IN = ("subset", "permute", "arrange", "repeat")
_DECLARATIONS = (ast.Block, ast.Derive, ast.Part, ast.Chain)

ReadFile = Callable[[str], str]
S = TypeVar("S", bound=ast.Node)


DeclarationNode = ast.Block | ast.Derive | ast.Part | ast.Chain


class Declaration:
    """A block, part or chain and the module that declares it, compared by identity.

    Declarations of catalogues are parsed on first use: a spec needs a few of hundreds.
    """

    def __init__(
        self, name: str, kind: str, role: str | None, module: Module, parse: Callable[[], DeclarationNode]
    ) -> None:
        self.name, self.kind, self.role, self.module = name, kind, role, module
        self._parse = parse

    @classmethod
    def of(cls, node: DeclarationNode, module: Module) -> Declaration:
        role = node.role.text if isinstance(node, ast.Block) else None
        return cls(node.name.text, _KINDS[type(node)], role, module, lambda: node)

    @cached_property
    def node(self) -> DeclarationNode:
        return self._parse()

    @property
    def is_block(self) -> bool:
        return self.kind in ("block", "derived")

    @property
    def mark(self) -> str:
        """The identifier of a part in requirements, channels and reports: its file and name."""
        return f"{self.module.origin}:{self.name}"

    @property
    def label(self) -> Label:
        return Label(self.module.source, self.node.name.span, "declared here")


_KINDS: dict[type, str] = {ast.Block: "block", ast.Derive: "derived", ast.Part: "part", ast.Chain: "chain"}


@record
class PartParameter:
    """A parameter of the part that is being read: its name in formulas, its domain, and where it is declared."""

    part: str
    name: str
    variable: str
    node: Node
    label: Label = field(compare=False)


@dataclass(slots=True, eq=False)
class Module:
    """One file: its text, its tree, what it declares and what it uses."""

    source: Source
    file: ast.File
    origin: str
    declarations: dict[str, Declaration] = field(default_factory=dict)
    uses: dict[str, Module] = field(default_factory=dict)
    use_spans: dict[str, Span] = field(default_factory=dict)
    #: Whether a broken `use` may have declared any name: then unknown names are not reported.
    unknowable: bool = False
    qualifiers_met: set[str] = field(default_factory=set)
    #: Built-in names that a declaration tried to take.
    misnamed: set[str] = field(default_factory=set)
    #: Whether another package declares its strategies, estimates or metrics here.
    is_offered: bool = False
    #: The parameters of the part that is being read.
    variables: Mapping[str, PartParameter] = field(default_factory=dict)

    @property
    def is_implied(self) -> bool:
        """Whether this is a catalogue of strategies, estimates, ensembles or metrics."""
        return self.is_offered or (self.origin.strip("<>") in catalogues.IMPLIED.values() and self.source.path is None)

    def statements(self, kind: type[S]) -> Iterator[S]:
        return (statement for statement in self.file.statements if isinstance(statement, kind))

    def chains(self) -> list[Declaration]:
        return [d for d in self.declarations.values() if d.kind == "chain"]

    def may_declare(self, name: str) -> bool:
        """Whether a statement that could not be read may have declared this name."""
        return self.unknowable or any(broken.name == name or broken.keyword is None for broken in self.file.broken)


class Library:
    """Reads modules, each once; reports what cannot be found or read, and names that clash."""

    def __init__(self, report: Report, read_file: ReadFile | None = None) -> None:
        self.report = report
        self._read_file = read_file
        self._home: PurePath = PurePath(".")
        self._modules: dict[str, Module] = {}
        self._reading: list[str] = []

    def open(self, source: Source) -> Module:
        """The module of a spec; all files that it uses are loaded, too."""
        self._home = _folder(source)
        return self._module(source, _normal(source.path) if source.path else source.name, source.path or source.name)

    @property
    def modules(self) -> tuple[Module, ...]:
        """Every file and catalogue read, in the order of reading."""
        return tuple(self._modules.values())

    @property
    def sources(self) -> tuple[Source, ...]:
        return tuple(module.source for module in self.modules)

    def implied(self, role: str) -> Module:
        """The catalogue of strategies, estimates, ensembles or metrics."""
        return self._catalogue(catalogues.IMPLIED[role], 1)

    def portfolio(self) -> Module:
        """The models that `search portfolio` evaluates."""
        name = "portfolio"
        if name not in self._modules:
            self._module(Source(f"<{name}>", catalogues.text(name, 1)), name, name)
        return self._modules[name]

    def offered(self, path: Path) -> Module:
        """The file in which another package declares its strategies, estimates or metrics."""
        key = str(path.resolve())
        if key not in self._modules:
            self._module(Source(str(path), _decoded(read_regular(path)), str(path)), key, str(path)).is_offered = True
        return self._modules[key]

    def _module(self, source: Source, key: str, origin: str) -> Module:
        file, problems = text_to_ast(source)
        self.report.diagnostics.extend(problems)
        module = Module(source, file, origin)
        self._modules[key] = module
        self._reading.append(key)
        module.unknowable = any(broken.keyword == "use" for broken in file.broken)
        edition = self._edition(module)
        self._declare(module)
        for use in module.statements(ast.Use):
            for item in use.items:
                self._use(module, item, edition)
        self._reading.pop()
        return module

    def _edition(self, module: Module) -> int:
        for position, statement in enumerate(module.file.statements):
            if not isinstance(statement, ast.Edition):
                continue
            number, span = statement.number, statement.span
            if position > 0:
                message = "the edition must be the first statement"
                self.report.error("MSL070", module.source, span, message, help="move it to the first line")
            if not isinstance(number.value, int) or number.unit is not None or number.value < 1:
                message = f"`{number.text}` is not an edition"
                self.report.error("MSL040", module.source, span, message, help="write `msl 1`")
            elif number.value > catalogues.NEWEST_EDITION:
                self.report.error(
                    "MSL040",
                    module.source,
                    number.span,
                    f"this file is written in edition {number.value}, but this version knows editions up to "
                    f"{catalogues.NEWEST_EDITION}",
                    help="install a newer `msl-lang`",
                )
            else:
                return number.value
        return catalogues.NEWEST_EDITION if len(catalogues.EDITIONS) == 1 else 1

    def _declare(self, module: Module) -> None:
        for statement in module.file.statements:
            if not isinstance(statement, _DECLARATIONS):
                continue
            name = statement.name
            if name.text in BUILT_IN:
                module.misnamed.add(name.text)
                message = f"`{name.text}` is built into the language"
                self.report.error("MSL028", module.source, name.span, message, help="choose another name")
            elif (first := module.declarations.get(name.text)) is not None:
                message = f"`{name.text}` is declared twice"
                help = "blocks, parts and chains share their names: choose another"
                self.report.error("MSL024", module.source, name.span, message, "again", help, (first.label,))
            else:
                module.declarations[name.text] = Declaration.of(statement, module)

    def _use(self, module: Module, item: ast.UseItem, edition: int) -> None:
        used = self._used_catalogue(module, item, edition) if isinstance(item.target, ast.Name) else None
        if isinstance(item.target, ast.String):
            used = self._used_file(module, item, item.target)
        if used is None:
            module.unknowable = True
            return
        if item.alias:
            qualifier = item.alias.text
        else:
            qualifier = item.target.text if isinstance(item.target, ast.Name) else _stem(item.target.value)
        if qualifier in module.uses:
            same = module.uses[qualifier] is used
            self.report.error(
                "MSL044",
                module.source,
                item.span,
                f"`{qualifier}` is used twice" if same else f"two files would both be called `{qualifier}`",
                "again" if same else "",
                "remove one of them" if same else "give one of them another name with `as`",
                (Label(module.source, module.use_spans[qualifier], "first used here"),),
            )
            return
        module.uses[qualifier] = used
        module.use_spans[qualifier] = item.span

    def _used_catalogue(self, module: Module, item: ast.UseItem, edition: int) -> Module | None:
        assert isinstance(item.target, ast.Name)
        name = item.target.text
        known = catalogues.EDITIONS[edition]
        if name not in known:
            help = did_you_mean(name, known) or f"catalogues are {listing(known)}; a file is written in quotes"
            self.report.error("MSL041", module.source, item.target.span, f"there is no catalogue `{name}`", "", help)
            return None
        version: int | float = known[name] if item.version is None else item.version.value
        has_unit = item.version is not None and item.version.unit is not None
        if has_unit or not isinstance(version, int) or version not in catalogues.versions(name):
            assert item.version is not None
            shipped = ", ".join(map(str, catalogues.versions(name)))
            message = f"`{name}` has no version {item.version.text}"
            self.report.error(
                "MSL042", module.source, item.version.span, message, "", f"this release has version {shipped}"
            )
            return None
        return self._catalogue(name, version)

    def _catalogue(self, name: str, version: int) -> Module:
        key = f"{name} {version}"
        if key not in self._modules:
            origin = name if version == 1 else key
            source = Source(f"<{key}>", catalogues.text(name, version))
            self._modules[key] = self._lazy_module(source, origin)
        return self._modules[key]

    def _lazy_module(self, source: Source, origin: str) -> Module:
        """A catalogue: its declarations are found by their first words and parsed when needed."""
        module = Module(source, ast.File(()), origin)
        for piece in catalogues.pieces(source.text):
            if piece.keyword == "use":
                file, _ = text_to_ast(_piece_source(source, piece))
                for use in file.statements:
                    assert isinstance(use, ast.Use)
                    for item in use.items:
                        self._use(module, item, catalogues.NEWEST_EDITION)
            else:
                parse = partial(_parse_piece, source, piece)
                module.declarations[piece.name] = Declaration(piece.name, piece.kind, piece.role, module, parse)
        return module

    def _used_file(self, module: Module, item: ast.UseItem, target: ast.String) -> Module | None:
        if item.version is not None:
            message = "a file has no version; catalogues do"
            self.report.error("MSL042", module.source, item.version.span, message, "", "remove the number")
        return self.file(module, target)

    def file(self, module: Module, target: ast.String) -> Module | None:
        """The file that a module names, relative to it; None if it cannot be read, which is then reported."""
        source, span = module.source, target.span
        if not target.value.endswith(".msl"):
            message = f"`{target.value}` is not an `.msl` file"
            help = "only `.msl` files can be used"
            if target.value in catalogues.names():
                help = f"write `{target.value}`, without quotes: it is a catalogue"
            self.report.error("MSL043", source, span, message, "", help)
            return None
        base = _folder(source)
        path = str(base / target.value)
        try:
            if self._read_file is not None:
                text = self._read_file(path)
            else:
                text = _decoded(read_regular(real_path(target.value, base, self._home), follow=False))
        except (OSError, UnicodeError, ValueError, RuntimeError) as error:  # RuntimeError: a link to itself
            why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            help = error.help if isinstance(error, Refused) else "the path is relative to the file that uses it"
            self.report.error("MSL043", source, span, f"cannot read `{target.value}`: {why}", "", help)
            return None
        key = _normal(path)
        if key in self._reading:
            circle = " uses ".join(f"`{PurePath(k).name}`" for k in [*self._reading[self._reading.index(key) :], key])
            message = f"circular use of files: {circle}"
            self.report.error("MSL045", source, span, message, "", "move what both need into a third file")
            return None
        if key not in self._modules:
            self._module(Source(path, text, path), key, path)
        return self._modules[key]


def _piece_source(source: Source, piece: catalogues.Piece) -> Source:
    """One statement at its position: the text before it is replaced by blanks, so that spans are right."""
    return Source(source.name, " " * piece.start + source.text[piece.start : piece.end])


def _parse_piece(source: Source, piece: catalogues.Piece) -> DeclarationNode:
    file, problems = text_to_ast(_piece_source(source, piece))
    (node,) = file.statements
    assert not problems
    assert isinstance(node, ast.Block | ast.Derive | ast.Part | ast.Chain)
    return node


def _stem(path: str) -> str:
    return PurePath(path).name.removesuffix(".msl")


def _normal(path: str) -> str:
    return str(Path(path).resolve()) if path not in ("", "-") else path


def _folder(source: Source) -> PurePath:
    """The folder that paths in a source are relative to."""
    return PurePath(source.path).parent if source.path else PurePath(".")


def _decoded(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Refused("it is not UTF-8 text", "save it as UTF-8") from None
