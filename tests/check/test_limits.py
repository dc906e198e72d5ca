"""Very large inputs: each is rejected quickly, with a message."""

from __future__ import annotations

import pytest

from msl.check.check_spec import check_source
from msl.diagnostics.source import Source
from specs import TABLE, checked, codes, sound

DEEP = 3000


@pytest.mark.parametrize(
    "space",
    [
        "(" * DEEP + "svc" + ")" * DEEP,
        "standardize(" * DEEP + ")" * DEEP,
        "[" * DEEP + "]" * DEEP,
        "(standardize >> " * DEEP + "svc" + ")" * DEEP,
        "svc(gamma: " + "-" * DEEP + "1)",
    ],
)
def test_deep_nesting_is_answered(space: str) -> None:
    result = checked(f"use clop\nchain m = {space}")
    assert all(
        d.code in ("MSL017", "MSL003", "MSL060", "MSL096", "MSL080", "MSL087", "MSL094") for d in result.diagnostics
    )


def test_deep_conditions_are_answered() -> None:
    assert codes("use clop\nchain m = svc\nrequire " + "not " * DEEP + "svc") == ["MSL017"]


def test_a_file_of_ten_megabytes_is_refused_at_once() -> None:
    assert codes("use clop\n" + "# padding\n" * 1_000_000) == ["MSL017"]


def test_a_list_of_a_million_elements_is_refused() -> None:
    text = "use sbm\nchain m = keep(features = [" + "true," * 1_000_000 + "]) >> knn"
    assert codes(text) == ["MSL017"]


def test_parts_that_double_forty_times_are_refused() -> None:
    parts = "\n".join(f"part p{i} = p{i - 1} >> p{i - 1}" for i in range(1, 41))
    assert "MSL017" in codes(f"use clop\npart p0 = standardize\n{parts}\nchain m = p40 >> svc")


@pytest.mark.parametrize(
    "space", ["ftest? >> {part}", "{part} | rf", "{part} >> {part}", "(ftest & ttest) >> ({part} | rf)"]
)
@pytest.mark.parametrize("order", ["up", "down"])
def test_parts_inside_parts_are_answered_however_deep(space: str, order: str) -> None:
    parts = ["part p0 = svc", *(f"part p{i} = {space.format(part=f'p{i - 1}')}" for i in range(1, DEEP))]
    text = "\n".join(["use clop", *(parts if order == "up" else reversed(parts)), f"chain m = p{DEEP - 1}"])
    assert set(codes(text)) == {"MSL017"}


def test_parts_nested_fifty_deep_are_fine() -> None:
    parts = "\n".join(f"part p{i} = ftest? >> p{i - 1}" for i in range(1, 50))
    sound(f"use clop\npart p0 = svc | rf\n{parts}\nchain m = p49")


def test_a_name_beyond_reason_is_shortened() -> None:
    result = checked(f"use clop\nchain m = {'x' * 100_000}")
    assert [len(d.message) < 300 for d in result.diagnostics] == [True]


def test_alternatives_cost_what_they_count() -> None:
    """Each alternative was once compared with each, which a thousand of them showed."""
    names = " | ".join(f"a{i}(x: int 1..9 default 3)" for i in range(3000))
    root = sound(f'block b: learner "m:C" {{ kind: {names} }}\nchain m = b').space.root
    assert root is not None


def test_a_chain_of_a_thousand_choices_is_fine() -> None:
    steps = " >> ".join(["(ftest | ttest | aucfs | relief | rffs | svcrfe | pearson | zfilter | gs | s2n)"] * 1000)
    sound(f"use clop\nchain m = {steps} >> zarbi")


@pytest.mark.parametrize("number", ["1e999", "9" * 5000, "1" + "0" * 400])
def test_numbers_beyond_reason_are_answered(number: str) -> None:
    assert codes(f"use clop\nchain m = svc(gamma = {number})") == ["MSL010"]


def test_thousands_of_errors_are_all_listed_and_bounded_in_time() -> None:
    text = "use clop\n" + "\n".join(f"part p{i} = nothing_{i}" for i in range(2000))
    result = check_source(Source("s", text))
    assert sum(d.code == "MSL021" for d in result.diagnostics) == 2000


TREE = 'block tree: learner "sklearn.tree:DecisionTree*"'


@pytest.mark.parametrize(
    "domain",
    [
        "real 0..1 step 1e-300",
        "real 0..1 step 1e-17",
        "real 0..1 step 5e-324",
        "real 0..5e-324",
        "real 5e-324..1 log",
        "real -1e308..1e308",
        "real -1e308..1e308 step 1",
        "real 1..1e200 * 1e200",
        "int 0..9_223_372_036_854_775_808",
        "int -1_000_000_000_000_000_000..1",
        "int 1..1_000_000_000_000_000 log",
        "int 0..1_000_000_000_000_000_000_000 step 1_000_000_000_000_000_000_000",
        "none | real 0..1 step 1e-300",
        "vector(3) of real 0..1 step 1e-300",
        "[real 0..1 step 1e-300]",
        "a(x: real 0..1 step 1e-300) | b",
    ],
)
def test_ranges_beyond_what_can_be_searched_are_refused(domain: str) -> None:
    assert codes(f"{TREE} {{ p: {domain} }}\nchain m = tree") == ["MSL102"]


@pytest.mark.parametrize(
    "domain",
    [
        "vector(1_000_000_000) of bool",
        "vector(100_001) of bool",
        "regions(1_000_000_000)",
        "[" + "int 1..2, " * 1_001 + "]",
        " | ".join(f"a{i}" for i in range(20_001)),
    ],
    ids=["vector", "just too long", "regions", "list", "alternatives"],
)
def test_domains_beyond_what_can_be_printed_are_refused(domain: str) -> None:
    assert codes(f"{TREE} {{ p: {domain} }}\nchain m = tree") == ["MSL017"]


@pytest.mark.parametrize(
    "domain",
    [
        "vector(n_features * 1_000_000) of bool",
        "regions(n_samples * 1_000_000)",
        "int 1..n_samples" + "*n_samples" * 50,
    ],
)
def test_what_the_table_makes_too_large_is_told_with_the_table(domain: str) -> None:
    text = f"{TREE} {{ p: {domain} }}\nchain m = tree"
    assert codes(text) == []
    assert codes(text, facts=TABLE) == ["MSL102"]


@pytest.mark.parametrize("operator", [" * ", " + ", " - ", " / "])
@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("use clop\nchain m = rf\nrequire @ < 1", "rf.units"),
        ("use clop\nchain m = rf\nrequire rf.units < @", "2"),
        ("use clop\nchain m = rf\nminimize @ by cv(folds = 2)", "ber"),
        (TREE + " { p: int 1..max(9, @) }\nchain m = tree", "n_samples"),
        (TREE + " { p: int 1..9, q: int 1..9 if @ > 1 }\nchain m = tree", "p"),
    ],
)
def test_computations_of_thousands_of_terms_are_refused(text: str, term: str, operator: str) -> None:
    assert codes(text.replace("@", operator.join([term] * 3_000))) == ["MSL017"]
    assert "MSL017" not in codes(text.replace("@", operator.join([term] * 150)), facts=TABLE)


def test_own_blocks_that_others_need_are_used() -> None:
    own = 'block mine: learner "mine:Learner" {}\n'
    assert codes(own + "chain m = any learner") == []
    outer = 'block outer: learner "mine:Outer" { inner: any learner }\n'
    assert codes(f"{own}{outer}chain m = outer") == []
    assert codes(own + "block other = mine {}\nchain m = other") == []
    assert codes(own + 'block outer: learner "mine:Outer" {}\nchain m = outer') == ["MSL226"]
