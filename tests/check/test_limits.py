"""Sizes that would stop a careless tool: each is answered, quickly, in words."""

from __future__ import annotations

import pytest

from msl.check.spec import check_source
from msl.text.source import Source
from specs import checked, codes, sound

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
