"""Read what each block declares: its class, its role, its parameters. Also: the blocks of a role."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Protocol

from msl.check.domains.arguments import clashes
from msl.check.domains.contains import Owner
from msl.check.domains.declared import Declarer, taken_role
from msl.check.domains.default_value import Defaults
from msl.check.domains.learners import kept
from msl.check.domains.narrow import Narrower
from msl.check.domains.vector_lengths import Lengths
from msl.check.names import catalogues
from msl.check.names.library import Declaration, Module
from msl.check.names.names_of_other_tools import role_meant
from msl.check.names.resolve_names import declarations_of, find
from msl.check.names.strategy_declarations import option_fields, read_capabilities
from msl.diagnostics.diagnostic import Label, Report
from msl.diagnostics.suggest import did_you_mean, listing
from msl.language import ast
from msl.record import record
from msl.space.conditions import Condition
from msl.space.defaults import default_node
from msl.space.fit_costs import resource_of
from msl.space.formulas import FACTS
from msl.space.nodes import BlockUse, IntRange, Node, Param, RealRange, Sized, alternatives
from msl.space.spec import PLAIN, Capabilities
from msl.space.values import BlockType, Fidelity

CHAIN_ROLES = ("transformer", "selector", "learner", "post")
SLOT_ROLES = ("distance", "feature_distance", "weighting", "references", "kernel", "basis")
ENGINE_ROLES = ("strategy", "estimate", "combiner", "metric")
TASKS = ("classification", "regression")
_TARGET = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*\*?", re.ASCII)


@record
class Declared:
    """A block as its file declares it; `labels` are the places where its parameters are declared."""

    block: BlockType
    params: tuple[Param, ...]
    labels: dict[str, Label]
    derived: bool = False
    capabilities: Capabilities = PLAIN

    @property
    def use(self) -> BlockUse:
        """The block with all its parameters open, but for learners inside it that have a default."""
        if not any(map(kept, self.params)):
            return BlockUse(self.block, self.params)
        return BlockUse(self.block, tuple(replace(p, node=default_node(p)) if kept(p) else p for p in self.params))


class StepReader(Protocol):
    """Reads what stands between blocks, for blocks that take pipelines."""

    def learner(self, written: ast.Expression, module: Module, closes: bool, where: str) -> Node | None: ...


class Blocks:
    """Reads each declaration once."""

    def __init__(self, report: Report) -> None:
        self.report = report
        #: Blocks that are used indirectly: as members of a role, or as the base of derived blocks.
        self.met: set[Declaration] = set()
        #: Set by what reads chains, which needs the blocks first.
        self.steps: StepReader | None = None
        self._done: dict[Declaration, Declared | None] = {}
        self._under_way: list[Declaration] = []

    def declared(self, declaration: Declaration) -> Declared | None:
        """What a block declares, or None if its declaration is wrong (which is then reported once)."""
        if declaration in self._under_way:
            self._circle(declaration)
            return None
        if declaration not in self._done:
            self._under_way.append(declaration)
            node = declaration.node
            if isinstance(node, ast.Block):
                self._done[declaration] = self._block(node, declaration.module)
            else:
                assert isinstance(node, ast.Derive)
                self._done[declaration] = self._derived(node, declaration.module)
            self._under_way.pop()
        return self._done[declaration]

    def bare(self, declaration: Declaration) -> BlockUse | None:
        found = self.declared(declaration)
        return None if found is None else found.use

    def narrower(self, module: Module, notes: bool = True) -> Narrower:
        return Narrower(self.declarer(module), notes)

    def declarer(self, module: Module) -> Declarer:
        return Declarer(module, self.report, self)

    def call(
        self,
        declaration: Declaration,
        arguments: tuple[ast.Argument, ...],
        module: Module,
        where: ast.Node,
        notes: bool = True,
        closes: bool = False,
    ) -> BlockUse | None:
        """A use of a block with arguments; `closes` fixes what they do not mention."""
        declared = self.declared(declaration)
        if declared is None:
            return None
        called = where.path.text if isinstance(where, ast.Call) else declaration.name
        owner = Owner(declaration.name, "parameter", declared.labels, called)
        params = self.narrower(module, notes).params(declared.params, arguments, owner, where.span, closes)
        return None if params is None else BlockUse(declared.block, params)

    # --- roles ---

    def blocks_of_role(self, module: Module, role: ast.Path) -> tuple[Node, ...] | None:
        """`any ROLE`: the blocks of that role here and in the files used, derived ones left out."""
        wanted = role.names[-1]
        modules = [module, *module.uses.values()]
        if len(role.names) == 2:
            used = module.uses.get(role.names[0].text)
            if used is None:
                help = did_you_mean(role.names[0].text, module.uses) or f"this file uses {listing(module.uses)}"
                message = f"this file uses nothing called `{role.names[0].text}`"
                self.report.error("MSL023", module.source, role.names[0].span, message, "", help)
                return None
            module.qualifiers_met.add(role.names[0].text)
            modules = [used]
        if len(role.names) > 2:
            message = f"`{role.text}` is not a role"
            help = f"write `{wanted.text}`, or `{role.names[0].text}.{wanted.text}`"
            self.report.error("MSL033", module.source, role.span, message, "", help)
            return None
        if not self._known_role(wanted, module, in_chain=True):
            return None
        found = [use for other in modules for use in self._of_role(other, wanted.text)]
        for qualifier, used in module.uses.items():
            if used in modules and any(d.role == wanted.text for d in used.declarations.values()):
                module.qualifiers_met.add(qualifier)
        if not found and not module.unknowable:
            message = f"no block here or in the files used is a {wanted.text}"
            self.report.error("MSL029", module.source, role.span, message, "", _where_role_is(wanted.text))
        return tuple(found) or None

    def _of_role(self, module: Module, role: str) -> list[BlockUse]:
        uses = []
        for declaration in module.declarations.values():
            if declaration.role != role or declaration in self._under_way:
                continue
            if (use := self.bare(declaration)) is not None:
                self.met.add(declaration)
                uses.append(use)
        return uses

    # --- blocks as values of a declaration ---

    def blocks_meant(self, module: Module, items: list[ast.Expression]) -> dict[int, BlockUse]:
        """The alternatives of one parameter that are blocks, by the ids of their expressions.

        A bare word that names a step of chains is that block, if all alternatives name blocks of the same role. Where
        it could also be a string, it is one, as in earlier versions, and a warning asks to make it clear: if only some
        of the words name blocks (`linear | rbf`), if two files declare such a block, and for distances, kernels and the
        like, whose names are strings for other classes.
        """
        found = {id(item): self._block_named(module, item) for item in items}
        named = [(item, found[id(item)]) for item in items if found[id(item)] is not None]
        bare = [(item, uses) for item, uses in named if uses is not None and not is_explicit(item)]
        if not named:
            return {}
        words = [
            item for item in items if found[id(item)] is None and isinstance(item, ast.Path | ast.Call | ast.String)
        ]
        roles = {use.block.role for _, uses in named for use in uses or ()}
        is_clear = not words and len(roles) == 1 and all(len(uses or ()) == 1 for _, uses in named)
        is_clear = is_clear and not roles.isdisjoint(CHAIN_ROLES)
        if bare and is_clear:
            self._report_blocks(module, bare)
        elif bare:
            for item, uses in bare:
                self._report_ambiguous(module, item, uses or [])
        return {id(item): uses[0] for item, uses in named if uses and (is_clear or is_explicit(item))}

    def _block_named(self, module: Module, item: ast.Expression) -> list[BlockUse] | None:
        """The blocks that a word, or a call that fits one, may name."""
        path = item.path if isinstance(item, ast.Call) else item
        if not isinstance(path, ast.Path) or not self._may_be_a_block(path, module):
            return None
        if isinstance(item, ast.Call) and item.braces:
            self._report_braces(item, module)
            return None
        declarations = declarations_of(module, path)
        uses = []
        for declaration in declarations:
            if declaration.is_block and declaration not in self._under_way:
                use = self._quietly_called(declaration, item, module)
                if use is not None:
                    self.met.add(declaration)
                    uses.append(use)
        return uses or None

    def _report_braces(self, item: ast.Call, module: Module) -> None:
        """A block whose arguments are in braces, where an alternative of that name was not meant."""
        name = module.source.slice(item.path.span)
        found = [declaration for declaration in declarations_of(module, item.path) if declaration.is_block]
        if not found or name.startswith('"'):
            return
        inner = module.source.slice(item.span)[len(name) :].strip()[1:-1].strip()
        message = f"`{name}` is a block, and the arguments of a block are in parentheses"
        help = f'write `{name}({inner})`, or `"{name}" {{ … }}` for an alternative of this name'
        self.report.error("MSL191", module.source, item.span, message, "", help, (found[0].label,))

    def _may_be_a_block(self, path: ast.Path, module: Module) -> bool:
        return not module.is_implied and path.text not in FACTS and path.text != "regions"

    def _quietly_called(self, declaration: Declaration, item: ast.Expression, module: Module) -> BlockUse | None:
        if not isinstance(item, ast.Call):
            return self.bare(declaration)
        quiet = Declarer(module, Report(), self)
        declared = self.declared(declaration)
        if declared is None:
            return None
        owner = Owner(declaration.name, "parameter", declared.labels)
        params = Narrower(quiet).params(declared.params, item.arguments, owner, item.span)
        return None if params is None or quiet.report.failed else BlockUse(declared.block, params)

    def _report_blocks(self, module: Module, bare: list[tuple[ast.Expression, list[BlockUse]]]) -> None:
        """Words that name blocks are blocks; in earlier versions they were strings."""
        item, (use, *_) = bare[0]
        text = module.source.slice(item.span)
        names = listing(dict.fromkeys(uses[0].block.name for _, uses in bare))
        one = len(bare) == 1
        message = f"{names} {'is a block' if one else 'are blocks'} here, not {'a string' if one else 'strings'}"
        help = f'write `{_explicit(module, use, text)}` if the block is meant, or `"{text}"` for the string'
        label = f"in earlier versions {'a string' if one else 'strings'}"
        self.report.warning("MSL243", module.source, item.span.to(bare[-1][0].span), message, label, help)

    def _report_ambiguous(self, module: Module, item: ast.Expression, uses: list[BlockUse]) -> None:
        text = module.source.slice(item.span)
        blocks = " or ".join(f"`{_explicit(module, use, text)}`" for use in uses)
        message = f"`{_name_in(item)}` may be a string or a block, and is taken for the string"
        help = f'write {blocks} for the block, or `"{_name_in(item)}"{text[len(_name_in(item)) :]}` for the string'
        self.report.warning("MSL244", module.source, item.span, message, "which one?", help)

    def sibling_condition(
        self, module: Module, condition: ast.Condition, siblings: tuple[Param, ...]
    ) -> Condition | None:
        from msl.check.constraints.read_condition import sibling_condition  # few blocks have any

        return sibling_condition(module, condition, siblings, self.report)

    def learner_space(self, module: Module, written: ast.Expression, closes: bool, where: str) -> Node | None:
        return None if self.steps is None else self.steps.learner(written, module, closes, where)

    # --- declarations ---

    def _block(self, node: ast.Block, module: Module) -> Declared | None:
        sound = self._known_role(node.role, module)
        if node.task is not None and node.task.text not in TASKS:
            help = did_you_mean(node.task.text, TASKS) or "a task is `classification` or `regression`"
            self.report.error("MSL031", module.source, node.task.span, f"`{node.task.text}` is not a task", "", help)
            sound = False
        if _TARGET.fullmatch(node.target.value) is None:
            message = f'"{node.target.value}" does not name a {"function" if node.role.text == "metric" else "class"}'
            help = 'write `"package.module:Class"`, or `"package.module:Class*"` for a Classifier and a Regressor'
            module_name, dot, class_name = node.target.value.rpartition(".")
            if dot and _TARGET.fullmatch(f"{module_name}:{class_name}"):
                help = f'a colon goes before the class: write `"{module_name}:{class_name}"`'
            if node.role.text == "metric":
                help = help.replace("class", "function").replace("Class", "function").partition(", or ")[0]
            self.report.error("MSL032", module.source, node.target.span, message, "", help)
            sound = False
        declarer = self.declarer(module)
        fields, capabilities = option_fields(node), read_capabilities(node, module.source, self.report)
        params = declarer.params(fields, node.name.text)
        self._check_clashes(params, fields, module)
        params = self.with_defaults(params, fields, module, node.name.text)
        if not sound or capabilities is None:
            return None
        task = node.task.text if node.task is not None else None
        fidelity = self._fidelity(node, params, module)
        block = BlockType(
            node.name.text, module.origin, node.role.text, task, node.target.value, node.name.span, fidelity
        )
        return Declared(block, params, _labels(fields, module), capabilities=capabilities)

    def _derived(self, node: ast.Derive, module: Module) -> Declared | None:
        declaration = find(module, node.base, self.report, "a block")
        if declaration is None:
            return None
        if not declaration.is_block:
            message = f"`{node.base.text}` is not a block"
            help = "only blocks can be derived; name a space with `part`"
            self.report.error("MSL030", module.source, node.base.span, message, "", help, (declaration.label,))
            return None
        self.met.add(declaration)
        base = self.declared(declaration)
        if base is None:
            return None
        declarer = self.declarer(module)
        known = {param.name: param for param in base.params}
        changed: dict[str, Param] = {}
        labels = dict(base.labels)
        for argument in node.fields:
            if argument.key is None:
                declarer.unnamed(argument)
                continue
            name = argument.key.text
            if name not in known:
                help = did_you_mean(name, known) or (f"it declares {listing(known)}" if known else "it declares none")
                message = f"`{node.base.text}` has no parameter `{name}`"
                also = (declaration.label,)
                self.report.error("MSL096", module.source, argument.key.span, message, "", help, also)
                continue
            if name in changed:
                message = f"`{name}` is declared twice in `{node.name.text}`"
                also = (replace(labels[name], text="first declared here"),)
                self.report.error(
                    "MSL092", module.source, argument.key.span, message, "again", "remove one of them", also
                )
                continue
            param = self._rederived(known[name], argument, declarer, base.params[: list(known).index(name)])
            if param is not None:
                changed[param.name] = param
                labels[param.name] = Label(module.source, argument.span, "declared here")
        params = tuple(changed.get(param.name, param) for param in base.params)
        if any(isinstance(param.node, Sized) for param in base.params):
            spans = {name: labels[name].span for name in changed}
            counted = [
                new if isinstance(new.node, Sized) else old for old, new in zip(base.params, params, strict=True)
            ]
            Lengths(module.source, self.report).fit(params, tuple(counted), spans, node.name.span)
        self._check_clashes(params, node.fields, module)
        params = self.with_defaults(params, node.fields, module, node.name.text)
        inherited = base.block.fidelity
        fidelity = self._fidelity(node, params, module)
        if node.fidelity is None and inherited is not None:
            fidelity = resource_of(params, inherited.parameter)
        block = replace(base.block, name=node.name.text, origin=module.origin, span=node.name.span, fidelity=fidelity)
        return Declared(block, params, labels, derived=True, capabilities=base.capabilities)

    def _fidelity(self, node: ast.Block | ast.Derive, params: tuple[Param, ...], module: Module) -> Fidelity | None:
        """The resource that a block names after its braces."""
        if node.fidelity is None:
            return None
        name, span = node.fidelity.text, node.fidelity.span
        param = next((param for param in params if param.name == name), None)
        if param is None:
            names = [param.name for param in params]
            help = did_you_mean(name, names) or (
                f"it declares {listing(names)}" if names else "declare it, with a range"
            )
            message = f"`{node.name.text}` has no parameter `{name}` that could be its resource"
            self.report.error("MSL290", module.source, span, message, "", help)
            return None
        found = resource_of(params, name)
        if found is None:
            why = "its domain is not a range of numbers with a constant low end above 0"
            if param.condition is not None:
                why = "it does not always exist"
            message = f"`{name}` cannot be the resource of `{node.name.text}`: {why}"
            help = "name a parameter such as `n_estimators: int 10..1_000 log`: the larger, the longer a fit takes"
            self.report.error("MSL291", module.source, span, message, "", help)
        return found

    def _rederived(
        self, old: Param, argument: ast.Argument, declarer: Declarer, siblings: tuple[Param, ...]
    ) -> Param | None:
        """Another domain for a parameter; alternatives that it already had keep their parameters."""
        narrowed = self._as_narrowing(old, argument, declarer)
        if narrowed is not None:
            return narrowed
        if isinstance(argument.value, ast.Range) and argument.value.kind is None:
            ranges = [o for o in alternatives(old.node) if isinstance(o, IntRange | RealRange)]
            node = declarer.range(argument.value, ranges[0] if ranges else None)
            if node is None:
                return None
            best = argument.best is not None and declarer.tries(argument, node)
            return replace(old, node=node, default=None, has_default=False, best=best)
        param = declarer.param(argument, siblings)
        return param if param is None else replace(param, condition=param.condition or old.condition)

    def _as_narrowing(self, old: Param, argument: ast.Argument, declarer: Declarer) -> Param | None:
        """The domain as a narrowing of the old one, so that alternatives keep their meaning; None if it is not."""
        quiet = Declarer(declarer.module, Report(), self)
        plain = replace(argument, default=None, condition=None)
        node = Narrower(quiet).argument(old, plain, Owner("", ""))
        if node is None or quiet.report.failed:
            return None
        self.report.diagnostics.extend(quiet.report.diagnostics)
        best = argument.best is not None and declarer.tries(argument, node)
        return replace(old, node=node, default=None, has_default=False, takes=taken_role(argument), best=best)

    def with_defaults(
        self, params: tuple[Param, ...], fields: tuple[ast.Argument, ...], module: Module, owner: str
    ) -> tuple[Param, ...]:
        return Defaults(module, self.report, self.narrower(module)).of(params, fields, owner)

    def _check_clashes(self, params: tuple[Param, ...], fields: tuple[ast.Argument, ...], module: Module) -> None:
        """Report clashes: parameters of alternatives become parameters of the block, so their names must differ."""
        written = {field.key.text: field for field in fields if field.key is not None}
        for name, owner, param in clashes(params):
            field = written.get(param.name) or written.get(owner.name)
            if field is None or field.key is None:
                continue
            message = f"the class would get two parameters `{name}`, one of them from `{param.name}`"
            also: tuple[Label, ...] = ()
            if owner is not param and owner.name in written:
                also = (Label(module.source, written[owner.name].span, "the other one is from here"),)
            help = "give them different names, or keep one of them"
            if isinstance(call := next(_calls_with(field.value, name), None), ast.Call):
                called = module.source.slice(call.path.span)
                help = f"with braces they are its own: `{called} {{ {name}: … }}`; the class then gets one dictionary"
            self.report.error("MSL092", module.source, field.key.span, message, "", help, also)

    def _known_role(self, role: ast.Name, module: Module, in_chain: bool = False) -> bool:
        """Whether a role can be declared, or be meant by `any ROLE` in a chain. Files may declare metrics."""
        known = [*CHAIN_ROLES, *SLOT_ROLES, *(() if in_chain else ("metric",))]
        if role.text in known or (role.text in ENGINE_ROLES and module.is_implied):
            return True
        help = did_you_mean(role.text, known) or f"roles are {listing(known)}"
        if (meant := role_meant(role.text)) is not None:
            help = f"write `{meant}`"
        self.report.error("MSL033", module.source, role.span, f"`{role.text}` is not a role", "", help)
        return False

    def _circle(self, declaration: Declaration) -> None:
        circle = [*self._under_way[self._under_way.index(declaration) :], declaration]
        names = " is derived from ".join(f"`{d.name}`" for d in circle)
        message = f"circular derivation of blocks: {names}"
        help = "derive from another block"
        elsewhere = [q for q, used in declaration.module.uses.items() if declaration.name in used.declarations]
        if elsewhere and len(circle) == 2:
            message = f"`{declaration.name}` is derived from itself: a local name wins over one of a file that is used"
            help = f"write `block {declaration.name} = {elsewhere[0]}.{declaration.name} {{ … }}`"
        source, span = declaration.module.source, declaration.node.name.span
        self.report.error("MSL026", source, span, message, "", help)


def is_explicit(item: ast.Expression) -> bool:
    """Whether an expression can only be a block: `sklearn.tree`, `tree(max_depth: 1..3)`, `tree()`."""
    path = item.path if isinstance(item, ast.Call) else item
    return isinstance(item, ast.Call) or (isinstance(path, ast.Path) and len(path.names) > 1)


def _explicit(module: Module, use: BlockUse, text: str) -> str:
    """How to write a block so that it cannot be taken for a string."""
    qualifier = next((q for q, used in module.uses.items() if used.origin == use.block.origin), None)
    return f"{text}()" if qualifier is None else f"{qualifier}.{text}"


def _calls_with(value: ast.Expression, name: str) -> Iterator[ast.Call]:
    """The alternatives with a parameter of this name."""
    for item in value.items if isinstance(value, ast.Choice) else (value,):
        if isinstance(item, ast.Call) and any(a.key is not None and a.key.text == name for a in item.arguments):
            yield item


def _name_in(item: ast.Expression) -> str:
    path = item.path if isinstance(item, ast.Call) else item
    assert isinstance(path, ast.Path)
    return path.text


def _labels(fields: tuple[ast.Argument, ...], module: Module) -> dict[str, Label]:
    return {f.key.text: Label(module.source, f.span, "declared here") for f in fields if f.key is not None}


def _where_role_is(role: str) -> str:
    """The help that names a catalogue with blocks of a role."""
    having = [
        name
        for name in catalogues.names()
        if any(piece.role == role for piece in catalogues.pieces(catalogues.text(name, catalogues.versions(name)[-1])))
    ]
    return f"add `use {having[0]}`, or declare one" if having else "declare one, or use a file that does"
