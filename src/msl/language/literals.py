"""Convert literals: numbers with units, strings with escapes, names that may need quotes."""

from __future__ import annotations

import math
import re

from msl.language import ast
from msl.language.tokens import FUNCTION_WORDS, is_identifier
from msl.record import record

SECONDS: dict[str, float] = {"ms": 0.001, "s": 1, "min": 60, "h": 3600}
BYTES: dict[str, float] = {"KB": 10**3, "MB": 10**6, "GB": 10**9}
UNITS = frozenset(SECONDS) | frozenset(BYTES)
LONGEST_NUMBER = 200

#: Other spellings of the units.
_UNIT_SPELLINGS = {
    "ms": "msec msecs millisecond milliseconds",
    "s": "sec secs second seconds",
    "min": "m mins minute minutes",
    "h": "hr hrs hour hours",
    "KB": "kb k K kilobyte kilobytes KiB kib",
    "MB": "mb megabyte megabytes MiB mib M",
    "GB": "gb g gigabyte gigabytes GiB gib G",
}
MEANT_UNIT = {spelling: unit for unit, spellings in _UNIT_SPELLINGS.items() for spelling in spellings.split()}
MEANT_UNIT |= {unit: unit for unit in UNITS} | {"S": "s", "H": "h"}

#: Suffixes of counts, and their factors.
_COUNTS = {"k": 10**3, "K": 10**3, "M": 10**6}
#: Units that MSL does not have, in terms of those that it has.
_SCALED_UNITS = {
    **dict.fromkeys(("us", "µs", "microsecond", "microseconds"), (0.001, "ms")),
    **dict.fromkeys(("d", "day", "days"), (24, "h")),
    **dict.fromkeys(("w", "week", "weeks"), (168, "h")),
    **dict.fromkeys(("tb", "tib", "terabyte", "terabytes"), (1000, "GB")),
}
_COMPOUND = re.compile(r"(?:[0-9.]+(?:h|min|s))+")
_COMPOUND_PIECE = re.compile(r"([0-9.]+)(h|min|s)")

_NUMBER = re.compile(r"([0-9_]+(?:\.[0-9_]+)?(?:[eE][+-]?[0-9]+)?)([A-Za-z_%][A-Za-z0-9_]*)?")
_ESCAPE = re.compile(r"\\(u\{([0-9A-Fa-f]{1,6})\}|.)", re.DOTALL)
_SHORT_ESCAPES = {'"': '"', "\\": "\\", "n": "\n"}


@record
class BadLiteral(Exception):
    """A literal without a value: why, and what to write; `part` is the wrong part of it."""

    code: str
    message: str
    help: str
    part: tuple[int, int]


def number_value(text: str) -> tuple[int | float, str | None]:
    """The value and the unit of a number as written: `1_000`, `1e-4`, `0.5%`, `30s`, `2GB`."""
    match = _NUMBER.fullmatch(text)
    if match is None:  # the lexer's NUMBER is this pattern: only a lone exponent can differ
        raise BadLiteral("MSL010", f"`{text}` is not a number", "write digits, as in `1000` or `1e-4`", (0, len(text)))
    digits, suffix = match[1].replace("_", ""), match[2]
    whole = (0, len(text))
    if len(digits) > LONGEST_NUMBER:
        raise BadLiteral("MSL010", "this number has too many digits", f"at most {LONGEST_NUMBER} are allowed", whole)
    value: int | float = int(digits) if digits.isdigit() else float(digits)
    if math.isinf(value):
        raise BadLiteral("MSL010", f"`{text}` is too large for a number", "the largest is about 1e308", whole)
    if suffix == "%":
        return value / 100, None
    if suffix is not None and suffix not in UNITS:
        at = (match.start(2), len(text))
        raise BadLiteral("MSL010", f"`{suffix}` is not a unit", _unit_advice(match[1], value, suffix), at)
    return value, suffix


def _unit_advice(digits: str, value: int | float, suffix: str) -> str:
    """What to write for a number with an unknown unit: `10m`, `2days`, `1h30min`."""
    meant = MEANT_UNIT.get(suffix, MEANT_UNIT.get(suffix.lower()))
    if suffix in _COUNTS:
        return f"write `{int(value * _COUNTS[suffix]):_}`, or `{digits}{meant}` for a size in memory"
    if meant is not None:
        return f"write `{digits}{meant}`"
    if _COMPOUND.fullmatch(digits + suffix):
        seconds = sum(float(n) * SECONDS[unit] for n, unit in _COMPOUND_PIECE.findall(digits + suffix))
        unit = "min" if seconds % 60 == 0 else "s"
        return f"write `{seconds / SECONDS[unit]:.12g}{unit}`: a number has one unit"
    if suffix.lower() in _SCALED_UNITS:
        factor, unit = _SCALED_UNITS[suffix.lower()]
        return f"write `{value * factor:.12g}{unit}`"
    advice = "units are `ms`, `s`, `min`, `h`, `KB`, `MB`, `GB`, `%`"
    return f"{advice}; a product is written `{digits} * {suffix}`" if suffix.isidentifier() else advice


def string_value(text: str) -> str:
    """The characters between the quotes, escapes replaced."""

    def replacement(match: re.Match[str]) -> str:
        at = (match.start() + 1, match.end() + 1)
        if match[2] is not None:
            point = int(match[2], 16)
            if point > 0x10FFFF or 0xD800 <= point <= 0xDFFF:
                raise BadLiteral("MSL018", f"`{match[0]}` is not a character", "the largest is `\\u{10FFFF}`", at)
            return chr(point)
        if match[1] not in _SHORT_ESCAPES:
            advice = 'write `\\"`, `\\\\`, `\\n` or `\\u{…}`; a plain backslash is `\\\\`'
            raise BadLiteral("MSL018", f"`{match[0]}` is not an escape sequence", advice, at)
        return _SHORT_ESCAPES[match[1]]

    return _ESCAPE.sub(replacement, text[1:-1])


def quoted(text: str) -> str:
    """A string as a spec writes it."""
    body = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return '"' + "".join(c if c.isprintable() else f"\\u{{{ord(c):x}}}" for c in body) + '"'


def spelt(value: int | float, unit: str | None = None) -> str:
    """A number as a spec writes it."""
    digits = repr(value)
    if "e" in digits:
        mantissa, exponent = digits.split("e")
        digits = f"{mantissa}e{int(exponent)}"
    return digits + (unit or "")


# --- names and paths, in quotes if they are not plain words -----------------------------------------------------------


def name_text(name: str) -> str:
    """A name as a spec writes it: in quotes if it is reserved or not a plain word."""
    return name if is_identifier(name) else quoted(name)


def path_text(path: ast.Path) -> str:
    """A path as a spec writes it."""
    return ".".join(name_text(name.text) for name in path.names)


def called_text(call: ast.Call) -> str:
    """The name of a call as written: `log(n_samples)` is the function, `"log"(x = 1)` an alternative of that name."""
    is_function = call.path.text in FUNCTION_WORDS and all(argument.key is None for argument in call.arguments)
    return call.path.text if is_function else path_text(call.path)
