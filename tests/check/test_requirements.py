"""Requirements: where they hold, what is reported for those that never or always do, and what they may name."""

from __future__ import annotations

import pytest

from specs import TABLE, checked, codes, errors, only_error, sound

CHAIN = "use clop\npart scale = standardize | normalize | none\nchain m = scale >> (svc | rf) >> bias?\n"

VERDICTS = [
    ("require svc or rf", "MSL229"),
    ("require svc if not rf", "MSL229"),
    ("require not (svc and rf)", "MSL229"),
    ("require svc.gamma < rf.units", "MSL229"),
    ("require scale is none | standardize | normalize", "MSL229"),
    ("require svc.gamma <= 100", "MSL229"),
    ("require svc and rf", "MSL125"),
    ("require not (svc or rf)", "MSL125"),
    ("require kridge", "MSL125"),
    ("require n_samples < 1", "MSL125"),
    ("require not kridge", "MSL230"),
    ("require not rf", "MSL231"),
    ("require svc.gamma > 1_000", "MSL231"),
    ("require svc.gamma is 500", "MSL231"),
    ("require svc.degree == 2.5", "MSL231"),
    ("require scale is none if scale is standardize", "MSL231"),
]


@pytest.mark.parametrize(("requirement", "code"), VERDICTS)
def test_what_is_certain_is_said(requirement: str, code: str) -> None:
    assert codes(CHAIN + requirement) == [code]


@pytest.mark.parametrize(
    "requirement",
    [
        "require svc",
        "require svc.gamma < 1",
        "require svc.gamma < 1 if scale is none",
        "require not (svc and n_samples > 20_000)",
        "require rf.units * rf.mtry <= 2_000",
        "require scale.standardize.center",
        "require scale",
        "require not bias if rf and not scale",
        "require rf.balance is true or scale is standardize",
    ],
)
def test_what_is_not_certain_is_not(requirement: str) -> None:
    assert codes(CHAIN + requirement) == []


def test_a_table_that_makes_a_requirement_idle_is_no_reason_to_warn() -> None:
    assert [d.code for d in checked(CHAIN + "require n_samples < 500", facts=TABLE).diagnostics] == []
    assert [d.code for d in checked(CHAIN + "require n_samples < 50", facts=TABLE).diagnostics] == ["MSL125"]


def test_a_block_that_a_requirement_leaves_out_for_a_table_is_noted() -> None:
    found = checked(CHAIN + "require not (svc and n_samples > 50)", facts=TABLE)
    assert [d.code for d in found.diagnostics] == ["MSL241"]
    assert found.spec is not None


def test_requirements_travel_through_the_files_between() -> None:
    files = {"a.msl": 'use "b.msl"\npart pa = pb\n', "b.msl": "use clop\npart pb = svc | rf\nrequire not rf\n"}
    spec = sound('use "a.msl"\nchain m = pa', files)
    assert [requirement.text for requirement in spec.space.requirements] == ["require not rf"]


def test_a_file_of_which_no_part_is_taken_brings_no_requirements() -> None:
    files = {"a.msl": "use clop\nblock mine = svc { degree = 2 }\npart other = rf\nrequire svc.gamma < 1\n"}
    spec = sound('use "a.msl", clop\nchain m = mine | svc', files)
    assert spec.space.requirements == ()


def test_a_block_inside_a_part_of_another_file_needs_no_use() -> None:
    files = {"lib.msl": "use clop\npart scale = standardize | none\npart learn = svc | rf\n"}
    sound('use "lib.msl"\nchain m = scale >> learn\nrequire scale is none if learn is svc', files)


def test_owners_in_the_chain_are_suggested_first() -> None:
    assert only_error("use clop\nchain m = svc | rf\nrequire gamma < 1").help == "write `svc.gamma`"


def test_one_requirement_that_leaves_nothing_is_named_alone() -> None:
    text = "use clop\nchain m = ftest(fmax: 2..10) >> ftest(fmax: 20..50) >> svc\nrequire ftest.fmax < 15"
    assert [d.code for d in errors(text)] == ["MSL125"]
