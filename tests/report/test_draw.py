"""Pictures and trees of spaces: all is there, nothing overlaps or is cut off, and what never ends is cut short."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from xml.etree import ElementTree

import pytest
from example_spaces import EXAMPLES, block, choice, everything, numbers, optional, psms, seq, use
from generators import spaces as generated
from hypothesis import HealthCheck, given, settings
from small_spaces import spaces as small

from msl.report.diagrams.draw_space import space_to_svg, space_to_tree
from msl.report.diagrams.svg import LABEL_SIZE, TEXT_SIZE, TITLE_SIZE, code_width, text_width
from msl.space.conditions import Comparison, Literal, Sibling
from msl.space.nodes import (
    Arrange,
    BlockUse,
    Bool,
    Choice,
    Const,
    Empty,
    IntRange,
    Marked,
    Node,
    Param,
    Permute,
    Repeat,
    Sequence,
    Subset,
    Symbol,
    Union,
    bottom_up,
)
from msl.space.spec import Space

SVG = "{http://www.w3.org/2000/svg}"
SLOW = settings(suppress_health_check=[HealthCheck.too_slow], max_examples=80)
spaces = small | generated(finite=False)


def _crowded() -> Space:
    """All kinds of groups inside each other, long names, long lists and many parameters."""
    many = choice(*(use(f"selector_{i}", **{f"p{j}": IntRange(j, i + j) for j in range(i % 4)}) for i in range(30)))
    long = use("a_block_with_a_very_long_name", **{f"parameter_{i}": Const(i) for i in range(16)})
    inner = Union((use("u"), seq(use("v", k=IntRange(1, 3)), optional(use("w"))), Permute((use("m"), use("n")))))
    members = (use("pca"), optional(use("ica")), Marked("f:inner", choice(use("x"), use("y", k=Bool()))))
    return Space(
        seq(Marked("f:order", Arrange(0, 2, members)), many, Marked("f:long", long), Repeat(1, 3, inner), use("nb"))
    )


ALL = {**EXAMPLES, "crowded": _crowded}


# --- the picture --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Area:
    left: float
    top: float
    right: float
    bottom: float
    what: str = ""

    def overlaps(self, other: Area) -> bool:
        apart = self.right <= other.left or other.right <= self.left
        return not (apart or self.bottom <= other.top or other.bottom <= self.top)

    def holds(self, other: Area) -> bool:
        across = self.left <= other.left and other.right <= self.right
        return across and self.top <= other.top and other.bottom <= self.bottom


def _areas(root: ElementTree.Element) -> tuple[Area, list[Area], list[Area]]:
    """The page, the boxes of stations, and the texts with the room that the widest of the usual fonts takes."""
    page = Area(0, 0, float(root.attrib["width"]), float(root.attrib["height"]))
    boxes = []
    for rect in root.iter(f"{SVG}rect"):
        if rect.attrib["class"] == "box":
            x, y, width, height = (float(rect.attrib[name]) for name in ("x", "y", "width", "height"))
            boxes.append(Area(x, y, x + width, y + height))
    return page, boxes, [_text_area(text) for text in root.iter(f"{SVG}text")]


def _text_area(element: ElementTree.Element) -> Area:
    text = "".join(element.itertext())
    size = {"code": TEXT_SIZE, "label": LABEL_SIZE}.get(element.attrib["class"], TITLE_SIZE)
    width = code_width(text) if element.attrib["class"] == "code" else text_width(text, size)
    x, y = float(element.attrib["x"]), float(element.attrib["y"])
    return Area(x, y - 0.75 * size, x + width, y + 0.2 * size, text)


def _check_layout(svg: str) -> None:
    page, boxes, texts = _areas(ElementTree.fromstring(svg))
    for area in [*boxes, *texts]:
        assert page.holds(area), area
    for one, other in combinations(boxes, 2):
        assert not one.overlaps(other)
    for one, other in combinations(texts, 2):
        assert not one.overlaps(other), (one.what, other.what)
    for text in texts:
        assert all(box.holds(text) for box in boxes if box.overlaps(text)), text.what


@pytest.mark.parametrize("build", ALL.values(), ids=ALL)
def test_nothing_overlaps_or_is_cut_off(build: Callable[[], Space]) -> None:
    _check_layout(space_to_svg(build(), title="A title"))


@SLOW
@given(spaces)
def test_nothing_overlaps_in_any_space(space: Space) -> None:
    _check_layout(space_to_svg(space))


def _texts(svg: str) -> list[str]:
    return ["".join(text.itertext()) for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]


@pytest.mark.parametrize("build", EXAMPLES.values(), ids=EXAMPLES)
def test_every_step_and_every_requirement_is_in_the_picture_and_in_the_tree(build: Callable[[], Space]) -> None:
    space = build()
    steps = {
        node.block.name
        for node in bottom_up(space.root)
        if isinstance(node, BlockUse) and node.block.role in ("transformer", "selector", "learner", "post")
    }
    for shown in (" ".join(_texts(space_to_svg(space))), space_to_tree(space, width=200)):
        assert steps <= set(re.findall(r"\w+", shown))
        assert shown.count("require ") == len(space.requirements)


def test_the_picture_says_what_is_open_and_what_is_fixed() -> None:
    svg = space_to_svg(everything(), title="model & more")
    texts = _texts(svg)
    for said in (
        "model & more",
        "gamma: real 1e-3..1 log",
        "degree = 1",
        "poly.coef0: real 0..1",
        "one of 2, or nothing",
        "0 to 2 times",
        "side by side, columns joined, or nothing",
        "learn",
        "require kpca.n_components <= 10 if learn is svc",
    ):
        assert said in texts
    assert re.findall(r'<tspan class="fixed">(\w+)', svg) == ["l2_regularization", "degree", "mtry", "balance"]


def test_the_picture_stands_on_its_own_in_light_and_dark() -> None:
    svg = space_to_svg(psms())
    assert not re.search(r"<script|href=|url\(|@import", svg)
    styles = re.search(r"<style>(.*)</style>", svg)
    assert styles is not None
    light, _, dark = styles[1].partition("@media (prefers-color-scheme:dark)")
    coloured = re.findall(r"\.(\w+)\{[^}]*#", light)
    assert coloured
    for name in coloured:  # whatever has a colour by day has one by night
        assert re.search(rf"\.{name}\{{[^}}]*#", dark)


def test_colours_can_be_read() -> None:
    """Every text against what it stands on, in light and dark: the contrast that WCAG asks for."""
    svg = space_to_svg(everything())
    light, _, dark = svg.partition("@media (prefers-color-scheme:dark)")
    for sheet in (light, dark):
        fills = dict(re.findall(r"\.(\w+)\{[^}]*?fill:(#[0-9a-f]{6})", sheet))
        pairs = [("title", "box"), ("name", "box"), ("domain", "box"), ("fixed", "box")]
        pairs += [("title", "ground"), ("part", "ground"), ("label", "ground"), ("name", "ground")]
        for text, dataset in pairs:
            assert _contrast(fills[text], fills[dataset]) >= 4.5, (text, dataset)


def _contrast(one: str, other: str) -> float:
    lights = sorted(map(_luminance, (one, other)))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_odd_names_are_safe_in_xml() -> None:
    odd = use("a", **{'x"<&>': Const("<script>"), "y": Const("\x00\u202e")})
    texts = _texts(space_to_svg(Space(odd), title="a < b\x00"))
    assert "a < b�" in texts
    assert '"x\\"<&>" = "<script>"' in texts
    assert 'y = "\\u{0}\\u{202e}"' in texts


# --- the tree -----------------------------------------------------------------------------------------------------


def test_a_tree() -> None:
    learn = choice(
        use(block("svc", "learner"), kernel=choice(Symbol("rbf", (Param("gamma", IntRange(1, 9)),)), Const("linear"))),
        use(block("nb", "learner")),
        use(block("zarbi", "learner")),
    )
    root = seq(
        Subset((use("center"), use("scale", robust=Const(True)))),
        optional(choice(use("pca", n=IntRange(1, 9)), use("ica", n=IntRange(1, 9)))),
        Permute((use("x"), optional(use("y")))),
        Marked("spec.msl:learn", learn),
        Repeat(0, 2, Union((use("u"), seq(use("v"), use("w"))))),
    )
    assert space_to_tree(Space(root), title="chain m") == (
        "chain m\n"
        "├─ any of these, in this order\n"
        "│  ├─ center\n"
        "│  └─ scale\n"
        "│        robust = true\n"
        "├─ pca | ica, or nothing\n"
        "│     n: int 1..9\n"
        "├─ all of these, in any order\n"
        "│  ├─ x\n"
        "│  └─ y, or nothing\n"
        "├─ learn: one of 3\n"
        "│  ├─ svc\n"
        "│  │     kernel: rbf | linear, rbf.gamma: int 1..9\n"
        "│  └─ nb | zarbi\n"
        "└─ 0 to 2 times\n"
        "   └─ side by side, columns joined\n"
        "      ├─ u\n"
        "      └─ in sequence\n"
        "         ├─ v\n"
        "         └─ w\n"
    )


@SLOW
@given(spaces)
def test_a_tree_without_special_signs(space: Space) -> None:
    plain, fancy = space_to_tree(space, ascii_only=True), space_to_tree(space)
    assert plain.isascii()
    assert len(plain.splitlines()) == len(fancy.splitlines())


@pytest.mark.parametrize("width", [50, 80])
def test_lines_stay_within_the_terminal(width: int) -> None:
    many = use("svc", **{f"parameter_{i}": numbers(1, 2, 3) for i in range(9)})
    tree = space_to_tree(Space(seq(choice(*(use(f"b{i}") for i in range(40)), many), many)), width=width)
    assert max(map(len, tree.splitlines())) <= width


def test_conditions_are_shown() -> None:
    only_for_two = Comparison("==", Sibling("layers"), Literal(2))
    node = BlockUse(block("net"), (Param("layers", IntRange(1, 2)), Param("units", Bool(), condition=only_for_two)))
    assert "units: bool if layers == 2" in space_to_tree(Space(node))


# --- what would never end -----------------------------------------------------------------------------------------


def test_long_lists_say_how_much_is_left_out() -> None:
    alternatives = choice(*(use(f"b{i}", k=IntRange(0, i + 1)) for i in range(40)))
    settings_of_one = use("long", **{f"p{i}": Const(i) for i in range(25)})
    for shown in (space_to_tree(Space(seq(alternatives, settings_of_one))), space_to_svg(_crowded())):
        assert re.search(r"\+ \d+ more", shown)
    tree = space_to_tree(Space(seq(alternatives, settings_of_one)))
    assert sum(f"b{i}\n" in tree for i in range(40)) + int(re.findall(r"\+ (\d+) more", tree)[0]) == 40
    assert len(re.findall(r"p\d+ =", tree)) + int(re.findall(r"\+ (\d+) more", tree)[1]) == 25


def _doubled(times: int) -> Node:
    node: Node = use("a")
    for _ in range(times):
        node = Sequence((Choice((node, use("b"))), node))
    return node


def _nested(levels: int) -> Node:
    node: Node = use("a")
    for _ in range(levels):
        node = Choice((use("b", k=Bool()), Sequence((use("c"), node))))
    return node


@pytest.mark.parametrize("node", [_doubled(40), _nested(400)], ids=["doubled", "nested"])
def test_spaces_without_end_make_small_pictures(node: Node) -> None:
    assert len(space_to_svg(Space(node))) < 500_000
    assert "…" in space_to_tree(Space(node))


def test_a_space_of_nothing() -> None:
    assert space_to_tree(Space(Empty())) == "model\n└─ none\n"
    _check_layout(space_to_svg(Space(Empty())))
    _check_layout(space_to_svg(Space(Subset(()))))
