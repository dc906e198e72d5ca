"""Uses of blocks: what narrows, what closes, and what the nodes of a sound spec are."""

from __future__ import annotations

import gc

import pytest

from msl.check.check_spec import check_source
from msl.check.read_models import text_to_model
from msl.diagnostics.source import Source
from msl.space.formulas import Formula
from msl.space.nodes import BlockUse, Choice, Const, IntRange, Node, RealRange, bottom_up
from specs import TABLE, checked, codes, only_error, sound, underlined

TREE = 'block tree: learner "sklearn.tree:DecisionTree*"'


def param(root: Node, name: str) -> Node:
    """A parameter of the only block that has it."""
    (found,) = [p.node for use in bottom_up(root) if isinstance(use, BlockUse) for p in use.params if p.name == name]
    return found


def test_a_parameter_is_closed_at_its_default() -> None:
    root = sound("use clop\nchain m = svc(gamma = default, rest = default)").space.root
    assert param(root, "gamma") == Const(1e-4)


def test_a_range_without_a_kind_keeps_kind_scale_and_step() -> None:
    text = (
        f"{TREE} {{ depth: int 1..15 step 2, alpha: real 1e-3..1 log }}\nchain m = tree(depth: 3..9, alpha: 0.01..0.1)"
    )
    root = sound(text).space.root
    assert param(root, "depth") == IntRange(3, 9, step=2)
    assert param(root, "alpha") == RealRange(0.01, 0.1, log=True)


@pytest.mark.parametrize(
    "use", ["depth: 2..8", "depth: int 3..9", "depth: 1..9 step 3", "depth: 1..9 log", "depth = 4"]
)
def test_a_use_stays_on_the_steps_of_the_declaration(use: str) -> None:
    assert only_error(f"{TREE} {{ depth: int 1..15 step 2 }}\nchain m = tree({use})").code == "MSL091"


@pytest.mark.parametrize("use", ["share: 0.05..0.95", "share: real 0..1", "share: 0..1 step 0.25", "share = 1/3"])
def test_the_same_for_reals(use: str) -> None:
    assert only_error(f"{TREE} {{ share: real 0..1 step 0.1 }}\nchain m = tree({use})").code == "MSL091"


def test_steps_of_a_tenth_are_met_in_spite_of_binary_fractions() -> None:
    values = " | ".join(f"tree(share = 0.{digit})" for digit in range(1, 10))
    sound(f"{TREE} {{ share: real 0..1 step 0.1 }}\nchain m = {values}")


def test_a_bound_below_a_log_range_is_outside_it() -> None:
    error = only_error(f"{TREE} {{ leaf: int 1..100 log }}\nchain m = tree(leaf: 0..10)")
    assert (error.code, underlined(error)) == ("MSL091", "0")


def test_a_formula_for_a_whole_number_is_rounded_down() -> None:
    root = sound("use clop\nchain m = ftest(fmax = n_features / 3, rest = default) >> svc", facts=TABLE).space.root
    assert param(root, "fmax") == Const(2)
    unresolved = sound("use clop\nchain m = ftest(fmax = n_features / 3, rest = default) >> svc").space.root
    assert param(unresolved, "fmax") == Const(Formula("floor", (Formula("/", (Formula("n_features"), 3)),)))


def test_alternatives_in_parentheses_are_the_same_alternatives() -> None:
    root = sound(f"{TREE} {{ depth: (1 | 2) | 3 }}\nchain m = tree(depth: (1 | 3) | 2)").space.root
    assert param(root, "depth") == Choice((Const(1), Const(2), Const(3)))


def test_a_qualified_alternative_is_that_of_its_catalogue() -> None:
    own = 'use sbm, clop\nblock tree: learner "m:T" { metric: any distance }\n'
    sound(own + "chain m = tree(metric: sbm.euclidean | angle) | svc")
    assert only_error(own + "chain m = tree(metric = clop.euclidean) | svc").code == "MSL021"


def test_quoted_names_are_named_in_paths_and_conditions() -> None:
    text = """block rfe: selector "sklearn.feature_selection:RFE" {
  "step": int 1..3,
  rounds: int 1..9 if "step" > 1,
}
use clop
chain m = rfe >> svc
require rfe."step" < 3
"""
    assert codes(text) == []
    assert "MSL008" in codes(text.replace('rfe."step"', "rfe.step"))


def test_two_qualifiers_of_one_catalogue_name_the_same_blocks() -> None:
    assert "MSL022" not in codes("use clop as one, clop 1 as two\nchain m = svc")


def test_parameters_of_alternatives_may_share_names_within_one_parameter() -> None:
    text = "{ kernel: rbf(gamma: real 0..1) | sigmoid(gamma: real 0..1) | linear }\nchain m = tree"
    assert codes(f"{TREE} {text}") == []


def test_a_model_leaves_out_what_its_conditions_leave_out() -> None:
    spec = Source("spec.msl", f"{TREE} {{ depth: int 1..3, leaf: int 1..5 if depth == 2 }}\nchain m = tree")
    model, problems = text_to_model("tree(depth = 1)", spec)
    assert model is not None, problems
    (step,) = model.steps
    assert step.params == (("depth", 1),)  # type: ignore[union-attr]
    assert text_to_model("tree(depth = 2)", spec)[0] is None


def test_a_model_is_one_expression() -> None:
    model, problems = text_to_model("svc\nchain other = rf", Source("spec.msl", "use clop\nchain m = svc"))
    assert model is None
    assert [problem.code for problem in problems] == ["MSL067"]


@pytest.mark.slow
def test_many_alternatives_are_read_in_their_order() -> None:
    numbers = " | ".join(map(str, reversed(range(20_000))))
    root = sound(f"{TREE} {{ depth: {numbers} }}\nchain m = tree").space.root
    node = param(root, "depth")
    assert isinstance(node, Choice)
    assert [option.value for option in node.options] == list(range(20_000))  # type: ignore[union-attr]


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_as_before_after_a_check(enabled: bool) -> None:
    was_enabled = gc.isenabled()
    try:
        gc.enable() if enabled else gc.disable()
        check_source(Source("a.msl", "use clop\nchain m = svc"))
        assert gc.isenabled() is enabled
    finally:
        gc.enable() if was_enabled else gc.disable()


def test_the_note_on_what_a_use_opens_names_them() -> None:
    (note,) = checked("use clop\nchain m = svc(gamma: 0.1..1)").diagnostics
    assert note.code == "MSL240"
    assert "`coef0`, `degree`, `shrinkage`" in note.message
