"""Write an SVG file: shapes, texts and one style sheet for light and dark."""

from __future__ import annotations

from xml.sax.saxutils import escape

TITLE_SIZE, TEXT_SIZE, LABEL_SIZE = 13.0, 11.0, 11.0
#: Widths of letters in ems, from the widest of the usual fonts, so that no text leaves its box.
_MONO_WIDTH = 0.61
_NARROW, _SLIM, _WIDE = "ijl|'.,:; ", "ftrI!()[]-", "mwMW@%…"

_ROLES = {
    "transformer": ("#0969da", "#4493f8"),
    "selector": ("#1a7f37", "#3fb950"),
    "learner": ("#8250df", "#ab7df8"),
    "post": ("#bc4c00", "#db6d28"),
}
_OTHER_ROLE = ("#57606a", "#9198a1")

#: For each class of shape: how it is drawn, in light, and what dark changes.
_STYLES = [
    (".ground", "fill:#ffffff", "fill:#0d1117"),
    (".track", "fill:none;stroke:#57606a;stroke-width:1.5", "stroke:#8b949e"),
    (".skip", "fill:none;stroke:#57606a;stroke-width:1.5;stroke-dasharray:4 4", "stroke:#8b949e"),
    (".bar", "stroke:#57606a;stroke-width:4;stroke-linecap:round", "stroke:#8b949e"),
    (".head", "fill:#57606a", "fill:#8b949e"),
    (".end", "fill:#ffffff;stroke:#57606a;stroke-width:1.5", "fill:#0d1117;stroke:#8b949e"),
    (".box", "fill:#f6f8fa;stroke:#d0d7de", "fill:#161b22;stroke:#3d444d"),
    (".frame", "fill:none;stroke:#afb8c1;stroke-dasharray:2 4", "stroke:#57606a"),
    (".title", f"fill:#1f2328;font-size:{TITLE_SIZE:g}px;font-weight:600", "fill:#f0f6fc"),
    (".part", f"fill:#1f2328;font-size:{TITLE_SIZE:g}px;font-style:italic", "fill:#f0f6fc"),
    (".label", f"fill:#59636e;font-size:{LABEL_SIZE:g}px", "fill:#9198a1"),
    (".name", "fill:#1f2328", "fill:#f0f6fc"),
    (".domain", "fill:#0550ae", "fill:#79c0ff"),
    (".fixed", "fill:#656d76", "fill:#848d97"),
]
_FONTS = (
    'text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}'
    f".code{{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:{TEXT_SIZE:g}px}}"
)


def code_width(text: str) -> float:
    """At most how wide a text in the font of code is."""
    return sum(1.0 if ord(letter) > 0x2E80 else _MONO_WIDTH for letter in text) * TEXT_SIZE


def text_width(text: str, size: float = TITLE_SIZE) -> float:
    """At most how wide a text is in the font of names, bold."""
    return sum(map(_letter_width, text)) * size


def _letter_width(letter: str) -> float:
    if letter in _NARROW:
        return 0.4
    if letter in _SLIM:
        return 0.5
    if letter in _WIDE or ord(letter) > 0x2E80:
        return 1.11
    return 0.73 if letter.islower() or letter in "0123456789_" else 0.88


class Picture:
    """Shapes in the order in which they were drawn."""

    def __init__(self) -> None:
        self._shapes: list[str] = []
        self._roles: dict[str, str] = {}

    def text(self, x: float, y: float, text: str, style: str) -> None:
        """One line; `y` is the line that the letters stand on."""
        self._shapes.append(f'<text x="{tenths(x)}" y="{tenths(y)}" class="{style}">{_escaped(text)}</text>')

    def spans(self, x: float, y: float, *spans: tuple[str, str]) -> None:
        """One line of code whose pieces differ in style."""
        inner = "".join(f'<tspan class="{style}">{_escaped(text)}</tspan>' for text, style in spans)
        self._shapes.append(f'<text x="{tenths(x)}" y="{tenths(y)}" class="code" xml:space="preserve">{inner}</text>')

    def path(self, commands: str, style: str = "track") -> None:
        self._shapes.append(f'<path d="{commands}" class="{style}"/>')

    def line(self, x1: float, y1: float, x2: float, y2: float, style: str = "track") -> None:
        self.path(f"M{tenths(x1)} {tenths(y1)}L{tenths(x2)} {tenths(y2)}", style)

    def box(self, x: float, y: float, width: float, height: float, style: str, radius: float = 6) -> None:
        self._shapes.append(
            f'<rect x="{tenths(x)}" y="{tenths(y)}" width="{tenths(width)}" height="{tenths(height)}" '
            f'rx="{tenths(radius)}" class="{style}"/>'
        )

    def circle(self, x: float, y: float, radius: float, style: str) -> None:
        self._shapes.append(f'<circle cx="{tenths(x)}" cy="{tenths(y)}" r="{tenths(radius)}" class="{style}"/>')

    def role(self, role: str) -> str:
        """The class of shapes that stand for a role; asked for, it is in the style sheet."""
        return self._roles.setdefault(role, f"role{len(self._roles)}")

    @property
    def roles(self) -> list[str]:
        return list(self._roles)

    def svg(self, width: float, height: float, title: str) -> str:
        size = f'width="{tenths(width)}" height="{tenths(height)}" viewBox="0 0 {tenths(width)} {tenths(height)}"'
        dataset = f'<rect width="{tenths(width)}" height="{tenths(height)}" class="ground"/>'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">\n<title>{_escaped(title)}</title>\n'
            f"<style>{self._style_sheet()}</style>\n" + "\n".join([dataset, *self._shapes]) + "\n</svg>\n"
        )

    def _style_sheet(self) -> str:
        styles = list(_STYLES)
        for role, name in self._roles.items():
            light, dark = _ROLES.get(role, _OTHER_ROLE)
            styles.append((f".{name}", f"fill:{light}", f"fill:{dark}"))
        light_rules = "".join(f"{name}{{{light}}}" for name, light, _ in styles)
        dark_rules = "".join(f"{name}{{{dark}}}" for name, _, dark in styles)
        return f"{_FONTS}{light_rules}@media (prefers-color-scheme:dark){{{dark_rules}}}"


def tenths(value: float) -> str:
    """A length or a place in a picture, with one decimal where it has one."""
    return f"{value:.1f}".removesuffix(".0")


def _escaped(text: str) -> str:
    return escape("".join(letter if letter.isprintable() else "�" for letter in text))
