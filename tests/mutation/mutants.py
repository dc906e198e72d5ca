"""Mutants: the small faults that a file could have, one at a time, each as the file's text with that fault in it.

A fault is put in the place of one expression or condition and leaves every other character alone, so that what reads
the source, as exported code does, sees the same file but for the fault.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

#: Comparisons with a boundary moved, and the opposite.
_COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
}
_CALLED = {"min": "max", "max": "min", "any": "all", "all": "any"}
#: A larger number is how much is kept or tried; one more or less of it is no fault.
_LARGEST_COUNT = 100


@dataclass(frozen=True, slots=True)
class Mutant:
    """A fault in a file: where, what stood there and stands there now, and the whole text with it."""

    path: str
    line: int
    column: int
    before: str
    after: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}:{self.column + 1}"

    def __str__(self) -> str:
        return f"{self.place}  {_in_one_line(self.before)}  →  {_in_one_line(self.after)}"


def mutants_of(path: str, text: str) -> list[Mutant]:
    """All faults that a file could have, in the order of its text."""
    raw = text.encode()
    starts = [0, *accumulate(len(line) for line in raw.splitlines(keepends=True))]
    found = []
    for node, after in _faults(ast.parse(text)):
        line, column = _end(node)
        begin, end = starts[node.lineno - 1] + node.col_offset, starts[line - 1] + column
        faulty = raw[:begin] + after.encode() + raw[end:]
        found.append(Mutant(path, node.lineno, node.col_offset, raw[begin:end].decode(), after, faulty.decode()))
    return sorted(found, key=lambda one: (one.line, one.column, one.before, one.after))


def _end(node: ast.expr) -> tuple[int, int]:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return node.end_lineno, node.end_col_offset


def _in_one_line(text: str) -> str:
    return f"`{' '.join(text.split())}`"


# --- where faults can be ------------------------------------------------------------------------------------------


def _faults(node: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    """Expressions, and what could wrongly stand there instead."""
    if isinstance(node, ast.expr):
        yield from ((node, after) for after in _wrong(node))
    match node:
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield value, "None"
        case ast.If(test=test) if not _has_opposite(test):
            yield test, f"not ({ast.unparse(test)})"
    for child in _parts(node):
        yield from _faults(child)


def _has_opposite(test: ast.expr) -> bool:
    """Whether its opposite is among the faults of the expression itself."""
    match test:
        case ast.Compare(ops=[_]) | ast.UnaryOp(op=ast.Not()):
            return True
    return False


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """What a node is made of, but for what is no behaviour of its own: types, decorators, assertions, texts."""
    match node:
        case ast.Assert() | ast.Raise() | ast.JoinedStr():  # and in 3.11 the places within f-strings are wrong
            return
        case ast.AnnAssign(value=value):
            yield from () if value is None else (value,)
        case ast.FunctionDef(args=args, body=body) | ast.AsyncFunctionDef(args=args, body=body):
            yield from (default for default in (*args.defaults, *args.kw_defaults) if default is not None)
            yield from body
        case ast.ClassDef(body=body):
            yield from body
        case ast.keyword(arg="strict"):  # of `zip`: it finds faults, and is none
            return
        case _:
            yield from ast.iter_child_nodes(node)


def _wrong(node: ast.expr) -> Iterator[str]:
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            for other in _COMPARED[type(op)]:
                yield f"({ast.unparse(ast.Compare(left, [other()], [right]))})"
        case ast.BoolOp(op=op, values=values):
            yield f"({ast.unparse(ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values))})"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield f"({ast.unparse(operand)})"
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _COMPUTED:
            yield f"({ast.unparse(ast.BinOp(left, _COMPUTED[type(op)](), right))})"
        case ast.IfExp(body=body, orelse=orelse):
            yield f"({ast.unparse(body)})"
            yield f"({ast.unparse(orelse)})"
        case ast.Constant(value=value):
            yield from _other_values(value)
        case ast.Call(func=func, args=args, keywords=keywords):
            yield from _other_calls(func, args, keywords)


def _other_values(value: object) -> Iterator[str]:
    if isinstance(value, bool):
        yield str(not value)
    elif isinstance(value, int) and abs(value) <= _LARGEST_COUNT:
        yield str(value + 1)
        yield f"({value - 1})"
    elif isinstance(value, float):
        yield repr(2 * value if value else 1.0)


def _other_calls(func: ast.expr, args: list[ast.expr], keywords: list[ast.keyword]) -> Iterator[str]:
    if isinstance(func, ast.Name) and func.id in _CALLED:
        yield ast.unparse(ast.Call(ast.Name(_CALLED[func.id]), args, keywords))
    elif len(args) == 2 and not any(isinstance(arg, ast.Starred) for arg in args) and not _is_type_test(func):
        if ast.dump(args[0]) == ast.dump(args[1]):
            return
        yield ast.unparse(ast.Call(func, args[::-1], keywords))


def _is_type_test(func: ast.expr) -> bool:
    """With its arguments swapped it raises: that finds out nothing about tests."""
    return isinstance(func, ast.Name) and func.id in ("isinstance", "issubclass", "getattr", "hasattr", "cast")
