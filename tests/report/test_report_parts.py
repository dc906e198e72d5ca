"""The parts that pages are made of: markup, code, scales, figures, thinning, colours."""

from __future__ import annotations

import itertools
import math
import re
from importlib import resources

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from page_reader import read_page

from msl.report.html.markup import Html, count, data_block, difference, duration, figure, percent, tag, text
from msl.report.html.model_view import chain_picture, coloured, steps_of
from msl.report.html.plot import Scale, thinned

numbers = st.floats(-1e9, 1e9, allow_nan=False)
texts = st.text(st.characters(codec="utf-8"), max_size=60) | st.sampled_from(
    ["<script>", "a & b", '"', "'", "</style>", "<!--", "&lt;", "\x00\x1b[31m", "\u202e", "]]>"]
)


# --- markup -------------------------------------------------------------------------------------------------------


@given(texts, texts)
def test_any_text_is_only_text(inside: str, attribute: str) -> None:
    (element,) = read_page(tag("p", inside, title=attribute)).children
    assert not isinstance(element, str)
    assert not element.all()
    assert list(element.attributes) == ["title"]
    if inside.isascii() and inside.isprintable():
        assert element.text == inside
    if attribute.isascii() and attribute.isprintable():
        assert element.attributes["title"] == attribute


@given(texts)
def test_data_for_the_script_stays_data(content: str) -> None:
    root = read_page(data_block({"points": [content]}, "hints"))
    assert [one.name for one in root.all()] == ["script"]


def test_markup_is_not_escaped_twice() -> None:
    assert tag("p", tag("b", "a < b"), [" & ", 3, None]) == "<p><b>a &lt; b</b> &amp; 3</p>"
    assert text(Html("<b>")) == "<b>"
    assert (
        tag("a", "x", class_="y", aria_label="z", hidden=True, title=None) == '<a class="y" aria-label="z" hidden>x</a>'
    )


@given(texts | st.text("abc \n\t=:()[]{}<>|&?.\"#'0123456789%_eE+-*/\\", max_size=80))
def test_coloured_code_says_what_was_written(source: str) -> None:
    shown = read_page(coloured(source)).text
    if all(letter in "\n\t" or (letter.isascii() and letter.isprintable()) for letter in source):
        assert shown == source
    else:
        assert "\u202e" not in shown


def test_code_is_coloured_by_what_it_means() -> None:
    source = 'part scale = pca(n: int 1..10, name = "x # y") | none  # it\n'
    source += "minimize ber by cv(folds = 5)\nbudget(time = 2min)"
    spans = [(one.attributes["class"], one.text) for one in read_page(coloured(source)).all("span")]
    for kind, word in [
        ("m-statement", "part"),
        ("m-call", "pca"),
        ("m-key", "n"),
        ("m-word", "int"),
        ("m-number", "1"),
        ("m-sign", ".."),
        ("m-string", '"x # y"'),
        ("m-word", "none"),
        ("m-comment", "# it"),
        ("m-statement", "minimize"),
        ("m-word", "by"),
        ("m-number", "2min"),
    ]:
        assert (kind, word) in spans
    assert ("m-comment", "# y") not in spans


# --- figures ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.035460992, "0.03546"),
        (1.0, "1"),
        (0.0, "0"),
        (-2.5, "−2.5"),
        (123456.7, "123,457"),
        (12.34567, "12.35"),
        (9.99999, "10"),
        (3.05e-5, "3.05e−5"),
        (1e12, "1e12"),
        (math.inf, "–"),
        (math.nan, "–"),
        (None, "–"),
    ],
)
def test_figures(value: float | None, said: str) -> None:
    assert figure(value) == said


@given(st.floats(1e-12, 1e15))
def test_a_figure_is_near_its_number(value: float) -> None:
    assert float(figure(value).replace(",", "").replace("−", "-")) == pytest.approx(value, rel=6e-3)


def test_words_for_numbers() -> None:
    assert [difference(0.5), difference(-0.5), difference(0.0)] == ["+0.5", "−0.5", "0"]
    assert [count(1, "batch", "batches"), count(2000, "batch", "batches")] == ["1 batch", "2,000 batches"]
    assert [percent(0.0), percent(0.034), percent(0.995), percent(1.0)] == ["0 %", "3.4 %", "100 %", "100 %"]
    assert [duration(s) for s in (0.0005, 0.034, 0.9999, 12.34, 99.96, 125, 7265)] == [
        "0.5 ms",
        "34 ms",
        "1 s",
        "12.3 s",
        "100 s",
        "2 min 5 s",
        "2 h 1 min",
    ]


# --- scales -------------------------------------------------------------------------------------------------------


@given(st.lists(numbers, min_size=1, max_size=20), st.booleans())
def test_an_even_scale_holds_its_values_between_round_ticks(values: list[float], zero: bool) -> None:
    spread = max(values) - min(values)
    assume(spread == 0 or spread > 1e-6 * max(map(abs, values)) > 1e-250)
    scale = Scale.of(values, zero=zero)
    places = [scale.place(value) for value in sorted(values)]
    assert places == sorted(places)
    assert all(0 <= place <= 1 for place in places)
    ticks = scale.ticks(6)
    assert 2 <= len(ticks) <= 8
    gaps = {round(b.place - a.place, 9) for a, b in itertools.pairwise(ticks)}
    assert len(gaps) <= 2  # even, but for rounding
    assert len({tick.label for tick in ticks}) == len(ticks)


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=20))
def test_a_scale_of_logarithms(values: list[float]) -> None:
    scale = Scale.of(values, log=True)
    places = [scale.place(value) for value in sorted(values)]
    assert places == sorted(places)
    assert all(0 < place < 1 for place in places)
    ticks = scale.ticks(6)
    assert 1 <= len(ticks) <= 6
    assert all(0 <= tick.place <= 1 for tick in ticks)


@given(st.integers(2, 10**7))
def test_labels_have_room_on_a_phone(last: int) -> None:
    ticks = Scale(1, last, say=lambda value: f"{value:,.0f}").ticks(7, whole=True, fitting=True)
    assert ticks
    width = 260
    edges = [(tick.place * width - 3.5 * len(tick.label), tick.place * width + 3.5 * len(tick.label)) for tick in ticks]
    assert all(before[1] < after[0] for before, after in itertools.pairwise(edges))
    assert all("." not in tick.label for tick in ticks)


# --- thinning -----------------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), max_size=300), st.integers(5, 100))
def test_thinning_keeps_order_and_what_matters(dots: list[tuple[float, float]], most: int) -> None:
    numbered = list(enumerate(dots))
    kept = thinned(numbered, lambda one: one[1], lambda one: one[0] % 50 == 7, most)
    assert [place for place, _ in kept] == sorted({place for place, _ in kept})
    assert {place for place, _ in numbered if place % 50 == 7} <= {place for place, _ in kept}
    assert len(kept) <= max(most, 1 + len(dots) // 50) + 1
    if len(dots) <= most:
        assert kept == numbered


def test_thinning_spares_the_lonely() -> None:
    """A crowd is thinned; a dot far from all others stays."""
    crowd = [(0.5 + 1e-6 * n, 0.5) for n in range(5000)]
    kept = thinned([*crowd, (0.1, 0.9)], lambda dot: dot, most=100)
    assert (0.1, 0.9) in kept
    assert len(kept) < 5
    wanted = crowd[2000]
    assert wanted in thinned(crowd, lambda dot: dot, wanted.__eq__, most=100)


# --- chains -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "steps"),
    [
        ("standardize(center = false) >> svc(kernel = rbf(gamma = 1.0)) >> bias", ("standardize", "svc", "bias")),
        ("(pca(n = 3) & (ica >> clop.normalize)) >> lda", ("pca", "ica", "normalize", "lda")),
        ("keep(features = [true, false]) >> knn", ("keep", "knn")),
        ("none", ()),
        ('rf(note = "a >> b(c")', ("rf",)),
        ('(on [age, "income (*"] (log(b = 1) >> pca) & on rest (none)) >> svc', ("log", "pca", "svc")),
        ("on numbers ((a & b)) >> svc", ("a", "b", "svc")),
    ],
)
def test_the_steps_of_a_model(model: str, steps: tuple[str, ...]) -> None:
    assert steps_of(model) == steps
    assert chain_picture(model, "m", {}) is not None


def test_what_is_no_chain_is_not_drawn() -> None:
    assert chain_picture("<script>", "m", {}) is None
    assert chain_picture("a >> ", "m", {}) is None


# --- colours ------------------------------------------------------------------------------------------------------


def _palettes() -> tuple[dict[str, str], dict[str, str]]:
    sheet = (resources.files("msl.report.html") / "page.css").read_text(encoding="utf-8")
    light, dark = re.findall(r":root \{(.*?)\}", sheet, re.DOTALL)[:2]
    read = [dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", part)) for part in (light, dark)]
    return read[0], read[1]


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_colours_can_be_told_from_the_ground(scheme: int) -> None:
    """WCAG AA: 4.5 for texts, 3 for what is drawn."""
    colours = _palettes()[scheme]
    texts_on = {
        "ground": ["ink", "soft", "accent", "statement", "word", "number", "string", "comment", "call"],
        "raised": ["ink", "soft", "accent", "statement", "word", "number", "string", "comment", "call"],
        "fine-ground": ["fine"],
        "warn-ground": ["warn"],
        "bad-ground": ["bad-ink"],
        "ink": ["ground"],
    }
    for ground, inks in texts_on.items():
        for ink in inks:
            assert _contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
    for shade in range(1, 11):
        ink = "heat-low" if shade <= 5 else "heat-high"
        assert _contrast(colours[ink], colours[f"h{shade}"]) >= 4.5, shade
    for drawn in [*(f"c{number}" for number in range(9)), "best", "bad"]:
        assert _contrast(colours[drawn], colours["ground"]) >= 3, drawn


def test_whatever_has_a_colour_by_day_has_one_by_night() -> None:
    light, dark = _palettes()
    assert light.keys() == dark.keys()


def _contrast(one: str, other: str) -> float:
    lights = sorted(map(_luminance, (one, other)))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
