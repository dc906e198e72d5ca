"""Read the learner that a block takes: a block, a pipeline, or a space of them, and lists of learners.

A parameter declared as `any learner` takes every space with exactly one learner on each path, whatever the declaration
lists. After `:`, and without a name, what is given is open as in a chain; after `=` it is closed at its defaults.
"""

from __future__ import annotations

from typing import Protocol

from msl.check.domains.alternatives import choice, written_alternatives
from msl.check.domains.contains import Place, options_of_kind
from msl.check.domains.declared import Declarer, listing_of
from msl.check.names.resolve_names import declarations_of, peek
from msl.language import ast
from msl.record import record
from msl.space.defaults import is_closed
from msl.space.nodes import BlockUse, Const, Listing, Node, Param, Pipeline, alternatives

_STEPS = (ast.Path, ast.Call, ast.AnyOf, ast.Sequence, ast.Union, ast.Optional)
_SEVERAL = (ast.Choice, ast.AnyOf)


class Alternatives(Protocol):
    """Narrows a block that the declaration lists."""

    def open(self, declared: Node, expression: ast.Expression, place: Place, closes: bool = False) -> Node | None: ...


@record
class LearnerReader:
    """Reads the learners of one file's uses; what is wrong is reported and returned as None."""

    declarer: Declarer
    listed: Alternatives

    def argument(self, param: Param, argument: ast.Argument, place: Place) -> Node | None:
        """The node of an argument whose parameter takes a learner, or a list of them."""
        opens = argument.opens or argument.key is None
        value = argument.value
        if not opens and isinstance(value, _SEVERAL):
            self.declarer.several_values(argument)
            return None
        if param.takes == "learners":
            items = _items(value)
            lists = items if any(isinstance(item, ast.ListOf) for item in items) else [value]
            options = [self._list(param.node, item, opens, place) for item in lists]
            sound = [option for option in options if option is not None]
            node = choice(sound) if len(sound) == len(options) else None
        else:
            node = self._learner(param.node, value, opens, place)
        if node is not None and argument.opens and is_closed(node):
            self.declarer.single_value(argument)
            return None
        return node

    def _list(self, declared: Node, value: ast.Expression, opens: bool, place: Place) -> Node | None:
        if not isinstance(value, ast.ListOf) or not value.items:
            text = self._text(value)
            message = f"`{place.parameter}` of `{place.owner.name}` is a list of learners"
            learner = "logistic, decision_tree" if isinstance(value, ast.ListOf) else text
            self._error("MSL204", value, message, f"write `[{learner}]`")
            return None
        lists = [option for option in alternatives(declared) if isinstance(option, Listing)]
        element = lists[0].elements[0] if lists else Const(None)
        elements = [self._learner(element, item, opens, place) for item in value.items]
        sound = [inner for inner in elements if inner is not None]
        return listing_of(sound) if len(sound) == len(elements) else None

    def _learner(self, declared: Node, value: ast.Expression, opens: bool, place: Place) -> Node | None:
        items = _items(value)
        nodes = [self._alternative(declared, item, opens, place) for item in items]
        sound = [node for node in nodes if node is not None]
        if len(sound) < len(nodes):
            return None
        self.declarer.repeated(sound, items)
        return as_value(sound)

    def _alternative(self, declared: Node, item: ast.Expression, opens: bool, place: Place) -> Node | None:
        if isinstance(item, ast.Nothing) and any(option == Const(None) for option in alternatives(declared)):
            return Const(None)
        if self._is_listed(declared, item):
            return self.listed.open(declared, item, place, closes=not opens)
        if isinstance(item, _STEPS):
            where = f"`{place.parameter}` of `{place.owner.name}`"
            return self.declarer.context.learner_space(self.declarer.module, item, not opens, where)
        self._not_a_learner(item, place)
        return None

    def _is_listed(self, declared: Node, item: ast.Expression) -> bool:
        """Whether the declaration lists this block, or blocks of this role.

        A name is first that of the file that writes it: if a block or part of this name is in scope there, and it is
        not the one that the declaration lists, that one is meant.
        """
        uses = [option for option in options_of_kind(declared, BlockUse) if isinstance(option, BlockUse)]
        if isinstance(item, ast.AnyOf):
            return any(use.block.role == item.role.text for use in uses)
        path = item.path if isinstance(item, ast.Call) else item
        if not isinstance(path, ast.Path) or len(path.names) != 1:
            return False
        found = peek(self.declarer.module, path.text)
        named = [use.block for use in uses if use.block.name == path.text]
        if not named or (found is not None and (found.module.origin, found.name) not in [b.key for b in named]):
            return False
        declarations_of(self.declarer.module, path)  # the file that it comes from is used, though it need not be
        return True

    def _not_a_learner(self, item: ast.Expression, place: Place) -> None:
        message = f"`{self._text(item)}` is not a learner, and `{place.parameter}` of `{place.owner.name}` takes one"
        match item:
            case ast.String(value=name):
                help = f"names of blocks are written without quotes: `{name}`"
            case ast.Nothing():
                message = f"`{place.owner.name}` cannot do without `{place.parameter}`"
                help = "write a learner, or a pipeline with one"
            case ast.ListOf(items=items) if items:
                steps = [self._text(one) for one in items[:4]]
                help = f"for one step after another write `{' >> '.join(steps)}`, for a choice `{' | '.join(steps)}`"
            case _:
                help = "write a learner, a pipeline such as `standard_scaler >> logistic`, or the name of a part"
        self._error("MSL203", item, message, help)

    def _text(self, node: ast.Node) -> str:
        return self.declarer.module.source.slice(node.span)

    def _error(self, code: str, node: ast.Node, message: str, help: str) -> None:
        self.declarer.report.error(code, self.declarer.module.source, node.span, message, "", help)


def kept(param: Param) -> bool:
    """Whether a use leaves a parameter at its default until it is mentioned: a learner inside another block."""
    return param.takes is not None and param.has_default


def as_value(options: list[Node]) -> Node:
    """Alternatives of a value: blocks alone are what they are, and steps become pipelines."""
    steps: list[Node] = [option for option in options if not isinstance(option, Const)]
    if all(isinstance(inner, BlockUse) for option in steps for inner in alternatives(option)):
        return choice(options)
    constants: list[Node] = [option for option in options if isinstance(option, Const)]
    return choice([*constants, Pipeline(choice(steps))])


def _items(value: ast.Expression) -> list[ast.Expression]:
    return list(written_alternatives(value)) if isinstance(value, ast.Choice) else [value]
