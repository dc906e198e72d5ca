"""Overrides: what `--set` makes of a text, and where it says that something is wrong."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from msl.check.check_spec import check_source
from msl.diagnostics.source import Source
from msl.language.override import WrongOverride, override_text, text_to_override
from msl.runner.spec_source import with_seed
from msl.space.spec import Spec

HEAD = "use clop\nchain m = zarbi | naive\n"
TWO = HEAD + "search random(evaluations = 5) then pso(swarm = 3)  # small\nbudget(each = 2s,)\n"


def changed(text: str, *sets: str) -> str:
    return override_text(Source("m.msl", text, "m.msl"), [text_to_override(one) for one in sets]).source.text


def spec_of(text: str) -> Spec:
    found = check_source(Source("m.msl", text)).spec
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "sets", "line"),
    [
        (HEAD, ["seed=3"], "seed 3"),
        (HEAD + "seed 1", ["seed=3"], "seed 3"),
        (TWO, ["search.pso.swarm=10"], "search random(evaluations = 5) then pso(swarm = 10)  # small"),
        (TWO, ["search.2.swarm=10"], "search random(evaluations = 5) then pso(swarm = 10)  # small"),
        (TWO, ["search.pso.stall=4"], "search random(evaluations = 5) then pso(swarm = 3, stall = 4)  # small"),
        (HEAD + "search pso\n", ["search.swarm=10"], "search pso(swarm = 10)"),
        (HEAD + "search pso()\n", ["search.swarm=10"], "search pso(swarm = 10)"),
        (HEAD, ["search.evaluations=9"], "search auto(evaluations = 9)"),
        (HEAD + "minimize ber, features\n", ["search.swarm=9"], "search cmdpso(swarm = 9)"),
        (TWO, ["search=grid"], "search grid  # small"),
        (TWO, ["budget.each=3s"], "budget(each = 3s,)"),
        (TWO, ["budget.time=1min"], "budget(each = 2s, time = 1min,)"),
        (HEAD, ["budget.time=1min", "budget.each=1s"], "budget(time = 1min, each = 1s)"),
        (HEAD, ["data.target=y", "data.ignore=[a, b]"], "data(target = y, ignore = [a, b])"),
        (HEAD + "data(target = x, ignore = [y])\n", ["data.target=none"], "data(ignore = [y])"),
        (HEAD + "minimize ber\n", ["maximize=auc by cv(folds = 3)"], "maximize auc by cv(folds = 3)"),
        (HEAD, ["ensemble=vote(top = 3)", "ensemble.top=5"], "ensemble vote(top = 5)"),
        (HEAD, ["seed=1", "seed=2"], "seed 2"),
        (HEAD, ['start="a.msl"'], 'search start("a.msl") then auto'),
        (HEAD + "minimize ber, features\n", ['start="a.msl", "b.msl"'], 'search start("a.msl", "b.msl") then cmdpso'),
        (
            HEAD + "search random(evaluations = 5)",
            ['start="a.msl"'],
            'search start("a.msl") then random(evaluations = 5)',
        ),
        (
            HEAD + 'search start("x.msl") then random(evaluations = 5)',
            ['start="a.msl"', "search.random.evaluations=6"],
            'search start("a.msl", "x.msl") then random(evaluations = 6)',
        ),
    ],
)
def test_the_text_is_changed_where_it_says(text: str, sets: list[str], line: str) -> None:
    assert line in changed(text, *sets).splitlines()


@pytest.mark.parametrize(
    ("text", "sets"),
    [(TWO, ["budget.each=none"]), (TWO, ["budget=none"]), (HEAD, ["budget.time=none"]), (HEAD, ["data=none"])],
)
def test_a_limit_is_taken_back(text: str, sets: list[str]) -> None:
    assert "budget" not in changed(text, *sets)
    assert spec_of(changed(text, *sets)).budget == spec_of(HEAD).budget


@settings(max_examples=25)
@given(st.integers(0, 2**63 - 1), st.integers(1, 10_000), st.integers(1, 10**6))
def test_what_is_set_is_what_the_checker_reads(seed: int, swarm: int, evaluations: int) -> None:
    sets = [f"search.pso.swarm={swarm}", f"seed={seed}", f"budget.evaluations={evaluations}"]
    found = spec_of(changed(TWO, *sets))
    assert (found.seed, found.search[1].call["swarm"], found.budget.evaluations) == (seed, swarm, evaluations)
    assert found.search[0] == spec_of(TWO).search[0]


@pytest.mark.parametrize(
    ("change", "underlined", "words"),
    [
        ("serch.swarm=10", "serch", "did you mean `search`?"),
        ("search.swarm=10", "swarm", "`search.random.swarm` or `search.pso.swarm`"),
        ("search.pos.swarm=10", "pos", "did you mean `pso`?"),
        ("search.3.swarm=10", "3", "its stages are `random`, `pso`"),
        ("search.pso.swarm.x=10", "x", "set it as a whole: `search.pso.swarm=…`"),
        ("seed.x=10", "x", "as in `seed=0`"),
        ("minimize.folds=3", "folds", "as in `minimize=ber by cv(folds = 5)`"),
        ("ensemble.top=3", "ensemble", "set it as a whole: `ensemble=vote(top = 5)`"),
        ("budget=3", "budget", "as in `budget.time=10min`"),
        ("search.pso.swarm=(1", "(", "add `)`"),
        ("search.pso.swarm=1, c1 = 2", ",", ""),
        ("search.pso.swarm=1 part x = 2", "1 part x = 2", "give one value"),
        ("seed=3 seed 4", "3 seed 4", "give one value"),
        ("seed=abc", "abc", "expected a number"),
        ("start=p.msl", "msl", ""),
        ("seed", "seed", "write `--set search.swarm=10`"),
        ("=3", "=3", "write `--set search.swarm=10`"),
    ],
)
def test_what_cannot_be_set_is_told_where_it_was_written(change: str, underlined: str, words: str) -> None:
    with pytest.raises(WrongOverride) as told:
        changed(TWO, change)
    (diagnostic,) = told.value.diagnostics
    assert diagnostic.primary.source.slice(diagnostic.primary.span) == underlined
    assert words in (diagnostic.help or "")


@pytest.mark.parametrize(
    ("sets", "underlined", "words"),
    [
        (["search.pso.swram=10"], "swram", "did you mean `swarm`?"),
        (["seed=4", "search.pso.swarm=-4", "seed=5"], "-4", "integer"),
        (["budget.time=10"], "10", "write `10s`"),
        (["budget.tme=10s"], "tme", "did you mean `time`?"),
        (["budget.tme=none"], "tme", "did you mean `time`?"),
        (["minimize=brr"], "brr", "did you mean `ber`?"),
        (["data.task=clas"], "clas", "did you mean `classification`?"),
    ],
)
def test_what_the_checker_says_of_a_value_is_told_there_too(sets: list[str], underlined: str, words: str) -> None:
    made = override_text(Source("m.msl", TWO, "m.msl"), [text_to_override(one) for one in sets])
    (diagnostic,) = (made.relocated(one) for one in check_source(made.source).diagnostics if one.is_error)
    assert diagnostic.primary.source.name == "--set"
    assert diagnostic.primary.source.slice(diagnostic.primary.span) == underlined
    assert words in (diagnostic.help or "")


def test_what_is_wrong_with_the_spec_itself_stays_there() -> None:
    made = override_text(Source("m.msl", TWO.replace("zarbi", "zarbj"), "m.msl"), [text_to_override("seed=3")])
    (diagnostic,) = (made.relocated(one) for one in check_source(made.source).diagnostics if one.is_error)
    assert (diagnostic.primary.source.name, diagnostic.primary.position.line) == ("m.msl", 2)


def test_two_stages_of_one_kind_are_told_apart_by_number() -> None:
    text = HEAD + "search pso(swarm = 2) then pso(swarm = 3)\n"
    assert "search pso(swarm = 2) then pso(swarm = 9)\n" in changed(text, "search.2.swarm=9")
    with pytest.raises(WrongOverride) as told:
        changed(text, "search.pso.swarm=9")
    assert told.value.diagnostics[0].help == "write `search.1` or `search.2`"


USES = """use clop, sbm
part learn = svc(gamma: 1e-3..1 log, rest = default) | rf | svc
part both(j: int 1..5) = knn(k = j)
chain m = standardize? >> (learn | svc | both | knn(k: 1..5, distance = minkowski))
minimize ber by cv(folds = 5)
"""


@pytest.mark.parametrize(
    ("change", "lines"),
    [
        (
            "svc.gamma=0.1",
            [
                "part learn = svc(gamma = 0.1, rest = default) | rf | svc(gamma = 0.1)",
                "chain m = standardize? >> (learn | svc(gamma = 0.1) | both | knn(k: 1..5, distance = minkowski))",
            ],
        ),
        (
            "learn.svc.degree=1",
            ["part learn = svc(gamma: 1e-3..1 log, rest = default, degree = 1) | rf | svc(degree = 1)"],
        ),
        ("rf.units=12..20", ["part learn = svc(gamma: 1e-3..1 log, rest = default) | rf(units: 12..20) | svc"]),
        (
            "minkowski.alpha=1.5",
            ["chain m = standardize? >> (learn | svc | both | knn(k: 1..5, distance = minkowski(alpha = 1.5)))"],
        ),
        (
            "both.j=3",
            ["chain m = standardize? >> (learn | svc | both(j = 3) | knn(k: 1..5, distance = minkowski))"],
        ),
        ("cv.folds=3", ["minimize ber by cv(folds = 3)"]),
    ],
)
def test_a_parameter_is_set_at_every_use_of_its_block(change: str, lines: list[str]) -> None:
    text = changed(USES, change)
    spec_of(text)
    assert [line for line in text.splitlines() if line not in USES.splitlines()] == lines


DECLARED = """block b: learner "sklearn.ensemble:AdaBoost*" {
  n_estimators: int 1..5,
  learning_rate: real 0..1 if n_estimators > 2,
}
chain m = any learner
"""


def test_a_block_that_no_use_names_is_set_where_it_is_declared() -> None:
    assert "  n_estimators = 3,\n" in changed(DECLARED, "b.n_estimators=3")
    nested = "use sklearn\nchain m = bagging(estimator: bagging(n_estimators = 5), rest = default)\n"
    assert changed(nested, "bagging.estimator=decision_tree").endswith(
        "bagging(estimator = decision_tree, rest = default)\n"
    )
    assert "bagging(estimator: bagging(n_estimators = 9), rest = default, n_estimators = 9)" in changed(
        nested, "bagging.n_estimators=9"
    )


@pytest.mark.parametrize(
    ("text", "change", "underlined", "words"),
    [
        (USES, "rff.units=3", "rff", "did you mean `rf`?"),
        (USES, "rf=3", "rf", "`rf.parameter=3`"),
        (USES, "clop.svc.degree=1", "clop", "write `svc.degree=1`"),
        (USES, "rf.units=a b", " ", "an operator is missing"),
        (DECLARED, "b.n_estimatrs=3", "n_estimatrs", "did you mean `n_estimators`?"),
        (DECLARED, "b.learning_rate=0.5", "learning_rate", "exists only if n_estimators > 2"),
    ],
)
def test_a_parameter_that_cannot_be_set(text: str, change: str, underlined: str, words: str) -> None:
    with pytest.raises(WrongOverride) as told:
        changed(text, change)
    (diagnostic,) = told.value.diagnostics
    assert diagnostic.primary.source.slice(diagnostic.primary.span) == underlined
    assert words in f"{diagnostic.message} {diagnostic.help}"


def test_a_wrong_value_of_a_parameter_is_told_once_for_each_use_where_it_was_written() -> None:
    made = override_text(Source("m.msl", USES, "m.msl"), [text_to_override("svc.degree=-1")])
    found = [made.relocated(one) for one in check_source(made.source).diagnostics if one.is_error]
    assert len(found) == 3
    assert {one.primary.source.slice(one.primary.span) for one in found} == {"-1"}


def test_a_seed_from_python() -> None:
    assert with_seed(Source("s", HEAD), None).text == HEAD
    assert spec_of(with_seed(Source("s", HEAD), 7).text).seed == 7
    for wrong in (-1, 2**63, 1.5, True, "3"):
        with pytest.raises(ValueError, match="a seed is a whole number"):
            with_seed(Source("s", HEAD), wrong)  # type: ignore[arg-type]
