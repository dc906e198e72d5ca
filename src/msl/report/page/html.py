"""Html: markup that is escaped where it is made, so that no text of a user can become part of the page's own code."""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from typing import Any

from msl.text.columns import shown

#: Elements of SVG that hold nothing are closed at once; so are those of HTML that may hold nothing.
_EMPTY = frozenset("br col hr img meta source circle line path rect use".split())


class Html(str):
    """Markup that is safe as it stands. Every other text is escaped when it is put into some."""

    __slots__ = ()


Content = Html | str | int | None
NOTHING = Html("")


def text(content: Content) -> Html:
    """A text as markup; characters that would steer or reorder the line are shown, not obeyed."""
    if content is None:
        return NOTHING
    if isinstance(content, Html):
        return content
    return Html(escape(_printable(str(content))))


def tag(name: str, /, *content: Content | Iterable[Content], **attributes: str | float | bool | None) -> Html:
    """An element. `class_` stands for `class`, and `_` in other attributes for `-`; None and False leave one out."""
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _EMPTY and not content:
        return Html(f"<{name}{written}/>")
    return Html(f"<{name}{written}>{joined(content)}</{name}>")


def joined(content: Iterable[Content | Iterable[Content]]) -> Html:
    """Pieces one after the other; a list among them stands for its own pieces."""
    return Html("".join(text(one) if isinstance(one, str | int | None) else joined(one) for one in content))


def data_block(content: Any, kind: str) -> Html:
    """Data for the page's own script, in a form that no browser runs."""
    written = json.dumps(content, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return Html(f'<script type="application/json" class="{kind}">{written.replace("<", chr(92) + "u003c")}</script>')


def _attribute(key: str, value: str | float | bool | None) -> str:
    if value is None or value is False:
        return ""
    name = key.removesuffix("_").replace("_", "-")
    if value is True:
        return f" {name}"
    return f' {name}="{escape(_printable(str(value)))}"'


def _printable(content: str) -> str:
    if content.isascii() and content.isprintable():
        return content
    return "".join(letter if letter in "\n\t" else shown(letter) for letter in content)
