"""Foreign: how other tools write domains, steps, roles, strategies and estimates, and what MSL writes for them."""

from __future__ import annotations

from msl.syntax import ast
from msl.text.source import Source

#: Functions that draw a number between two others, and what follows the range.
_RANGES = {
    **dict.fromkeys(("uniform", "suggest_float", "suggest_uniform", "float", "Real", "Float", "quniform"), ""),
    **dict.fromkeys(("randint", "suggest_int", "range", "Integer", "int", "between", "interval"), ""),
    **dict.fromkeys(
        ("loguniform", "log_uniform", "suggest_loguniform", "qloguniform", "logspace", "reciprocal"), " log"
    ),
}
#: Functions that choose one of several values.
_CHOICES = frozenset({"choice", "choices", "categorical", "Categorical", "suggest_categorical", "one_of", "oneof"})
_JOINED_STEPS = frozenset({"Pipeline", "make_pipeline", "pipeline"})
_JOINED_COLUMNS = frozenset({"FeatureUnion", "make_union", "ColumnTransformer", "make_column_transformer"})
_ROLES = {
    **dict.fromkeys(("classifier", "classification"), "learner for classification"),
    **dict.fromkeys(("regressor", "regression"), "learner for regression"),
    **dict.fromkeys(("estimator", "model", "predictor"), "learner"),
    **dict.fromkeys(("scaler", "preprocessor", "preprocessing", "encoder", "imputer"), "transformer"),
    **dict.fromkeys(("feature_selector", "feature_selection", "filter", "extractor"), "selector"),
}
_CALLS = {
    "strategy": {
        **dict.fromkeys(("random_search", "randomized", "RandomizedSearchCV"), "random"),
        **dict.fromkeys(("grid_search", "GridSearchCV", "exhaustive"), "grid"),
        **dict.fromkeys(("genetic", "ga", "evolution", "evolutionary"), "occam_ga"),
        **dict.fromkeys(("particle_swarm", "swarm"), "pso"),
        **dict.fromkeys(("hyperband", "successive_halving", "HalvingRandomSearchCV", "sha"), "halving"),
        **dict.fromkeys(("pattern_search", "local", "hill_climbing"), "pattern"),
    },
    "estimate": {
        **dict.fromkeys(("kfold", "k_fold", "cross_validation", "crossval", "cross_val", "xval"), "cv"),
        **dict.fromkeys(("KFold", "StratifiedKFold", "RepeatedKFold", "cross_val_score"), "cv"),
        **dict.fromkeys(("train_test_split", "split", "validation", "test", "hold_out"), "holdout"),
        **dict.fromkeys(("leave_one_out", "LeaveOneOut", "loocv"), "loo"),
        **dict.fromkeys(("bootstrap", "Bootstrap"), "bootstrap632"),
    },
    "combiner": {
        **dict.fromkeys(("voting", "VotingClassifier", "VotingRegressor", "average", "bagging"), "vote"),
        **dict.fromkeys(("greedy", "caruana", "ensemble_selection", "stacking"), "best_first"),
    },
}


def domain_meant(value: ast.Expression, source: Source) -> str | None:
    """The domain that a value was meant to be: `loguniform(1e-3, 1)` is `1e-3..1 log`."""
    match value:
        case ast.Arithmetic(operators=("-",), operands=(ast.Number() as low, ast.Number() as high)):
            return f"{low.text}..{high.text}"
        case ast.Call(path=path, arguments=arguments):
            name = path.names[-1].text
            values = [argument.value for argument in arguments if argument.key is None]
            if name in _CHOICES:
                items = values[-1].items if values and isinstance(values[-1], ast.ListOf) else tuple(values)
                return " | ".join(source.slice(item.span) for item in items) or None
            numbers = [number for number in values if isinstance(number, ast.Number | ast.Negative)]
            if name in _RANGES and len(numbers) >= 2:
                ends = "..".join(source.slice(number.span) for number in numbers[:2])
                scale = " log" if any(_asks_for_log(argument) for argument in arguments) else _RANGES[name]
                return f"{ends}{scale}"
    return None


def _asks_for_log(argument: ast.Argument) -> bool:
    return argument.key is not None and argument.key.text == "log" and argument.value == ast.Boolean(True)


def joined_by(name: str) -> str | None:
    """How the steps that a class of scikit-learn joins are joined here."""
    if name in _JOINED_STEPS:
        return "write its steps with `>>` between them: `standardize >> svc`"
    if name in _JOINED_COLUMNS:
        return "write its branches with `&` between them: `pca & standardize`"
    return None


def role_meant(name: str) -> str | None:
    return _ROLES.get(name)


def call_meant(role: str, name: str) -> str | None:
    """The strategy, estimate or ensemble that does what others call by another name."""
    return _CALLS[role].get(name)
