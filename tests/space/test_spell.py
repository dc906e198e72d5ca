"""Spelling: what is written reads back as the same model, and domains look as a person would write them."""

from __future__ import annotations

import math
from pathlib import Path
from random import Random

import pytest
from example_spaces import block, choice, everything, kms, network, numbers, optional, psms, seq, similarity, texts, use
from generators import spaces as generated
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from msl.check.check_spec import check_source
from msl.check.read_models import text_to_model
from msl.diagnostics.source import Source
from msl.language import ast, tokens
from msl.language.parser import text_to_ast
from msl.space.canonical.digest import model_digest
from msl.space.condition_text import condition_to_text, requirement_to_text
from msl.space.conditions import (
    AllOf,
    AnyOf,
    Comparison,
    Computed,
    FactTerm,
    IsTrue,
    Literal,
    Negation,
    Parameter,
    PartIs,
    Present,
    Requirement,
    ValueIs,
)
from msl.space.enumerate.count import Models
from msl.space.formulas import Facts, Formula
from msl.space.names_to_text import RESERVED, is_identifier, number_to_text
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
    Permute,
    RealRange,
    Regions,
    Repeat,
    Sequence,
    Subset,
    Symbol,
    Union,
    Vector,
)
from msl.space.spec import Space
from msl.space.to_text import model_to_file_text, model_to_text, node_to_text, value_to_text
from msl.space.values import BlockValue, Branches, Model, Step, SymbolValue, Value

# --- reading back: text to AST to the same plain data, without the checker ----------------------------------------


def parsed(text: str) -> ast.File:
    file, problems = text_to_ast(Source("t.msl", text))
    assert problems == []
    return file


def read_chain(text: str) -> object:
    (chain,) = [statement for statement in parsed(text).statements if isinstance(statement, ast.Chain)]
    return _read(chain.space)


def _read(expression: ast.Expression) -> object:
    match expression:
        case ast.Number(value=value) | ast.String(value=value) | ast.Boolean(value=value):
            return (type(value).__name__, value if value == value else None)
        case ast.Nothing():
            return "none"
        case ast.Path():
            return ("str", expression.text)
        case ast.Call():
            return (expression.path.text, {a.key.text: _read(a.value) for a in expression.arguments if a.key})
        case ast.ListOf(items=items):
            return ["list", *map(_read, items)]
        case ast.Sequence(items=items):
            return [">>", *map(_read, items)]
        case ast.Union(items=items):
            return ["&", *map(_read, items)]
    raise AssertionError(expression)


def plain_model(model: Model) -> object:
    return _plain_row(model.steps)


def _plain_row(steps: tuple[Step, ...]) -> object:
    plain = [_plain_step(step) for step in steps]
    return "none" if not plain else plain[0] if len(plain) == 1 else [">>", *plain]


def _plain_step(step: Step) -> object:
    if isinstance(step, Branches):
        return ["&", *(_plain_row(branch) for branch in step.branches)]
    return _plain_value(step)


def _plain_value(value: Value) -> object:
    match value:
        case None:
            return "none"
        case SymbolValue(params=params) | BlockValue(params=params):
            name = value.name if isinstance(value, SymbolValue) else value.block.name
            return (name, {key: _plain_value(v) for key, v in params}) if params else ("str", name)
        case tuple():
            return ["list", *map(_plain_value, value)]
    return (type(value).__name__, value)


_names = st.sampled_from(["k", "gamma", "step", "if", "two words", "log", 'say "x"', "ünï", "", "1st", "none"])
_identifiers = st.sampled_from(["rbf", "linear", "poly_2", "_x"])
_scalars: st.SearchStrategy[Value] = st.one_of(
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.text(max_size=6).filter(lambda text: text.isprintable() or max(text) < "\ud800"),
    st.none(),
)


def _settings(values: st.SearchStrategy[Value]) -> st.SearchStrategy[tuple[tuple[str, Value], ...]]:
    return st.dictionaries(_names, values, max_size=3).map(lambda found: tuple(found.items()))


_values: st.SearchStrategy[Value] = st.recursive(
    _scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(tuple),
        st.builds(SymbolValue, _identifiers, _settings(inner)),
        st.builds(BlockValue, st.sampled_from([block("euclidean", "distance"), block("fft")]), _settings(inner)),
    ),
    max_leaves=4,
)
_blocks = st.builds(BlockValue, st.sampled_from([block(name) for name in ("pca", "svc", "nb")]), _settings(_values))
_rows = st.lists(_blocks, min_size=1, max_size=2).map(tuple)
_steps = st.one_of(_blocks, st.builds(Branches, st.lists(_rows, min_size=2, max_size=3).map(tuple)))
models = st.builds(Model, st.lists(_steps, min_size=1, max_size=3).map(tuple))


@given(models)
def test_a_model_reads_back_as_itself(model: Model) -> None:
    assert read_chain(f"chain m = {model_to_text(model)}") == plain_model(model)
    assert read_chain(model_to_file_text(model)) == plain_model(model)


@given(models)
def test_order_of_parameters_does_not_show(model: Model) -> None:
    def turned(step: Step) -> Step:
        if isinstance(step, Branches):
            return Branches(tuple(tuple(map(turned, branch)) for branch in step.branches))
        return BlockValue(step.block, step.params[::-1])

    assert model_to_text(Model(tuple(map(turned, model.steps)))) == model_to_text(model)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_real_reads_back_exactly_and_as_a_real(number: float) -> None:
    text = number_to_text(number)
    value = read_chain(f"chain m = a(k = {text})")
    assert value == ("a", {"k": ("float", number)})
    assert math.copysign(1, value[1]["k"][1]) == math.copysign(1, number)  # type: ignore[index]
    assert len(text) <= len(repr(number))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "1"),
        (1.0, "1.0"),
        (100.0, "100.0"),
        (0.1, "0.1"),
        (0.01, "0.01"),
        (0.001, "1e-3"),
        (0.00025, "2.5e-4"),
        (-0.00025, "-2.5e-4"),
        (123456789.0, "123456789.0"),
        (100000.0, "1e5"),
        (1e22, "1e22"),
        (0.0, "0.0"),
        (True, "true"),
        (None, "none"),
        ((True, False), "[true, false]"),
        (((0.25, 0.5), None, ()), "[[0.25, 0.5], none, []]"),
        ("rbf", "rbf"),
        ("log", '"log"'),
        ("none", '"none"'),
        ("2x", '"2x"'),
        ('a "b"\n', '"a \\"b\\"\\n"'),
        (SymbolValue("rbf", (("gamma", 0.5),)), "rbf(gamma = 0.5)"),
        (SymbolValue("rbf", (("step", 2), ("if", 1))), 'rbf("if" = 1, "step" = 2)'),
    ],
)
def test_values(value: Value, text: str) -> None:
    assert value_to_text(value) == text


@pytest.mark.parametrize("number", [math.inf, -math.inf, math.nan])
def test_what_cannot_be_written_is_refused(number: float) -> None:
    with pytest.raises(ValueError, match="only finite numbers"):
        value_to_text(number)


def test_the_words_that_need_quotes_are_those_of_the_language() -> None:
    assert RESERVED == tokens.RESERVED
    for text in ("a", "é", "_", "9", "a b", "", "vector", "rest"):
        assert is_identifier(text) is tokens.is_identifier(text)


# --- models as files ----------------------------------------------------------------------------------------------


SVC, STANDARDIZE = block("svc", "learner"), block("standardize")


def test_a_file_stands_on_its_own() -> None:
    kernel = SymbolValue("rbf", (("gamma", 0.5),))
    steps = (
        BlockValue(STANDARDIZE, (("center", True),)),
        BlockValue(SVC, (("kernel", kernel), ("gamma", 0.1), ("coef0", 0))),
    )
    assert model_to_file_text(Model(steps)) == (
        "msl 1\nuse clop\n\n"
        "chain model = standardize(center = true) >> svc(coef0 = 0, gamma = 0.1, kernel = rbf(gamma = 0.5))\n"
    )
    longer = model_to_file_text(Model(steps * 2), name="winner")
    assert longer.startswith("msl 1\nuse clop\n\nchain winner =\n  standardize(center = true)\n  >> svc(")
    assert max(map(len, longer.splitlines())) < 100


def test_two_origins_of_one_name_are_told_apart() -> None:
    ours, theirs = block("svc", origin="clop 2"), block("svc", origin="team/my blocks.msl")
    model = Model((BlockValue(ours, ()), BlockValue(theirs, ()), BlockValue(STANDARDIZE, ())))
    text = model_to_file_text(model)
    assert text.splitlines()[1] == 'use clop, clop 2 as clop_2, "team/my blocks.msl" as my_blocks'
    assert text.splitlines()[-1] == "chain model = clop_2.svc >> my_blocks.svc >> standardize"
    parsed(text)


def test_names_that_other_files_declare_too_can_be_qualified() -> None:
    model = Model((BlockValue(SVC, (("d", BlockValue(block("gaussian", "basis", "rbf"), ())),)),))
    assert model_to_text(model) == "svc(d = gaussian)"
    assert model_to_text(model, ambiguous={"svc"}) == "clop.svc(d = gaussian)"
    assert model_to_file_text(model, ambiguous={"gaussian"}).splitlines()[1:] == [
        "use clop, rbf",
        "",
        "chain model = svc(d = rbf.gaussian)",
    ]


def test_an_empty_model_is_none() -> None:
    assert model_to_text(Model(())) == "none"
    assert read_chain(model_to_file_text(Model(()))) == "none"


SPECS = Path(__file__).parents[2] / "specs"


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["kms", "mopso", "psms", "rbf", "sbm"])
def test_models_of_the_papers_specs_read_back_as_themselves(spec: str) -> None:
    """Through the whole compiler: printed, read with the names of the spec, and read from a file of their own."""
    path = SPECS / f"{spec}.msl"
    source = Source(str(path), path.read_text(encoding="utf-8"), str(path))
    facts = Facts(200, 6, 0, "regression") if spec == "rbf" else Facts(200, 6, 3, "classification")
    checked = check_source(source, facts)
    assert checked.spec is not None
    models, rng = Models(checked.spec.space), Random(1)
    for _ in range(8):
        model = models.draw(rng)
        read, problems = text_to_model(model_to_text(model), source)
        assert problems == []
        assert read is not None
        assert model_digest(read) == model_digest(model)
        alone = check_source(Source("winner.msl", model_to_file_text(model)), facts)
        assert alone.spec is not None, alone.diagnostics
        (same,) = Models(alone.spec.space)
        assert model_digest(same) == model_digest(model)


# --- domains and spaces -------------------------------------------------------------------------------------------

a, b, c = use("a"), use("b"), use("c")
N = Formula("n_features")


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (IntRange(1, 10), "int 1..10"),
        (IntRange(1, 1000, log=True), "int 1..1000 log"),
        (IntRange(1, 15, step=2), "int 1..15 step 2"),
        (RealRange(1e-4, 100, log=True), "real 1e-4..100 log"),
        (RealRange(0.0, 1.0, step=0.1), "real 0..1 step 0.1"),
        (IntRange(2, Formula("min", (1000, N))), "int 2..min(1000, n_features)"),
        (IntRange(1, Formula("/", (Formula("-", (N, 1)), 2))), "int 1..(n_features - 1) / 2"),
        (IntRange(Formula("-", (Formula("+", (N, 1)),)), N), "int -(n_features + 1)..n_features"),
        (Bool(), "bool"),
        (numbers(4, 8, 16), "4 | 8 | 16"),
        (numbers(0.5, 1.0), "0.5 | 1.0"),
        (choice(Const(None), IntRange(2, 12)), "none | int 2..12"),
        (texts("hinge", "log"), 'hinge | "log"'),
        (Vector(N, Bool()), "vector(n_features) of bool"),
        (Vector(4, RealRange(0, 1, step=0.1)), "vector(4) of real 0..1 step 0.1"),
        (Regions(15, N), "regions(15)"),
        (Listing((IntRange(8, 256), Const(4))), "[int 8..256, 4]"),
        (Const(Formula("min", (16, N))), "min(16, n_features)"),
        (use("svc", gamma=RealRange(0, 1), degree=Const(2)), "svc(gamma: real 0..1, degree = 2)"),
        (use("svc", kernel=Symbol("rbf", ())), "svc(kernel = rbf)"),
        (use("svc", units=Listing((Const(8),))), "svc(units = [8])"),
        (Empty(), "none"),
        (choice(a, b), "a | b"),
        (optional(a), "a?"),
        (optional(use("a", k=Bool())), "a(k: bool)?"),
        (optional(Union((a, b))), "(a & b)?"),
        (optional(choice(a, b)), "(a | b)?"),
        (Choice((optional(a), Empty())), "a?"),
        (seq(a, choice(b, c)), "a >> (b | c)"),
        (choice(a, seq(b, c)), "a | (b >> c)"),
        (Union((seq(a, b), c)), "(a >> b) & c"),
        (seq(a, Marked("f:p", choice(b, c))), "a >> (b | c)"),
        (seq(a), "a"),
        (seq(), "none"),
        (Subset((a, optional(b))), "subset(a, b?)"),
        (Permute((a, seq(b, c))), "permute(a, b >> c)"),
        (Arrange(0, 2, (a, b, c)), "arrange(0..2, a, b, c)"),
        (Repeat(0, 3, choice(a, b)), "repeat(a | b, 0..3)"),
    ],
)
def test_nodes(node: Node, text: str) -> None:
    assert node_to_text(node) == text
    as_text = (
        text
        if not isinstance(node, Const | IntRange | RealRange | Bool | Vector | Regions | Listing)
        else f"a(k: {text})"
    )
    parsed(f"chain m = {as_text}")


@pytest.mark.parametrize("build", [psms, kms, everything, similarity, network])
def test_whole_spaces_can_be_read(build: object) -> None:
    space = build()  # type: ignore[operator]
    parsed(f"chain m = {node_to_text(space.root)}")
    parsed(f"chain m = {node_to_text(space.root, parameters=False)}")


def test_long_texts_are_cut_even_where_the_whole_would_never_end() -> None:
    node: Node = choice(*(use(f"block_{i}") for i in range(30)))
    assert node_to_text(node, most=40) == "block_0 | block_1 | block_2 | … 27 more"
    assert node_to_text(seq(a, optional(node)), most=80) == "a >> (block_0 | block_1 | block_2 | … 27 more)?"
    assert node_to_text(use("x" * 50), most=40) == "x" * 39 + "…"
    for _ in range(40):
        node = Sequence((node, node))
    assert len(node_to_text(node, most=40)) <= 40


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(generated(finite=False))
def test_any_space_and_any_requirement_can_be_read(space: Space) -> None:
    parsed(f"chain m = {node_to_text(space.root)}")
    for requirement in space.requirements:
        parsed(requirement_to_text(requirement))


def test_names_are_qualified_where_two_blocks_share_one() -> None:
    assert node_to_text(choice(use(block("g", origin="x")), use(block("g", origin="y")))) == "x.g | y.g"


# --- conditions ---------------------------------------------------------------------------------------------------

gamma, degree = Parameter(SVC, "gamma"), Parameter(SVC, "degree", "spec.msl:learn")


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (Present(SVC), "svc"),
        (Present(SVC, "spec.msl:learn"), "learn.svc"),
        (PartIs("spec.msl:scale", (STANDARDIZE, None)), "scale is standardize | none"),
        (ValueIs(gamma, ("rbf", "log", 1, True, SVC)), 'svc.gamma is rbf | "log" | 1 | true | svc'),
        (Comparison("<=", degree, Literal(0.5)), "learn.svc.degree <= 0.5"),
        (IsTrue(gamma), "svc.gamma"),
        (Negation(Present(SVC)), "not svc"),
        (
            Negation(AllOf((Present(SVC), Comparison(">", FactTerm("n_samples"), Literal(10))))),
            "not (svc and n_samples > 10)",
        ),
        (AllOf((AnyOf((Present(SVC), IsTrue(gamma))), Present(STANDARDIZE))), "(svc or svc.gamma) and standardize"),
        (
            Comparison(
                "==", Computed("*", (Computed("+", (gamma, Literal(1))), Literal(2))), Computed("sqrt", (gamma,))
            ),
            "(svc.gamma + 1) * 2 == sqrt(svc.gamma)",
        ),
    ],
)
def test_conditions(condition: object, text: str) -> None:
    assert condition_to_text(condition) == text  # type: ignore[arg-type]
    parsed(f"require {text}")


def test_requirements() -> None:
    rule = Requirement(Comparison("<", gamma, Literal(2)), Present(STANDARDIZE))
    assert requirement_to_text(rule) == "require svc.gamma < 2 if standardize"
    written = Requirement(rule.condition, rule.when, "svc.gamma<2\n  if standardize")
    assert requirement_to_text(written) == "require svc.gamma<2 if standardize"
