"""What passes `check` never breaks later: what is written is refused by the check, or every verb can take it."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from msl.check.check_spec import check_source
from msl.check.read_models import text_to_model
from msl.diagnostics.render import render
from msl.diagnostics.source import Source
from msl.encode.codec import space_to_codec, space_to_layout
from msl.encode.sample import AlmostEmpty, sample
from msl.language.formatter import format_source
from msl.report.diagrams.draw_space import space_to_svg, space_to_tree
from msl.space.canonical.digest import model_digest, space_digest
from msl.space.diff.compare import diff_spaces
from msl.space.enumerate.count import count
from msl.space.to_text import model_to_text, node_to_text
from specs import TABLE

WHOLE = st.one_of(
    st.integers(-3, 12),
    st.sampled_from([10**6, 2**31, 2**40, 2**48, 2**53, 2**63, 10**20, 10**30]).flatmap(
        lambda n: st.sampled_from([n, -n, n + 1])
    ),
).map(str)
REAL = st.one_of(
    st.sampled_from(["0", "1", "-1", "0.1", "1e-3", "1e9", "-5"]),
    st.sampled_from(
        ["5e-324", "1e-300", "1e-250", "1e-17", "1e17", "1e250", "1e300", "-1e300", "1.7e308", "0.30000000000000004"]
    ),
)
TABLE_SIZE = st.sampled_from(
    [
        "n_features",
        "n_samples",
        "min(50, n_samples)",
        "n_samples * n_samples",
        "n_features - 8",
        "log(n_samples)",
        "n_samples * 1e240",
        "sqrt(n_features - 9)",
        "n_samples / (n_features - 8)",
        "n_classes + n_classes",
    ]
)
INT = st.builds(
    "int {}..{}{}".format,
    WHOLE,
    WHOLE | TABLE_SIZE,
    st.sampled_from(["", " log", " step 2", " step 1_000_000_007"]),
)
REALS = st.builds(
    "real {}..{}{}".format,
    REAL,
    REAL | TABLE_SIZE,
    st.sampled_from(["", " log", " step 0.1", " step 1e-9", " step 1e-17", " step 1e-300", " step 5e-324", " step 3"]),
)
VECTOR = st.builds(
    "vector({}) of {}".format,
    st.sampled_from(["1", "3", "n_features", "2_000", "1_000_000_000", "n_samples * n_samples * n_samples"]),
    st.just("bool") | INT | REALS,
)
PLAIN = st.one_of(INT, REALS, st.just("bool"), VECTOR, st.sampled_from(["regions(3)", "regions(1_000_000)"]))
ALTERNATIVE = st.one_of(
    INT,
    REALS,
    st.sampled_from(["none", "a", '"a b"', "1", "1.5", "true", "[1, 2]", "1e300", "decision_tree", "knn()"]),
    INT.map("b(x: {})".format),
    REALS.map("c(y: {}, z = 2)".format),
    INT.map("[{}, int 1..2]".format),
)
DOMAIN = PLAIN | st.lists(ALTERNATIVE, min_size=2, max_size=4).map(" | ".join)
FIELD = DOMAIN.map(": {}".format) | ALTERNATIVE.map(" = {}".format)
STEP = st.recursive(
    st.sampled_from(["standardize", "normalize", "ftest", "pc_extract", "none"]),
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=3).map(lambda items: f"({' | '.join(items)})"),
        st.lists(inner, min_size=2, max_size=3).map(lambda items: f"({' >> '.join(items)})"),
        st.lists(inner, min_size=2, max_size=3).map(lambda items: f"({' & '.join(items)})"),
        st.lists(inner, min_size=1, max_size=3).map(lambda items: f"subset({', '.join(items)})"),
        st.lists(inner, min_size=1, max_size=3).map(lambda items: f"permute({', '.join(items)})"),
        st.builds("repeat({}, {}..{})".format, inner, st.integers(0, 2), st.sampled_from([1, 2, 3, 30, 1000])),
        inner.map("({})?".format),
    ),
    max_leaves=4,
)
REQUIRE = st.sampled_from(
    [
        "",
        "require own.p < 3\n",
        "require own.p * own.p * 1e200 < own.q\n",
        "require own.p / (own.q - own.q) > 1\n",
        "require own.p is none | a if standardize\n",
    ]
)


@st.composite
def specs(draw: st.DrawFn) -> str:
    before = draw(st.none() | STEP)
    own = f'block own: learner "mine:Own" {{ p{draw(FIELD)}, q{draw(FIELD)} }}\n'
    chain = "own" if before is None else f"{before} >> own"
    return f"use clop, sklearn, sbm\n{own}chain m = {chain}\n{draw(REQUIRE)}"


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(specs())
@example('block own: learner "mine:Own" { p: real 0..n_features step 1e-300 }\nchain m = own\n')
@example('block own: learner "mine:Own" { p: vector(1_000_000_000) of bool }\nchain m = own\n')
@example('block own: learner "mine:Own" { p: int 0..9_223_372_036_854_775_808 }\nchain m = own\n')
@example('block own: learner "mine:Own" { p: real 0..5e-324 }\nchain m = own\n')
def test_whatever_passes_check_can_be_used(text: str) -> None:
    source = Source("spec.msl", text)
    checked = check_source(source)
    render(checked.diagnostics)
    if checked.spec is None:
        return
    count(checked.spec.space, work=20_000)
    space_digest(checked.spec.space)
    space_to_layout(checked.spec.space)
    space_to_tree(checked.spec.space, title="m", width=80, ascii_only=True)
    space_to_svg(checked.spec.space, title="m")
    node_to_text(checked.spec.space.root)
    formatted, problems = format_source(source)
    assert not problems
    again = check_source(Source("spec.msl", formatted)).spec
    assert again is not None
    assert diff_spaces(checked.spec.space, again.space) == ()
    with_table = check_source(source, TABLE)
    render(with_table.diagnostics)
    if with_table.spec is None:
        return
    space = with_table.spec.space
    count(space, work=20_000)
    codec = space_to_codec(space)
    try:
        models = list(sample(codec, 2, np.random.default_rng(0)))
    except AlmostEmpty:
        return
    for model in models:
        model_digest(model)
        assert codec.model(codec.encode(model)) == model
        read, said = text_to_model(model_to_text(model), source)
        assert read == model, [d.message for d in said]
