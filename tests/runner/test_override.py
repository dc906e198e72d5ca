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
        (["data.task=clas"], "clas", "a task is"),
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


def test_a_seed_from_python() -> None:
    assert with_seed(Source("s", HEAD), None).text == HEAD
    assert spec_of(with_seed(Source("s", HEAD), 7).text).seed == 7
    for wrong in (-1, 2**63, 1.5, True, "3"):
        with pytest.raises(ValueError, match="a seed is a whole number"):
            with_seed(Source("s", HEAD), wrong)  # type: ignore[arg-type]
