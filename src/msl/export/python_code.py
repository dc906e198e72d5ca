"""Build Python code from pieces that are known to be code, so that no name or label can become a command.

A `Code` is made of a template of ours, of values written as literals, of comments and of checked names, and of nothing
else: what comes from a table, a spec, a store or an estimator has no other way into a file that is generated.
"""

from __future__ import annotations

import ast
import enum
import importlib
import inspect
import keyword
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import count, takewhile
from typing import Any, final

import numpy as np

from msl.blocks.base.chain import Branch
from msl.diagnostics.user_error import UserError

_PLACE = re.compile(r"\{\{([a-z_]+)\}\}")


class Unwritable(UserError):
    """A value that no expression can make."""


@final
@dataclass(frozen=True, slots=True)
class Code:
    """A piece of Python. Make it with the functions of this module, never from a text that somebody else wrote."""

    text: str

    def __str__(self) -> str:
        return self.__format__("")

    def __format__(self, spec: str) -> str:  # a piece in an f-string would be a raw string again
        raise TypeError("code is put together by `template` and `joined` alone")


def template(text: str, **pieces: Code) -> Code:
    """A text of ours in which `{{name}}` stands for a piece; raises TypeError for anything that is no code."""
    for name, piece in pieces.items():
        _require_code(piece, name)
    return Code(_PLACE.sub(lambda place: pieces[place[1]].text, text))


def joined(separator: str, pieces: Iterable[Code]) -> Code:
    """Pieces one after the other; raises TypeError for anything that is no code."""
    texts = [_require_code(piece, "piece").text for piece in pieces]
    return Code(separator.join(texts))


def literal(value: Any) -> Code:
    """A text, number, truth value or None, or a list, tuple or dictionary of such, as the expression that gives it."""
    if type(value) is list or type(value) is tuple:
        inner = ", ".join(literal(each).text for each in value)
        if type(value) is list:
            return Code(f"[{inner}]")
        return Code(f"({inner},)" if len(value) == 1 else f"({inner})")
    if type(value) is dict:
        return Code("{" + ", ".join(f"{literal(key).text}: {literal(each).text}" for key, each in value.items()) + "}")
    if type(value) is float and not math.isfinite(value):
        return Code(f'float("{value!r}")')
    if type(value) is int:
        # Decimal digits beyond a few thousand are refused by Python itself, those of base 16 are not.
        return Code(repr(value) if abs(value) < 1 << 64 else hex(value))
    if value is not None and type(value) not in (str, bytes, bool, float):
        raise Unwritable(f"a {type(value).__name__} cannot be written as code")
    text = repr(value)
    again = ast.literal_eval(text)
    if type(again) is not type(value) or repr(again) != text or not text.isprintable():
        raise Unwritable(f"{text[:80]} cannot be written as code")
    return Code(text)


def comment(text: str) -> Code:
    """A text as lines of comment; what does not print, or would end a line, is written as an escape."""
    lines = [f"# {printable(line)}".rstrip() for line in re.split(r"\r\n|\r|\n", text)]
    return Code("\n".join(lines))


def printable(text: str) -> str:
    """A text in one line, with escapes for all that cannot be seen, or that shows a line otherwise than it is read."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def name(text: str) -> Code:
    """The name of a class, a function or an argument; raises Unwritable for anything else."""
    if not is_name(text):
        raise Unwritable(f"{ascii(text)[:80]} is no name")
    return Code(text)


def dotted_name(text: str) -> Code:
    """The name of a module; raises Unwritable for anything else."""
    return joined(".", map(name, text.split(".")))


def is_name(text: Any) -> bool:
    """Whether Python takes a text for a name. Only plain letters: others are changed as Python reads them."""
    return type(text) is str and text.isascii() and text.isidentifier() and not keyword.iskeyword(text)


def _require_code(piece: Any, name: str) -> Code:
    if type(piece) is not Code:
        raise TypeError(f"`{name}` is a {type(piece).__name__}, and only code goes into code")
    return piece


# --- Estimator code: an estimator as the Python expression that makes it, with the imports that the expression needs.


_INDENT = "    "
_WIDEST = 100
#: Python itself reads no code that is nested much more deeply.
_DEEPEST = 60


class EstimatorCode:
    """Writes expressions and remembers what they import; `reserved` are names that mean something else in the file."""

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        self._names: dict[str, Any] = dict.fromkeys(reserved)
        self._imports: dict[str, list[tuple[str, Code]]] = {}
        #: Functions of the file that expressions refer to.
        self.used: set[str] = set()

    def imports(self) -> Code:
        """The lines of import, sorted; numpy is `np` in every expression and imported by the file."""
        lines = [
            template(
                "from {{module}} import {{names}}",
                module=dotted_name(module),
                names=joined(", ", [line for _, line in sorted(names, key=lambda one: one[0])]),
            )
            for module, names in sorted(self._imports.items())
        ]
        return joined("\n", lines)

    def imported(self, thing: type | Callable[..., Any]) -> Code:
        """The name of a class or a function, which is imported from the shortest public module that has it.

        Where the name is taken, by the file or by another class, it is imported under a name of its own.
        """
        known = next((known for known, other in self._names.items() if other is thing), None)
        if known is not None:
            return name(known)
        module, own = _whereabouts(thing)
        free = next(each for each in _names_like(own) if each not in self._names)
        self._names[free] = thing
        line = name(own) if free == own else template("{{own}} as {{free}}", own=name(own), free=name(free))
        self._imports.setdefault(module, []).append((own, line))
        return name(free)

    def packages(self) -> list[Code]:
        """The packages that are imported from."""
        return [name(each) for each in sorted({module.partition(".")[0] for module in self._imports})]

    def own(self, function: str) -> Code:
        """The name of a function of the file itself."""
        self.used.add(function)
        return name(function)

    def expression(self, value: Any, depth: int = 0) -> Code:
        """A value as Python writes it; `depth` is how far the lines of a long one are indented."""
        if depth > _DEEPEST:
            raise Unwritable("a parameter is nested too deeply to be written as code")
        match value:
            case enum.Enum():
                return template(
                    "{{kind}}[{{member}}]", kind=self.imported(type(value)), member=literal(str.__str__(value.name))
                )
            case np.ndarray():
                return self._array(value, depth)
            case np.generic():
                return literal(_plain_number(value))
            case None | bool() | bytes():
                return literal(value)
            case str():  # of a class derived from it only the text is kept: its own way to be shown may show anything
                return literal(str.__str__(value))
            case int():
                return literal(int.__index__(value))
            case float():
                return literal(float.__float__(value))
            case list() | tuple():
                return self._listed(value, depth)
            case dict():
                pairs = [
                    template("{{key}}: {{inner}}", key=self.expression(key), inner=self.expression(inner, depth + 1))
                    for key, inner in value.items()
                ]
                return _wrapped(template("{"), pairs, "}", depth)
            case Branch():
                return self.call(self.imported(Branch), [self.expression(value.branches, depth + 1)], depth)
        if isinstance(value, type) or inspect.isroutine(value):
            return self.imported(value)
        if hasattr(value, "fit") or hasattr(value, "get_params"):
            return self.call(self.imported(type(value)), self._arguments(value, depth + 1), depth)
        raise Unwritable(f"a parameter is a {type(value).__name__}, which cannot be written as code")

    def call(self, function: Code, arguments: Iterable[Code], depth: int = 0) -> Code:
        """A call, on one line where it fits."""
        return _wrapped(template("{{function}}(", function=function), list(arguments), ")", depth)

    def _array(self, value: np.ndarray[Any, Any], depth: int) -> Code:
        items = value.tolist()
        again = np.array(items)
        made = template("np.array({{items}})", items=self.expression(items, depth))
        if again.dtype == value.dtype and again.shape == value.shape:
            return made
        if value.dtype.hasobject or value.dtype.fields is not None:
            raise Unwritable(f"a parameter is an array of {value.dtype}, which cannot be written as code")
        return template(
            "np.array({{items}}, dtype={{dtype}}).reshape({{shape}})",
            items=self.expression(items, depth),
            dtype=literal(value.dtype.str),
            shape=literal(value.shape),
        )

    def _listed(self, values: list[Any] | tuple[Any, ...], depth: int) -> Code:
        if isinstance(values, tuple) and len(values) == 1:
            return template("({{only}},)", only=self.expression(values[0], depth))
        opening, closing = ("(", ")") if isinstance(values, tuple) else ("[", "]")
        return _wrapped(template(opening), [self.expression(inner, depth + 1) for inner in values], closing, depth)

    def _arguments(self, estimator: Any, depth: int) -> list[Code]:
        """What differs from the defaults of the class; what is no name can still be given to `**kwargs`."""
        arguments = constructor_arguments(estimator)
        named = [
            template("{{name}}={{value}}", name=name(each), value=self.expression(value, depth))
            for each, value in arguments.items()
            if is_name(each)
        ]
        others = {each: value for each, value in arguments.items() if not is_name(each)}
        if others:
            named.append(template("**{{others}}", others=self.expression(others, depth)))
        return named


def constructor_arguments(estimator: Any) -> dict[str, Any]:
    """What an estimator of this kind has to be made with, but for what is the default of its class.

    The named parameters come first, then what the class takes through `**kwargs`: as `get_params` tells, and, of
    classes that keep it to themselves, as they are found to have kept it.
    """
    kind = type(estimator)
    try:
        parameters = inspect.signature(kind).parameters
    except (TypeError, ValueError):
        raise Unwritable(f"`{kind.__name__}` does not say what it is made with") from None
    values = _told_parameters(estimator, parameters)
    takes_more = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values())
    named = [each.name for each in parameters.values() if each.kind not in _VARIABLE]
    missing = [each for each in named if each not in values and parameters[each].default is inspect.Parameter.empty]
    if missing:
        raise Unwritable(f"`{kind.__name__}` does not say which `{missing[0]}` it was made with")
    told = [each for each in named if each in values]
    arguments = {each: values[each] for each in told if not is_default(values[each], parameters[each].default)}
    if takes_more:
        usual = _usual_parameters(kind)
        others = {each: value for each, value in values.items() if each not in named}
        arguments |= {each: value for each, value in others.items() if not is_default(value, usual.get(each, _ABSENT))}
        arguments |= _kept_unsaid(estimator, arguments)
    return arguments


_ABSENT = inspect.Parameter.empty
_VARIABLE = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)


def _told_parameters(estimator: Any, parameters: Mapping[str, inspect.Parameter]) -> dict[str, Any]:
    """What an estimator says that it was made with; of one that says nothing, what stands under the same names."""
    if hasattr(estimator, "get_params"):
        try:
            return dict(estimator.get_params(deep=False))
        except TypeError:  # a class of somebody's own may know no `deep`
            return dict(estimator.get_params())
        except AttributeError as unknown:
            raise Unwritable(
                f"an earlier version of MSL made this model, and `{type(estimator).__name__}` has had other parameters "
                f"since ({unknown})"
            ) from unknown
    named = [each for each, parameter in parameters.items() if parameter.kind not in _VARIABLE]
    return {each: getattr(estimator, each) for each in named if hasattr(estimator, each)}


def _usual_parameters(kind: type) -> dict[str, Any]:
    """What an estimator says that it was made with if it was made with nothing, where that can be done."""
    try:
        return dict(kind().get_params(deep=False))
    except Exception:  # its class may want something, and may say so in any way
        return {}


def _kept_unsaid(estimator: Any, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """What was given to `**kwargs` and `get_params` does not tell.

    It is found as a dictionary of options that the class keeps, or as attributes that another of its kind has only if
    it is made with them.
    """
    kind = type(estimator)
    attributes = getattr(estimator, "__dict__", {})
    try:
        fresh = vars(kind(**arguments))
        for kept, options in attributes.items():
            if type(options) is dict and options and fresh.get(kept) == {} and all(map(is_name, options)):
                again = vars(kind(**arguments, **options))
                if again.get(kept) == options:
                    return dict(options)
        plain = {
            each: value
            for each, value in attributes.items()
            if each not in fresh and not each.startswith("_") and not each.endswith("_") and _is_scalar(value)
        }
        again = vars(kind(**arguments, **plain)) if plain else {}
    except Exception:  # the class takes no such argument, and may say so in any way
        return {}
    return {each: value for each, value in plain.items() if each in again and again[each] == value}


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, str | bool | int | float | np.generic)


def is_default(value: Any, default: Any) -> bool:
    """Whether a parameter may be left out."""
    if default is inspect.Parameter.empty or isinstance(value, np.ndarray):
        return False
    if isinstance(value, list | tuple) and isinstance(default, list | tuple) and not (value or default):
        return True
    return value is default or (type(value) is type(default) and repr(value) == repr(default))


def _plain_number(value: Any) -> Any:
    plain = value.item()
    if isinstance(plain, np.generic):  # long doubles are nothing else in Python
        raise Unwritable(f"a parameter is a {type(value).__name__}, which cannot be written as code")
    return plain


def _whereabouts(thing: Any) -> tuple[str, str]:
    """The module and the name by which a class or a function can be imported; raises Unwritable for one that cannot."""
    module, own = str(getattr(thing, "__module__", None)), str(getattr(thing, "__name__", None))
    if not all(map(is_name, [own, *module.split(".")])) or module == "__main__":
        raise Unwritable(f"`{own}` of `{module}` cannot be imported by name")
    public = list(takewhile(lambda part: not part.startswith("_"), module.split(".")))
    modules = [".".join(public[: length + 1]) for length in range(len(public))]
    found = next((each for each in [*modules, module] if _has(each, own, thing)), None)
    if found is None:
        raise Unwritable(f"`{own}` of `{module}` cannot be imported by name")
    return found, own


def _names_like(own: str) -> Iterable[str]:
    yield own
    for number in count(2):
        yield f"{own}_{number}"


def _has(module: str, own: str, thing: Any) -> bool:
    try:
        return getattr(importlib.import_module(module), own, None) is thing
    except Exception:  # a module may raise anything while it is imported
        return False


def _wrapped(opening: Code, items: list[Code], closing: str, depth: int) -> Code:
    line = joined("", [opening, joined(", ", items), template(closing)])
    texts = [item.text for item in items]
    if "\n" not in line.text and len(line.text) + len(_INDENT) * depth <= _WIDEST:
        return line
    if not any("(" in text or "\n" in text for text in texts) and opening.text in "([":
        return line  # a long vector reads no better with a line for each number
    inner = _INDENT * (depth + 1)
    rows = [template(f"\n{inner}{{{{item}}}},", item=item) for item in items]
    return joined("", [opening, *rows, template(f"\n{_INDENT * depth}{closing}")])
