"""What a search starts from and opens, which tasks blocks serve, and which chain is meant."""

from __future__ import annotations

from dataclasses import replace

import pytest

from msl.space.formulas import Facts
from msl.space.nodes import BlockUse, Const
from specs import TABLE, checked, codes, errors, only_error, sound, underlined

NUMBERS = Facts(n_samples=100, n_features=10, n_classes=0, task="regression")
LEARN = "use sbm\npart learn = knn(k: 1..9) | sbm(features = default, weights = default)\nchain m = learn\n"


@pytest.mark.parametrize(
    "channels",
    [
        "learn",
        "knn",
        "knn.k",
        "learn.sbm.k",
        "sbm.distance",
        "sbm.distance.minkowski",
        "minkowski.alpha",
        "knn.alpha",
        "n_references",
    ],
)
def test_a_channel_is_any_stretch_of_the_way_to_what_is_open(channels: str) -> None:
    spec = sound(f"{LEARN}search best_first(channels = [{channels}])")
    assert spec.search[0].channels == (channels,)


@pytest.mark.parametrize(
    ("channels", "message"),
    [
        ("k", "several blocks"),
        ("m", "neither a part nor an open parameter"),
        ("knn.kk", "neither a part nor an open parameter"),
        ("sbm.risk", "is fixed in this space"),
        ("3", "is not a channel"),
        ("learn, learn", "listed twice"),
    ],
)
def test_a_wrong_channel_is_told(channels: str, message: str) -> None:
    error = only_error(f"{LEARN}search best_first(channels = [{channels}])")
    assert error.code == "MSL144"
    assert message in error.message


def test_channels_may_be_none_or_carry_the_catalogue() -> None:
    assert sound(f"{LEARN}search best_first(channels = none)").search[0].channels is None
    assert sound(f"{LEARN}search best_first(channels = [sbm.knn.k])").search[0].channels == ("knn.k",)


def test_a_start_is_resolved_for_the_table() -> None:
    spec = sound("use sbm\nchain m = sbm\nsearch best_first(start = sbm(k = 3))", facts=TABLE)
    start = spec.search[0].start
    assert isinstance(start, BlockUse)
    values = {param.name: param.node for param in start.params}
    assert values["k"] == Const(3)
    assert values["features"] == Const((True,) * TABLE.n_features)


@pytest.mark.parametrize(
    ("start", "reason"),
    [
        ("sbm(k = 9)", "outside its domain"),
        ("knn", "`knn` is not in the chain"),
        ("sbm >> sbm", "second learner"),
        ("keep", "no learner"),
    ],
)
def test_a_start_outside_the_space_is_told(start: str, reason: str) -> None:
    text = f"use sbm\nchain m = sbm(k: 1..5)\nsearch best_first(start = {start})"
    (error,) = errors(text, facts=TABLE)
    assert (error.code, underlined(error)) == ("MSL147", start)
    assert reason in error.message


def test_objectives_that_are_wrong_still_count() -> None:
    assert codes("use clop\nchain m = svc\nminimize accurate, features\nsearch cmdpso") == ["MSL150"]


# --- tasks ---


def test_a_task_that_data_tells_leaves_blocks_out() -> None:
    found = checked("use clop\ndata(task = regression)\nchain m = svc | rf")
    assert [(d.code, underlined(d)) for d in found.diagnostics] == [("MSL241", "svc")]
    assert found.spec is not None


@pytest.mark.parametrize("goal", ["data(task = regression)", "minimize rmse", "maximize r2"])
def test_a_task_that_leaves_nothing_is_told_where_it_does(goal: str) -> None:
    error = only_error(f"use clop\npart learn = svc\nchain m = standardize >> learn\n{goal}")
    assert (error.code, underlined(error)) == ("MSL200", "svc")


def test_a_task_decides_inside_slots_too() -> None:
    text = "use sbm\ndata(task = regression)\nchain m = sbm(references = condensed, rest = default)"
    assert only_error(text).code == "MSL200"


def test_what_a_table_leaves_out_is_told_where_it_stands() -> None:
    found = checked("use clop\nchain m = (shift_scale | ttest)? >> (rf | klogistic) >> bias?", facts=NUMBERS)
    assert [(d.code, underlined(d)) for d in found.diagnostics] == [
        ("MSL241", "ttest"),
        ("MSL241", "klogistic"),
        ("MSL241", "bias"),
    ]


def test_an_estimate_serves_a_task() -> None:
    text = "use clop\ndata(task = classification)\nchain m = svc\nminimize features by gcv()"
    assert only_error(text).code == "MSL151"


# --- chains ---


@pytest.mark.parametrize(
    ("name", "declared"),
    [
        ("holdout", {"held_out": "one", "follows_order": True}),
        ("cv", {"held_out": "folds", "follows_order": True}),
        ("loo", {"held_out": "rows", "fixed_splits": True, "shortcut": "loo"}),
        ("bootstrap632", {"held_out": "folds", "training_weight": 0.368, "rows_repeat": True}),
    ],
)
def test_an_estimate_is_what_its_declaration_says_and_nothing_more(name: str, declared: dict[str, object]) -> None:
    silent = {"fixed_splits": False, "follows_order": False, "training_weight": 0.0, "rows_repeat": False}
    estimate = sound(f"use sbm\nchain m = knn\nminimize ber by {name}").objectives[0].estimate
    expected = silent | {"shortcut": None} | declared
    assert {field: getattr(estimate, field) for field in expected} == expected


@pytest.mark.parametrize(
    ("field", "other"),
    [
        ("held_out", "one"),
        ("fixed_splits", True),
        ("follows_order", False),
        ("training_weight", 0.5),
        ("rows_repeat", True),
        ("shortcut", "loo"),
    ],
)
def test_what_is_stated_of_an_estimate_is_no_part_of_its_identity(field: str, other: object) -> None:
    estimate = sound("use sbm\nchain m = knn\nminimize ber by cv").objectives[0].estimate
    changed = replace(estimate, **{field: other})
    assert getattr(changed, field) != getattr(estimate, field)
    assert (changed, hash(changed), repr(changed)) == (estimate, hash(estimate), repr(estimate))


def test_chains_of_two_files_with_one_name_are_told_apart() -> None:
    files = {"a.msl": "use clop\nchain m = svc\n", "b.msl": "use clop\nchain m = rf\n"}
    text = 'use "a.msl", "b.msl"\nminimize ber\n'
    (error,) = errors(text, files)
    assert (error.code, error.help) == ("MSL074", "select one, as in `--chain a.m`")
    assert checked(text, files, chain="b.m").spec is not None
    assert [d.code for d in checked(text, files, chain="m").diagnostics] == ["MSL074"]


def test_nothing_is_called_unused_in_a_file_with_errors() -> None:
    assert codes("use clop, sbm\npart scale = standardize\nchain m = svcc") == ["MSL021"]


REALS = "use clop\nchain m = svc | kridge\nminimize ber by cv(folds = 3)\n"
FOUR = "use clop\nchain m = standardize? >> (zarbi | naive)\nminimize ber by cv(folds = 3)\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"{REALS}search random(evaluations = 9) then confirm\nbudget(evaluations = 9)", "`confirm` never runs"),
        (f"{REALS}search random(evaluations = 20) then confirm\nbudget(evaluations = 9)", "`confirm` never runs"),
        (f"{REALS}search pso(swarm = 3, iterations = 2) then pattern\nbudget(evaluations = 9)", "`pattern` never runs"),
        (f"{REALS}search auto(evaluations = 9) then auto then confirm\nbudget(evaluations = 9)", "`auto` never runs"),
        (
            f"{REALS}search random(evaluations = 9) then confirm(top = 3, repeats = 4)\nbudget(evaluations = 17)",
            "`confirm` asks for 12 evaluations, and the budget leaves it 8: 2 of 4 repeats",
        ),
        (
            f"{REALS}search random(evaluations = 9) then confirm(top = 3, repeats = 4)\nbudget(evaluations = 11)",
            "the budget leaves it 2: not even one repeat",
        ),
        (f"{REALS}search random(evaluations = 9) then confirm(top = 3, repeats = 4)\nbudget(evaluations = 21)", None),
        (f"{REALS}search random(evaluations = 9) then confirm", None),
        (f"{REALS}search pattern(evaluations = 9) then random\nbudget(evaluations = 9)", None),
        (f"{REALS}search pso(swarm = 3, iterations = 2, stall = 1) then pattern\nbudget(evaluations = 9)", None),
        # who has met every model ends, and leaves the rest
        (f"{FOUR}search random(evaluations = 99) then confirm(repeats = 5)\nbudget(evaluations = 99)", None),
        (f"{FOUR}search random(evaluations = 99) then confirm(repeats = 50)\nbudget(evaluations = 99)", "15 of 50"),
    ],
)
def test_a_stage_that_the_budget_leaves_nothing_for_is_told(text: str, words: str | None) -> None:
    found = [each for each in checked(text).diagnostics if each.code == "MSL235"]
    assert (words is None) == (not found)
    if words is not None:
        assert words in found[0].message


@pytest.mark.parametrize("evaluations", [9, 12, 40])
def test_what_is_said_to_never_run_never_runs(evaluations: int) -> None:
    """The strategies themselves, on a space without end."""
    from msl.runner.search_space import space_to_search_space
    from msl.search.base import Observation
    from msl.search.stages import Limits, Stage, load_strategy, then
    from msl.space.resolve import resolve

    text = f"{REALS}search auto(evaluations = 12) then random(evaluations = 20) then confirm\n"
    spec = sound(f"{text}budget(evaluations = {evaluations})", facts=TABLE)
    search_space = space_to_search_space(resolve(spec.space, TABLE)[0])
    stages = [
        Stage(
            load_strategy(each.call.name),
            dict(each.call.options),
            search_space,
            reevaluates=each.call.name == "confirm",
        )
        for each in spec.search
    ]
    running = then(stages, seed=0, limits=Limits(evaluations))
    ran, asks = set(), next(running, None)
    while asks is not None:
        ran |= {ask.stage for ask in asks}
        try:
            asks = running.send([Observation(ask.vector, (float(ask.vector.sum()),)) for ask in asks])
        except StopIteration:
            asks = None
    told = [each for each in checked(f"{text}budget(evaluations = {evaluations})").diagnostics if each.code == "MSL235"]
    names = [each.call.name for each in spec.search]
    starved = [name for place, name in enumerate(names) if place not in ran]
    if starved:
        assert told[0].message.startswith(f"`{starved[0]}` never runs")
    else:
        assert "never runs" not in told[0].message


@pytest.mark.parametrize(("theirs", "ours"), [("particle_swarm", "pso"), ("swarm", "pso"), ("tpe", "auto")])
def test_a_strategy_by_the_name_it_has_elsewhere(theirs: str, ours: str) -> None:
    assert only_error(f"use sbm chain m = knn search {theirs}").help == f"did you mean `{ours}`?"


def test_of_many_parameters_that_a_use_opens_six_are_named() -> None:
    fields = ", ".join(f"p{number}: bool" for number in range(9))
    found = checked(f'block b: learner "m:C" {{ {fields} }} chain m = b(p0 = true)')
    (note,) = (one for one in found.diagnostics if one.code == "MSL240")
    assert "`p1`, `p2`, `p3`, `p4`, `p5`, `p6` and 2 more" in note.message


def test_the_place_of_a_block_that_is_named_with_its_catalogue() -> None:
    keep = "sbm.keep(features: vector(n_features) of bool)"
    text = f"use sklearn, sbm part p = sklearn.pca chain c = p >> {keep} >> sklearn.logistic"
    assert underlined(only_error(text)) == keep


@pytest.mark.parametrize(
    ("goal", "resource", "told"),
    [
        ("minimize ber, features", "rows", ["MSL292"]),
        ("minimize ber, features", "none", []),
        ("minimize ber", "rows", []),
        ("minimize ber", "fidelity", ["MSL292"]),
        ("minimize ber", "auto", []),
    ],
)
def test_auto_says_where_a_resource_has_no_effect(goal: str, resource: str, told: list[str]) -> None:
    """With several objectives it is another search; logistic regression declares no resource."""
    text = f"use sklearn\nchain m = logistic(rest = default, C: 0.1..1) | random_forest(rest = default)\n{goal}\n"
    assert codes(f"{text}search auto(resource = {resource})") == told
