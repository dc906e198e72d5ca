"""Tightness: how tightly each node binds; one that binds less tightly than its place asks for takes parentheses."""

from __future__ import annotations

from enum import IntEnum

from msl.syntax import ast


class Tightness(IntEnum):
    """The rungs of the grammar. Spaces and conditions share them: neither can stand directly in the other."""

    SPACE = OR = 0
    UNIT = AND = 1
    DOMAIN = NOT = 2
    TEST = 3
    SUM = 4
    PRODUCT = 5
    FACTOR = 6
    ATOM = 7


def tightness_of(node: ast.Node) -> Tightness:
    match node:
        case ast.Choice() | ast.Sequence() | ast.Union():
            return Tightness.SPACE
        case ast.Or():
            return Tightness.OR
        case ast.Optional():
            return Tightness.UNIT
        case ast.And():
            return Tightness.AND
        case ast.Range() | ast.Bool() | ast.Vector():
            return Tightness.DOMAIN
        case ast.Not():
            return Tightness.NOT
        case ast.Compare() | ast.Is():
            return Tightness.TEST
        case ast.Arithmetic():
            return Tightness.SUM if node.operators[0] in "+-" else Tightness.PRODUCT
        case ast.Negative():
            return Tightness.FACTOR
        case ast.Number() if str(node.text or node.value).startswith("-"):
            return Tightness.FACTOR
        case _:
            return Tightness.ATOM
