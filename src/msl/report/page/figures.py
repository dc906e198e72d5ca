"""Figures: how numbers, shares, times and moments are said in a report."""

from __future__ import annotations

import math
from datetime import UTC, datetime

MINUS = "−"
UNKNOWN = "–"


def figure(value: float | None, digits: int = 4) -> str:
    """A number with so many significant digits; large ones in groups of three."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 1e9 or size < 1e-4:
        mantissa, _, exponent = f"{value:.{max(digits - 2, 0)}e}".partition("e")
        return _signed(f"{_trimmed(mantissa)}e{int(exponent)}")
    decimals = max(digits - 1 - math.floor(math.log10(size)), 0)
    return _signed(_trimmed(f"{value:,.{decimals}f}"))


def difference(value: float) -> str:
    """A number with its sign, also a plus."""
    return f"+{figure(value)}" if value > 0 else figure(value)


def count(number: int, one: str, many: str = "") -> str:
    """So many of something: `1 model`, `1,204 models`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def beyond_words(number: int) -> str:
    """What happened to values that an axis does not reach; nothing for none of them."""
    are = "is" if number == 1 else "are"
    return f"{count(number, 'value')} beyond the axis {are} drawn at its end." if number else ""


def percent(share: float | None) -> str:
    if share is None or not math.isfinite(share):
        return UNKNOWN
    value = 100 * share
    return f"{value:.0f} %" if value >= 9.95 or value == 0 else f"{value:.1f} %"


def duration(seconds: float | None) -> str:
    """A time in the unit that people would use."""
    if seconds is None or not math.isfinite(seconds):
        return UNKNOWN
    if seconds < 0.9995:
        return f"{figure(seconds * 1000, 2)} ms"
    if seconds < 100:
        return f"{figure(seconds, 3)} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:,} h {minutes} min" if hours else f"{minutes} min {rest} s"


def moment(at: datetime) -> str:
    at = at.astimezone(UTC)
    return f"{at.day} {at:%B %Y, %H:%M} UTC"


def shortened(words: str, most: int) -> str:
    """A text that is cut where it goes on and on."""
    return words if len(words) <= most else words[: most - 1].rstrip() + "…"


def _trimmed(digits: str) -> str:
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


def _signed(digits: str) -> str:
    return digits.replace("-", MINUS)
