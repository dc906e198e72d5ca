"""How often a search tried each alternative of a choice, counted by hand and by the names of blocks."""

from __future__ import annotations

from pathlib import Path

import pytest
from search_cases import SPACE, searched, write_classes

from msl.runner.choice_counts import count_choices
from msl.runner.choose_winner import candidates_of
from msl.space.evaluate_conditions import occurrences
from msl.space.values import BlockValue, Model


def names(model: Model) -> set[str]:
    return {step.block.name for step in occurrences(model.steps) if isinstance(step, BlockValue)}


@pytest.mark.parametrize(
    ("chain", "choices"),
    [
        ("chain m = scale >> learn", {"scale": ["standardize", "normalize", "none"], "learn": ["zarbi", "naive"]}),
        (
            "chain m = subset(standardize, normalize) >> (ftest | relief)? >> learn",
            {
                "subset(standardize, normalize)": ["standardize", "normalize", "none"],
                "(ftest | relief)?": ["ftest", "relief", "none"],
                "learn": ["zarbi", "naive"],
            },
        ),
        (
            "chain m = permute(scale, ftest?) >> learn",
            {
                "scale": ["standardize", "normalize", "none"],
                "ftest?": ["ftest", "none"],
                "learn": ["zarbi", "naive"],
            },
        ),
    ],
)
def test_every_alternative_is_counted(tmp_path: Path, chain: str, choices: dict[str, list[str]]) -> None:
    text = SPACE.replace("chain m = scale >> learn", chain) + "minimize ber by cv(folds = 3)\n"
    case = searched(tmp_path, text + "search random(evaluations = 24)\n", write_classes(tmp_path))
    models = list(dict.fromkeys(model for model, _ in case.found.evaluator.evaluated.values()))
    judged = candidates_of(case.plan, case.found)
    found = count_choices(case.plan, models, judged)
    assert {choice: [one.block for one in found if one.choice == choice] for choice in choices} == choices
    ranked = sorted(judged, key=lambda one: (one.losses, one.complexity))
    best = [one.model for one in ranked[: max(1, len(ranked) // 4)]]
    for one in found:
        others = set(choices[one.choice]) - {"none"}

        def has(model: Model, block: str = one.block, others: set[str] = others) -> bool:
            return not names(model) & others if block == "none" else block in names(model)

        assert one.asked == sum(map(has, models))
        assert one.share == one.asked / len(models)
        assert one.best_share == sum(map(has, best)) / len(best)


def test_alternatives_that_share_a_block_are_told_apart(tmp_path: Path) -> None:
    text = "use clop\nchain m = (standardize >> naive) | (normalize >> naive) | naive\nsearch grid\n"
    case = searched(tmp_path, text + "minimize ber by cv(folds = 3)\n", write_classes(tmp_path))
    models = [model for model, _ in case.found.evaluator.evaluated.values()]
    found = count_choices(case.plan, models, candidates_of(case.plan, case.found))
    assert [one.block for one in found] == ["standardize >> naive", "normalize >> naive", "naive"]
    assert sum(one.asked for one in found) == len(models)
    assert all(one.asked for one in found)


def test_the_same_step_for_other_columns_is_another_alternative(tmp_path: Path) -> None:
    chain = "chain m = (on numbers (scale) | on symbols (scale) | scale)? >> learn"
    text = SPACE.replace("chain m = scale >> learn", chain) + "minimize ber by cv(folds = 2)\n"
    case = searched(tmp_path, text + "search random(evaluations = 12)\n", write_classes(tmp_path))
    models = list(dict.fromkeys(model for model, _ in case.found.evaluator.evaluated.values()))
    found = {one.block for one in count_choices(case.plan, models, candidates_of(case.plan, case.found))}
    assert {"on numbers (scale)", "none"} <= found
