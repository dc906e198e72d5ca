"""Layout: how many dimensions, which slot means what, what belongs together."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from example_spaces import choice, numbers, psms, seq, use

from msl.check.check_spec import check_source
from msl.diagnostics.source import Source
from msl.encode.codec import space_to_codec, space_to_layout
from msl.encode.layout import Layout
from msl.space.formulas import Facts, Formula
from msl.space.nodes import (
    Arrange,
    Bool,
    Choice,
    Const,
    Empty,
    IntRange,
    Listing,
    Marked,
    Node,
    Param,
    Permute,
    RealRange,
    Regions,
    Repeat,
    Subset,
    Symbol,
    Union,
    Vector,
)
from msl.space.spec import Space
from msl.space.values import BlockValue

SPECS = Path(__file__).parents[2] / "specs"
TABLE = Facts(n_samples=200, n_features=30, n_classes=2, task="classification")
A, B, C = use("a"), use("b"), use("c")
WIDE = use("wide", n=IntRange(1, 5), r=RealRange(0, 1), b=Bool())
THIN = use("thin", n=IntRange(1, 5))
RBF = Symbol("rbf", (Param("gamma", RealRange(0, 1)),))


def _spec(name: str, facts: Facts | None = None) -> Space:
    path = SPECS / name
    spec = check_source(Source(path.name, path.read_text(encoding="utf-8"), str(path)), facts).spec
    assert spec is not None
    return spec.space


# --- the papers -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("facts", [None, TABLE])
def test_the_particle_swarm_spec_has_16_dimensions(facts: Facts | None) -> None:
    space = _spec("psms_paper.msl", facts)
    assert space_to_layout(space).n_dimensions == 16
    assert space_to_layout(space, "separate").n_dimensions == 62


def test_the_slots_of_the_particle_swarm_paper() -> None:
    layout = space_to_layout(psms())
    kinds = [dimension.kind for dimension in layout.dimensions]
    assert kinds[:7] == ["order", "subset", "bool", "bool", "bool", "choice", "int"]
    assert [layout.dimensions[slot].levels for slot in (0, 1, 5, 10)] == [2, 8, 13, 10]
    assert [group.dimensions for group in layout.groups] == [
        (0,),
        (1, 2, 3, 4),
        (5, 6, 7, 8, 9),
        (10, 11, 12, 13, 14, 15),
    ]
    assert [group.label for group in layout.groups[1:]] == ["preprocess", "select", "learn"]


@pytest.mark.parametrize(("name", "subset", "select"), [("psms.msl", 6, 1), ("psms_paper.msl", 1, 5)])
def test_values_are_numbered_as_in_the_particle_swarm_paper(name: str, subset: int, select: int) -> None:
    """Neighbouring values are what a small step leads to: no selection is the lowest, a subset is a binary number."""
    codec = space_to_codec(_spec(name, TABLE))
    methods = ("normalize", "standardize", "shift_scale")
    vector = np.full(16, 0.5)
    for number in range(8):
        vector[subset], vector[select] = (number + 0.5) / 8, 0.01
        steps = [step.block.name for step in codec.model(vector).steps if isinstance(step, BlockValue)]
        assert steps[:-2] == [method for method, bit in zip(methods, f"{number:03b}", strict=True) if bit == "1"]


def test_the_order_is_numbered_as_in_the_program_of_the_particle_swarm_paper() -> None:
    codec = space_to_codec(_spec("psms.msl", TABLE))
    vector = np.full(16, 0.5)  # standardize and normalize, and a selection
    for place, first_is_selection in ((0.1, True), (0.9, False)):
        vector[0] = place
        first = next(step.block.name for step in codec.model(vector).steps if isinstance(step, BlockValue))
        assert (first not in ("normalize", "standardize", "shift_scale")) is first_is_selection


@pytest.mark.parametrize(("name", "dimensions"), [("kms.msl", 9), ("mopso.msl", 30), ("rbf.msl", 1 + 15 * 31)])
def test_other_specs(name: str, dimensions: int) -> None:
    facts = Facts(200, 30, 0, "regression") if name == "rbf.msl" else TABLE
    assert space_to_codec(_spec(name, facts)).n_dimensions == dimensions


# --- what takes slots -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("root", "shared", "separate"),
    [
        (A, 0, 0),
        (use("a", n=Const(1), m=Const("x")), 0, 0),
        (choice(A), 0, 0),
        (choice(A, B), 1, 1),
        (choice(choice(A, B), Empty()), 1, 1),
        (choice(Marked("x:p", choice(A, B)), Empty()), 1, 1),
        (choice(WIDE, THIN), 4, 5),
        (choice(WIDE, choice(THIN, Empty())), 4, 5),
        (Subset((WIDE, THIN)), 5, 5),
        (Permute((WIDE, THIN)), 5, 5),
        (Permute((WIDE, Empty())), 3, 3),
        (Arrange(1, 2, (WIDE, THIN)), 5, 5),
        (Repeat(0, 3, THIN), 4, 4),
        (Repeat(2, 2, THIN), 2, 2),
        (Union((WIDE, choice(THIN, Empty()))), 5, 5),
        (use("a", k=numbers(1, 5, 11)), 1, 1),
        (use("a", k=choice(Const(None), IntRange(2, 12))), 2, 2),
        (
            use("a", k=choice(Symbol("rbf", (Param("g", RealRange(0, 1)),)), Symbol("poly", (Param("d", Bool()),)))),
            2,
            3,
        ),
        (use("a", d=choice(WIDE, THIN)), 4, 5),
        (use("a", m=Vector(7, Bool())), 7, 7),
        (use("a", m=Vector(7, Const(1))), 0, 0),
        (use("a", c=Regions(3, 4)), 15, 15),
        (use("a", x=Listing((IntRange(1, 2), Const(1), RealRange(0, 1)))), 2, 2),
        (seq(WIDE, A, THIN), 4, 4),
        (Marked("x:p", WIDE), 3, 3),
    ],
)
def test_dimensions(root: Node, shared: int, separate: int) -> None:
    assert space_to_layout(Space(root)).n_dimensions == shared
    assert space_to_layout(Space(root), "separate").n_dimensions == separate


@pytest.mark.parametrize("encoding", ["shared", "separate"])
def test_every_dimension_has_a_meaning(encoding: str) -> None:
    for root in (choice(WIDE, THIN), Repeat(0, 2, choice(WIDE, THIN)), use("a", c=Regions(2, 3), m=Vector(4, Bool()))):
        layout = space_to_layout(Space(root), encoding)
        assert [dimension.index for dimension in layout.dimensions] == list(range(layout.n_dimensions or 0))
        assert sorted(slot for group in layout.groups for slot in group.dimensions) == list(
            range(layout.n_dimensions or 0)
        )


def _rows(layout: Layout) -> list[tuple[int | None, str, str, str, str]]:
    return [(m.slot, m.alternative, m.path, m.range, m.scale) for m in layout.meanings]


def test_the_table_of_a_choice() -> None:
    learn = Marked("spec.msl:learn", choice(WIDE, use("svc", c=RealRange(1e-3, 10, log=True))))
    assert _rows(space_to_layout(Space(learn))) == [
        (0, "", "learn", "wide | svc", ""),
        (1, "wide", "learn.wide.n", "int 1..5", "linear"),
        (1, "svc", "learn.svc.c", "real 1e-3..10 log", "log"),
        (2, "wide", "learn.wide.r", "real 0..1", "linear"),
        (3, "wide", "learn.wide.b", "bool", ""),
    ]


def test_an_optional_part_is_called_by_its_name() -> None:
    layout = space_to_layout(Space(seq(choice(Marked("x:select", choice(WIDE, THIN)), Empty()), use("svc"))))
    assert [group.label for group in layout.groups] == ["select"]
    assert [(m.slot, m.path) for m in layout.meanings][:2] == [(0, "select"), (1, "select.wide.n")]
    assert layout.dimensions_of("select") == (0, 1, 2, 3)


def test_choices_share_slots_and_parameters_of_one_alternative_do_not() -> None:
    layout = space_to_layout(Space(choice(WIDE, THIN)))
    slots = [m.slot for m in layout.meanings if m.alternative == "wide"]
    assert slots == [1, 2, 3]
    assert layout.dimensions[1].levels == 5
    assert [dimension.kind for dimension in layout.dimensions] == ["choice", "int", "real", "bool"]
    mixed = space_to_layout(Space(choice(use("x", n=IntRange(1, 9)), use("y", r=RealRange(0, 1)))))
    assert (mixed.dimensions[1].kind, mixed.dimensions[1].levels) == ("mixed", None)


def test_without_a_table() -> None:
    features = Formula("n_features")
    known = space_to_layout(Space(use("pca", n=IntRange(1, Formula("min", (50, features))))))
    assert known.n_dimensions == 1
    assert _rows(known) == [(0, "", "pca.n", "int 1..min(50, n_features)", "linear")]
    assert known.meanings[0].levels is None
    open_ = space_to_layout(Space(use("sbm", k=IntRange(1, 9), weights=Vector(features, Bool()), p=Bool())))
    assert open_.n_dimensions is None
    assert [(m.slot, m.width, m.path) for m in open_.meanings] == [
        (0, 1, "sbm.k"),
        (1, None, "sbm.weights"),
        (None, 1, "sbm.p"),
    ]
    assert space_to_layout(Space(use("rbf", c=Regions(4, features)))).n_dimensions is None


def test_names_find_dimensions() -> None:
    kernel = choice(RBF, Const("linear"))
    select = Marked("x:select", choice(use("pca", n=IntRange(1, 5)), use("kpca", kernel=kernel)))
    layout = space_to_layout(Space(seq(select, use("knn", k=IntRange(1, 5), distance=choice(A, THIN)))))
    assert layout.dimensions_of("select") == (0, 1, 2)
    assert layout.dimensions_of("pca.n") == (1,)
    assert layout.dimensions_of("select.pca.n") == (1,)
    assert (
        layout.dimensions_of("kpca.gamma")
        == layout.dimensions_of("gamma")
        == layout.dimensions_of("kpca.kernel.rbf.gamma")
        == (2,)
    )
    assert layout.dimensions_of("kernel") == (1, 2)
    assert layout.dimensions_of("knn.distance") == (4, 5)
    assert layout.dimensions_of("thin.n") == (5,)
    assert layout.dimensions_of("nothing") == ()


def test_groups_are_the_steps_of_the_chain() -> None:
    chain = seq(
        choice(WIDE, Empty()), Repeat(0, 2, THIN), Union((THIN, choice(A, B))), use("svc", c=RealRange(0, 1)), C
    )
    layout = space_to_layout(Space(chain))
    assert [(group.label, group.dimensions) for group in layout.groups] == [
        ("wide?", (0, 1, 2, 3)),
        ("count of thin", (4,)),
        ("thin", (5,)),
        ("thin", (6,)),
        ("thin", (7,)),
        ("a | b", (8,)),
        ("svc", (9,)),
    ]


def test_a_label_has_at_most_48_characters() -> None:
    def label(length: int) -> str:
        name = "a" * (length - len(" | b"))
        return space_to_layout(Space(choice(use(name), B))).groups[0].label

    assert label(48) == "a" * 44 + " | b"
    assert label(49) == "a" * 45 + " |…"


def test_repetitions_are_told_apart() -> None:
    layout = space_to_layout(Space(Repeat(1, 2, choice(WIDE, THIN))))
    assert [(m.slot, m.alternative) for m in layout.meanings if m.path == "thin.n"] == [
        (2, "thin, time 1"),
        (6, "thin, time 2"),
    ]


def test_units_of_regions_are_numbered() -> None:
    layout = space_to_layout(Space(use("rbf", centers=Regions(2, 3))))
    assert [(m.slot, m.width, m.kind, m.unit, m.path) for m in layout.meanings] == [
        (0, 1, "unit", 0, "rbf.centers[1]"),
        (1, 3, "place", 0, "rbf.centers[1]"),
        (4, 1, "unit", 1, "rbf.centers[2]"),
        (5, 3, "place", 1, "rbf.centers[2]"),
    ]
    assert layout.dimensions_of("centers") == tuple(range(8))


def test_meanings_at_a_point() -> None:
    codec = space_to_codec(Space(choice(WIDE, THIN, Empty())))
    at_wide, at_thin, at_none = (codec.meanings([share, 0.5, 0.5, 0.5]) for share in (0.1, 0.5, 0.9))
    assert [m and m.path for m in at_wide] == ["(wide | thin)?", "wide.n", "wide.r", "wide.b"]
    assert [m and m.path for m in at_thin] == ["(wide | thin)?", "thin.n", None, None]
    assert [m is None for m in at_none] == [False, True, True, True]


def test_dimension_count_does_not_depend_on_how_a_part_is_written() -> None:
    nested: Node = Empty()
    for name in "abcdef":
        nested = Choice((nested, use(name, n=IntRange(1, 3))))
    flat = Choice((Empty(), *(use(name, n=IntRange(1, 3)) for name in "abcdef")))
    assert space_to_layout(Space(nested)).n_dimensions == space_to_layout(Space(flat)).n_dimensions == 2
    codec = space_to_codec(Space(nested))
    shares = (np.arange(7) + 0.5) / 7
    names = [m.steps[0].block.name if m.steps else "" for m in codec.decode(np.stack([shares, shares], axis=1))]  # type: ignore[union-attr]
    assert names == ["", *"abcdef"]
