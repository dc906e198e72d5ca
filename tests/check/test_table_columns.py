"""`on`: its columns in a table, where it may stand, and what a spec with it is told before any fit."""

from __future__ import annotations

import pytest

from msl.check.check_spec import check_source
from msl.diagnostics.diagnostic import Diagnostic
from msl.diagnostics.source import Source
from msl.space.enumerate.count import Models
from msl.space.formulas import Facts

FACTS = Facts(
    n_samples=100,
    n_features=5,
    n_classes=2,
    task="classification",
    columns=("age", "city", "income_main", "income_side", "monthly charge"),
    symbolic=("city",),
)


def found(chain: str, facts: Facts | None = FACTS, more: str = "") -> list[Diagnostic]:
    uses = "sklearn, sbm" if "keep" in chain else "sklearn"
    source = Source("main.msl", f"use {uses}\n{more}\nchain m = {chain} >> logistic")
    return list(check_source(source, facts).diagnostics)


def codes(chain: str, facts: Facts | None = FACTS, more: str = "") -> list[str]:
    return [each.code for each in found(chain, facts, more)]


def test_a_spec_that_takes_every_column_gets_no_word() -> None:
    assert codes('(on [age, "income_*", "monthly charge"] (log1p?) & on symbols (one_hot))') == []
    assert codes("(on numbers (impute >> standard_scaler?) & on symbols (one_hot | target_encode))") == []
    assert codes("(on [age] (log1p) & on rest (one_hot))") == []


def test_a_misspelt_column_gets_a_suggestion_at_its_own_place() -> None:
    (told,) = found("(on [age, incme_main] (log1p) & on rest (one_hot))")
    assert (told.code, told.is_error) == ("MSL341", True)
    assert told.primary.source.slice(told.primary.span) == "incme_main"
    assert told.help == "did you mean `income_main`?"


def test_a_kind_in_a_list_is_the_name_of_a_column() -> None:
    (told,) = found("(on [numbers] (log1p) & on rest (one_hot))")
    assert told.code == "MSL341"
    assert told.help is not None
    assert "on numbers" in told.help


def test_names_are_not_checked_without_a_table() -> None:
    assert codes("(on [nowhere] (log1p) & on rest (one_hot))", None) == []


def test_a_pattern_that_fits_nothing_is_a_warning() -> None:
    (told,) = found('(on [age, "wage_*"] (log1p) & on rest (one_hot))')
    assert (told.code, told.is_error) == ("MSL342", False)
    assert told.primary.source.slice(told.primary.span) == '"wage_*"'


@pytest.mark.parametrize("kind", ["dates", "text"])
def test_a_kind_without_columns_is_a_note(kind: str) -> None:
    (told,) = found(f"(on {kind} (passthrough) & on rest (one_hot))")
    assert (told.code, told.is_error) == ("MSL343", False)


def test_a_rest_without_columns_is_a_note() -> None:
    (told,) = found("(on numbers (impute) & on symbols (one_hot) & on rest (passthrough))")
    assert told.code == "MSL343"
    assert "rest" in told.message


def test_columns_that_nobody_takes_are_listed() -> None:
    (told,) = found("(on [age] (log1p) & on symbols (one_hot))")
    assert told.code == "MSL345"
    assert all(name in told.message for name in ("income_main", "income_side", "monthly charge"))
    assert "age" not in told.message.replace("charge", "")


def test_a_branch_without_on_takes_every_column() -> None:
    assert codes("(on [age] (log1p) & pca)") == []


def test_a_chain_in_which_nothing_is_selected_is_an_error() -> None:
    told = found('on ["wage_*"] (log1p)')
    assert [(each.code, each.is_error) for each in told] == [("MSL344", True), ("MSL342", False)]


@pytest.mark.parametrize("before", ["passthrough", "columns(kind = numeric)", "keep", "on numbers (none)"])
def test_on_may_follow_what_keeps_the_columns_of_the_table(before: str) -> None:
    assert "MSL340" not in codes(f"{before} >> (on [age] (log1p) & on rest (passthrough))")


@pytest.mark.parametrize("before", ["standard_scaler", "impute", "pca?", "(pca & passthrough)", "(keep | kbins)"])
def test_on_may_not_follow_what_may_change_the_columns(before: str) -> None:
    assert "MSL340" in codes(f"{before} >> on [age] (log1p)")


def test_on_in_a_part_is_checked_where_the_part_is_used() -> None:
    part = "part dear = on [age] (log1p)"
    assert codes("(dear & on rest (one_hot))", more=part) == []
    assert codes("standard_scaler >> dear", more=part) == ["MSL340"]


def test_branches_inside_on_share_its_columns() -> None:
    assert codes("(on numbers (on [age] (log1p) & on rest (impute)) & on symbols (one_hot))") == []


def test_rest_is_counted_once_for_each_join() -> None:
    assert codes("((on [age] (log1p) | on rest (impute)) & (on rest (one_hot) | on symbols (one_hot)))") == ["MSL199"]
    assert codes("((on [age] (log1p) & on rest (one_hot)) | (on numbers (impute) & on rest (one_hot)))") == []


def test_on_is_an_ordinary_name_elsewhere() -> None:
    text = 'use sklearn\nblock on: transformer "pkg:On" { on: int 1..3 }\nchain m = on(on = 2) >> on >> logistic'
    assert not [each.code for each in check_source(Source("main.msl", text)).diagnostics if each.is_error]


def test_a_requirement_reaches_steps_inside_on() -> None:
    text = "use sklearn\nchain m = (on numbers (max_abs?) & on symbols (passthrough)) >> logistic(rest = default)"
    one, two = (check_source(Source("main.msl", each)) for each in (text, f"{text}\nrequire max_abs"))
    assert one.spec is not None
    assert two.spec is not None
    assert (Models(one.spec.space).number, Models(two.spec.space).number) == (2, 1)
