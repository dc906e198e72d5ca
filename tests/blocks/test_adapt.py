"""Adapting: encoders and imputers come as late as possible, and only where a block needs them."""

from __future__ import annotations

import pytest

from msl.blocks.base.build import ColumnKinds, adapt_model
from msl.blocks.base.load import BlockProblem
from msl.space.values import BlockType, BlockValue, Branches, Model, Step, Value

TARGETS = {
    "columns": ("msl.blocks:Columns", "selector"),
    "passthrough": ("msl.blocks:Passthrough", "transformer"),
    "keep": ("msl.blocks:KeepFeatures", "selector"),
    "standardize": ("msl.blocks:Standardize", "transformer"),
    "standard_scaler": ("sklearn.preprocessing:StandardScaler", "transformer"),
    "impute": ("sklearn.impute:SimpleImputer", "transformer"),
    "fill_nearest": ("msl.blocks:FillNearest", "transformer"),
    "missing_indicator": ("sklearn.impute:MissingIndicator", "selector"),
    "one_hot": ("sklearn.preprocessing:OneHotEncoder", "selector"),
    "ordinal": ("sklearn.preprocessing:OrdinalEncoder", "transformer"),
    "pca": ("sklearn.decomposition:PCA", "selector"),
    "svc": ("msl.blocks:SVC", "learner"),
    "tree": ("sklearn.tree:DecisionTreeClassifier", "learner"),
    "sbm": ("msl.blocks:Similarity*", "learner"),
    "knn": ("msl.blocks:KNN*", "learner"),
    "bias": ("msl.blocks:Bias", "post"),
}
#: Columns 1 and 3 hold symbols, 0 and 3 lack values.
MIXED = ColumnKinds(5, symbolic=(1, 3), incomplete=(0, 3))
SYMBOLS = ColumnKinds(5, symbolic=(1, 3))
GAPS = ColumnKinds(5, incomplete=(0, 3))
PLAIN = ColumnKinds(5)


def use(name: str, **params: Value) -> BlockValue:
    target, role = TARGETS[name]
    return BlockValue(BlockType(name, "tests", role, None, target), tuple(params.items()))


def shown(steps: tuple[Step, ...]) -> str:
    return " >> ".join(shown_step(step) for step in steps)


def shown_step(step: Step) -> str:
    if isinstance(step, Branches):
        return f"({' & '.join(map(shown, step.branches))})"
    params = dict(step.params)
    if step.block.name != "prepare":
        symbols = params.get("symbolic_columns")
        return step.block.name if symbols is None else f"{step.block.name}{list(symbols)}"
    what = [word for word in ("encode", "impute") if params[word]]
    return f"{'+'.join(what)}{list(params['symbolic_columns'])}"


def adapted(kinds: ColumnKinds, *steps: Step) -> str:
    return shown(adapt_model(Model(steps), kinds, "classification").steps)


SPLIT = Branches(((use("columns", kind="symbolic"), use("one_hot")), (use("columns", kind="numeric"),)))


@pytest.mark.parametrize(
    ("kinds", "steps", "expected"),
    [
        (PLAIN, (use("standardize"), use("svc"), use("bias")), "standardize >> svc >> bias"),
        (MIXED, (use("standardize"), use("svc"), use("bias")), "encode+impute[1, 3] >> standardize >> svc >> bias"),
        (SYMBOLS, (use("svc"),), "encode[1, 3] >> svc"),
        (GAPS, (use("svc"),), "impute[] >> svc"),
        # what takes missing values keeps them, and what comes after may not
        (GAPS, (use("standard_scaler"), use("svc")), "standard_scaler >> impute[] >> svc"),
        (MIXED, (use("standard_scaler"), use("svc")), "encode[1, 3] >> standard_scaler >> impute[] >> svc"),
        (GAPS, (use("tree"),), "tree"),
        (MIXED, (use("tree"),), "encode[1, 3] >> tree"),
        # imputers work on numbers; a missing symbol has been encoded by then
        (GAPS, (use("impute"), use("svc")), "impute >> svc"),
        (MIXED, (use("impute"), use("svc")), "encode[1, 3] >> impute >> svc"),
        (MIXED, (use("missing_indicator"), use("svc")), "missing_indicator >> svc"),
        # similar rows fill in symbols, too, so that nothing is encoded before a learner needs it
        (MIXED, (use("fill_nearest"), use("svc")), "fill_nearest[1, 3] >> encode[1, 3] >> svc"),
        (MIXED, (use("fill_nearest"), use("sbm")), "fill_nearest[1, 3] >> sbm[1, 3]"),
        # encoders take symbols, those that keep missing values are followed by an imputer
        (MIXED, (use("one_hot"), use("svc")), "one_hot >> svc"),
        (MIXED, (use("ordinal"), use("svc")), "ordinal >> impute[] >> svc"),
        # columns are followed on their way
        (
            MIXED,
            (use("keep", features=(True, True, False, False, True)), use("svc")),
            "keep >> encode+impute[1] >> svc",
        ),
        (MIXED, (use("keep", features=(False, True, True, False, False)), use("svc")), "keep >> encode[0] >> svc"),
        (MIXED, (use("keep", features=(False, False, True, False, True)), use("svc")), "keep >> svc"),
        (MIXED, (use("keep", features=(False,) * 5), use("svc")), "keep >> impute[] >> svc"),
        (MIXED, (use("columns", kind="numeric"), use("svc")), "columns[1, 3] >> impute[] >> svc"),
        (MIXED, (use("columns", kind="symbolic"), use("svc")), "columns[1, 3] >> encode+impute[0, 1] >> svc"),
        (MIXED, (use("passthrough"), use("svc")), "passthrough >> encode+impute[1, 3] >> svc"),
        # similarity learners compare symbols themselves; a missing one is a symbol too
        (SYMBOLS, (use("sbm"),), "sbm[1, 3]"),
        (MIXED, (use("sbm"),), "impute[1, 3] >> sbm[1, 3]"),
        (SYMBOLS, (use("knn"),), "encode[1, 3] >> knn"),
        # branches
        (MIXED, (SPLIT, use("svc")), "(columns[1, 3] >> one_hot & columns[1, 3]) >> impute[] >> svc"),
        (PLAIN, (SPLIT, use("svc")), "columns >> svc"),
        (
            SYMBOLS,
            (Branches(((use("columns", kind="numeric"), use("pca")), (use("columns", kind="symbolic"),))), use("svc")),
            "(columns[1, 3] >> pca & columns[1, 3] >> encode[0, 1]) >> svc",
        ),
        (
            SYMBOLS,
            (Branches(((use("passthrough"),), (use("columns", kind="symbolic"),))), use("svc")),
            "(passthrough & columns[1, 3]) >> encode[1, 3, 5, 6] >> svc",
        ),
    ],
)
def test_what_is_inserted_and_where(kinds, steps, expected):
    assert adapted(kinds, *steps) == expected


def test_no_columns_left_is_told():
    with pytest.raises(BlockProblem, match="no column"):
        adapt_model(Model((use("columns", kind="symbolic"), use("svc"))), PLAIN, "classification")
    only = Branches(((use("columns", kind="symbolic"), use("one_hot")), (use("columns", kind="symbolic"),)))
    with pytest.raises(BlockProblem, match="no column"):
        adapt_model(Model((only, use("svc"))), PLAIN, "classification")


def test_a_plain_table_changes_nothing():
    model = Model((use("keep", features=(True,) * 5), use("standardize"), use("svc"), use("bias")))
    assert adapt_model(model, PLAIN, "classification") == model
