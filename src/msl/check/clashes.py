"""Clashes: parameters of one name that a class would be given at once."""

from __future__ import annotations

from collections.abc import Iterator

from msl.check.inside import options_of
from msl.space.node import Node, Param, Symbol


def clashes(params: tuple[Param, ...]) -> Iterator[tuple[str, Param, Param]]:
    """Names that come twice, and the two parameters that bring them; alternatives of one parameter may share names."""
    owners = {param.name: param for param in params}
    for param in params:
        for name in dict.fromkeys(_inner_names(param.node)):
            owner = owners.setdefault(name, param)
            if owner is not param or name == param.name:
                yield name, owner, param


def _inner_names(node: Node) -> Iterator[str]:
    """The parameters that the alternatives of a parameter bring, each of which is the block's own."""
    for option in options_of(node):
        if isinstance(option, Symbol):
            for param in option.params:
                yield param.name
                yield from _inner_names(param.node)
