"""Translate the names of other tools: domains, steps, roles, strategies, resampling, classes and metrics."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from msl.check.names import catalogues
from msl.check.names.library import Module
from msl.diagnostics.source import Source
from msl.diagnostics.suggest import closest
from msl.language import ast
from msl.language.mistakes.other_tools import CHOICES, JOINS, RANGES, range_meant

_NEAR = 200
_VALUES = {
    "true": "true",
    "false": "false",
    "none": "none",
    "null": "none",
    "nil": "none",
    "yes": "true",
    "no": "false",
}
_OPTIONAL = frozenset({"optional", "Optional", "maybe", "opt"})
_ROLES = {
    **dict.fromkeys(("classifier", "classification"), "learner for classification"),
    **dict.fromkeys(("regressor", "regression"), "learner for regression"),
    **dict.fromkeys(("estimator", "model", "predictor"), "learner"),
    **dict.fromkeys(("scaler", "preprocessor", "preprocessing", "encoder", "imputer"), "transformer"),
    **dict.fromkeys(("feature_selector", "feature_selection", "filter", "extractor"), "selector"),
    **dict.fromkeys(("measure", "score", "scorer", "scoring", "objective", "loss"), "metric"),
}
_CALLS = {
    "strategy": {
        **dict.fromkeys(("random_search", "randomized", "RandomizedSearchCV", "RandomSampler"), "random"),
        **dict.fromkeys(("grid_search", "GridSearchCV", "exhaustive", "GridSampler", "brute_force"), "grid"),
        **dict.fromkeys(("genetic", "ga", "evolution", "evolutionary", "GA", "tpot", "TPOTClassifier"), "occam_ga"),
        **dict.fromkeys(("nsga2", "NSGAIISampler", "nsga_ii", "NSGA2", "moea"), "cmdpso"),
        **dict.fromkeys(("particle_swarm", "swarm"), "pso"),
        **dict.fromkeys(("hyperband", "successive_halving", "HalvingRandomSearchCV", "sha"), "halving"),
        **dict.fromkeys(("pattern_search", "local", "hill_climbing", "nelder_mead", "coordinate_descent"), "pattern"),
        **dict.fromkeys(("simulated_annealing", "annealing", "anneal", "local_search"), "pattern"),
        **dict.fromkeys(("cma_es", "cmaes", "CmaEsSampler", "differential_evolution", "de", "PSO"), "pso"),
        **dict.fromkeys(
            ("bayes", "bayesian", "bayesian_optimization", "BayesSearchCV", "bo", "gp", "GPSampler"), "auto"
        ),
        **dict.fromkeys(("tpe", "TPE", "TPESampler", "optuna", "hyperopt", "smac", "SMAC", "mbo", "skopt"), "auto"),
        **dict.fromkeys(("enqueue", "enqueue_trial", "warm_start", "warmstart", "points_to_evaluate"), "start"),
        **dict.fromkeys(("initial_configurations", "initial_points", "low_cost_partial_config"), "start"),
        **dict.fromkeys(("fmin", "gp_minimize", "bohb", "BOHB", "autosklearn", "flaml", "default"), "auto"),
    },
    "estimate": {
        **dict.fromkeys(("kfold", "k_fold", "cross_validation", "crossval", "cross_val", "xval", "folds"), "cv"),
        **dict.fromkeys(("KFold", "StratifiedKFold", "RepeatedKFold", "RepeatedStratifiedKFold"), "cv"),
        **dict.fromkeys(("GroupKFold", "StratifiedGroupKFold", "TimeSeriesSplit"), "cv"),
        **dict.fromkeys(("cross_val_score", "cross_validate", "cross_val_predict"), "cv"),
        **dict.fromkeys(("train_test_split", "split", "validation", "test", "hold_out"), "holdout"),
        **dict.fromkeys(("ShuffleSplit", "StratifiedShuffleSplit", "PredefinedSplit"), "holdout"),
        **dict.fromkeys(("leave_one_out", "LeaveOneOut", "loocv"), "loo"),
        **dict.fromkeys(("bootstrap", "Bootstrap"), "bootstrap632"),
    },
    "combiner": {
        **dict.fromkeys(("voting", "VotingClassifier", "VotingRegressor", "average", "bagging", "top"), "vote"),
        **dict.fromkeys(("mean", "median", "majority", "soft", "hard", "committee", "blend", "averaging"), "vote"),
        **dict.fromkeys(("caruana", "ensemble_selection", "EnsembleSelection", "weighted"), "greedy"),
        **dict.fromkeys("stacking StackingClassifier StackingRegressor blending super_learner".split(), "stack"),
    },
}
#: Stacks of other tools as steps of a chain: these are searched like any other model.
_STACKING = frozenset("StackingClassifier StackingRegressor blending super_learner".split())
#: Options of other tools, and the options here.
_OPTIONS = {
    "cv": {
        **dict.fromkeys(("n_splits", "k", "n", "n_folds", "nfolds", "cv", "splits"), "folds"),
        **dict.fromkeys(("n_repeats", "times", "repetitions"), "repeats"),
    },
    "holdout": dict.fromkeys(("test_size", "test", "size", "fraction", "frac", "ratio", "validation_size"), "share"),
    "bootstrap632": dict.fromkeys(("n", "b", "B", "n_iterations", "repeats", "n_resamples"), "samples"),
    "stack": {
        **dict.fromkeys(("final_estimator", "meta", "meta_learner", "final_learner", "level1"), "final"),
        **dict.fromkeys(("top", "n", "size", "members"), "max"),
    },
    "greedy": {
        **dict.fromkeys(("top", "n", "size", "members", "ensemble_nbest"), "max"),
        **dict.fromkeys(("ensemble_size", "n_iterations", "iterations", "rounds"), "steps"),
    },
    "random": dict.fromkeys(("n_iter", "n_trials", "trials", "n", "iterations", "max_evals", "n_calls"), "evaluations"),
    "grid": dict.fromkeys(("n", "points", "resolution", "num"), "steps"),
    "pso": {
        **dict.fromkeys(("particles", "n_particles", "population", "swarm_size", "size", "pop_size"), "swarm"),
        **dict.fromkeys(("n_iter", "n_iterations", "generations", "iters", "max_iter"), "iterations"),
    },
    "vote": dict.fromkeys(("n", "k", "best", "size", "members", "n_estimators"), "top"),
    "best_first": dict.fromkeys(("n", "k", "size", "members", "n_estimators", "max_size"), "max"),
    "budget": {
        **dict.fromkeys(
            ("n_trials", "trials", "max_evals", "n_iter", "iterations", "n_calls", "max_iter", "models"), "evaluations"
        ),
        **dict.fromkeys(
            ("timeout", "max_time", "time_limit", "seconds", "duration", "time_budget", "wall_time"), "time"
        ),
        **dict.fromkeys(("per_run_time_limit", "trial_timeout", "eval_timeout", "each_time"), "each"),
        **dict.fromkeys(("memory_limit", "mem", "max_memory", "ram", "mem_limit"), "memory"),
        **dict.fromkeys(("tol", "target", "goal", "stop", "threshold"), "until"),
    },
    "data": {
        **dict.fromkeys(("y", "label", "class", "response", "outcome", "output", "target_column"), "target"),
        **dict.fromkeys(("drop", "exclude", "skip", "drop_columns", "id"), "ignore"),
        **dict.fromkeys(("na_values", "na", "nan", "null", "missing_values"), "missing"),
        **dict.fromkeys(("categories", "nominal", "categorical_features", "cat_features", "symbolic"), "categorical"),
        **dict.fromkeys(("numerical", "continuous", "numeric_features"), "numeric"),
        **dict.fromkeys(("ordinal", "ordinal_features", "ordered_categories", "orders", "levels", "ranks"), "ordered"),
        **dict.fromkeys(("sep", "delimiter"), "separator"),
        **dict.fromkeys(("group", "subject"), "groups"),
        **dict.fromkeys(("folds", "fold_column", "fold_col", "test_fold", "split", "splits"), "fold"),
        **dict.fromkeys(("time", "date", "sort"), "order"),
        **dict.fromkeys(("weights", "sample_weight", "sample_weights", "weight_column", "case_weight"), "weight"),
        **dict.fromkeys(("pos_label", "positive_class"), "positive"),
    },
}
#: Arguments of scikit-learn classes that are not parameters here, and what to do instead.
_EVERYWHERE = {
    **dict.fromkeys(("random_state", "seed", "random_seed"), "leave it out: `seed 7` is the source of all randomness"),
    **dict.fromkeys(
        ("n_jobs", "nthread", "num_threads"),
        "leave it out: `msl run --jobs` sets how many models are evaluated in parallel",
    ),
    **dict.fromkeys(("verbose", "verbosity", "silent"), "leave it out: `msl run` shows its progress"),
}


#: Functions of other tools whose alternatives have an order.
_ORDERS = frozenset("ordinal ordered Ordinal OrdinalHyperparameter ordered_choice".split())


def domain_meant(value: ast.Expression, source: Source) -> str | None:
    """The domain that a value was meant as: `loguniform(1e-3, 1)` is `1e-3..1 log`."""
    match value:
        case ast.Arithmetic(operators=("-",), operands=(ast.Number() as low, ast.Number() as high)):
            return f"{low.text}..{high.text}"
        case ast.Arithmetic(operators=operators, operands=operands) if set(operators) == {"/"}:
            if all(isinstance(operand, ast.Path | ast.String) for operand in operands):
                return " | ".join(source.slice(operand.span) for operand in operands)
        case ast.Path(names=(name,)) if name.text in ("boolean", "Boolean", "flag", "Bool"):
            return "bool"
        case ast.Call(path=ast.Path(names=(name,)), arguments=(ast.Argument(key=None, value=ast.Range() as inner),)):
            if name.text in ("log", "Log", "log10"):
                return f"{source.slice(inner.span)} log"
        case ast.Call(path=ast.Path(names=names), arguments=arguments) if names[-1].text in _ORDERS and arguments:
            listed = arguments[0].value
            items = listed.items if isinstance(listed, ast.ListOf) else [argument.value for argument in arguments]
            sign = " | " if all(isinstance(item, ast.Number) for item in items) else " < "
            return sign.join(source.slice(item.span) for item in items)
        case ast.Call(path=ast.Path(names=(ast.Name(text="normal" | "lognormal"),)), arguments=(_, _)):
            return f"real …..… {source.slice(value.span)}"
        case ast.Call(path=path, arguments=arguments):
            return _drawn(path, arguments, source)
    return None


def _drawn(path: ast.Path, arguments: tuple[ast.Argument, ...], source: Source) -> str | None:
    """The domain that a function of another tool draws from."""
    name = path.names[-1].text
    values = [argument.value for argument in arguments if argument.key is None]
    if name in CHOICES:
        listed = next((argument.value for argument in arguments if isinstance(argument.value, ast.ListOf)), None)
        items = listed.items if isinstance(listed, ast.ListOf) else tuple(values)
        return " | ".join(source.slice(item.span) for item in items) or None
    ends = [argument.value for argument in arguments if _number(argument.value) is not None]
    if name not in RANGES or len(ends) < 2:
        return None
    low, high = ends[:2]
    values_of = (_number(low) or 0.0, _number(high) or 0.0)
    is_log = any(_has_log(argument) for argument in arguments)
    names = tuple(each.text for each in path.names)
    return range_meant(names, (source.slice(low.span), source.slice(high.span)), values_of, is_log)


def _number(value: ast.Expression) -> float | None:
    match value:
        case ast.Number(value=number, unit=None):
            return float(number)
        case ast.Negative(operand=ast.Number(value=number, unit=None)):
            return -float(number)
    return None


def _has_log(argument: ast.Argument) -> bool:
    return argument.key is not None and argument.key.text == "log" and argument.value == ast.Boolean(True)


def step_meant(call: ast.Call, source: Source) -> str | None:
    """The steps that a function of another tool joins: `choice(a, b)` is `a | b`, `make_pipeline(a, b)` `a >> b`."""
    name = call.path.names[-1].text
    values = [argument.value for argument in call.arguments if argument.key is None]
    listed = next((value for value in values if isinstance(value, ast.ListOf)), None)
    steps = [source.slice(step.span) for step in (listed.items if listed is not None else tuple(values))]
    if name in _OPTIONAL and len(steps) == 1:
        return f"{steps[0]}?"
    sign = "|" if name in CHOICES else JOINS.get(name)
    if sign is None or not steps or any(isinstance(value, ast.String) for value in values):
        return None
    joined = f" {sign} ".join(steps)
    before = source.text[max(call.span.start - _NEAR, 0) : call.span.start].rstrip()
    after = source.text[call.span.end : call.span.end + _NEAR].lstrip()
    among_others = before.endswith((">>", "|", "&")) or after.startswith((">>", "|", "&"))
    return f"({joined})" if among_others and len(steps) > 1 else joined


def joined_by(name: str) -> str | None:
    """How to join steps that a class of scikit-learn joins."""
    sign = JOINS.get(name)
    if sign == ">>":
        return "write its steps with `>>` between them: `standardize >> svc`"
    if sign == "&":
        return "write its branches with `&` between them: `pca & standardize`"
    if name in CHOICES:
        return "write the alternatives with `|` between them: `svc | rf`"
    return "an optional step is followed by `?`: `standardize?`" if name in _OPTIONAL else None


_STATEMENTS = {"strategy": "search {}", "estimate": "minimize ber by {}", "combiner": "ensemble {}"}


def statement_meant(name: str) -> str | None:
    """The statement for a class of another tool that is not a step: `GridSearchCV` is `search grid`."""
    if name[:1].islower() or name.isupper():
        return None
    for role, statement in _STATEMENTS.items():
        if name in _CALLS[role]:
            return f"that is a statement: `{statement.format(_CALLS[role][name])}`"
    return None


def option_meant(owner: str, name: str) -> str | None:
    """The option that another tool calls by this name."""
    return _OPTIONS.get(owner, {}).get(name)


def argument_meant(name: str) -> str | None:
    """What to do instead of an argument that many classes of scikit-learn take."""
    return _EVERYWHERE.get(name)


def value_meant(name: str, is_new: bool = False) -> str | None:
    """`true`, `false` or `none` as other languages write them; with `is_new`, only Python's spellings."""
    if is_new and name not in ("True", "False", "None"):
        return None
    return _VALUES.get(name.casefold())


def role_meant(name: str) -> str | None:
    return _ROLES.get(name)


def call_meant(role: str, name: str) -> str | None:
    """The help for a strategy, estimate or ensemble that other tools call by this name."""
    meant = _CALLS[role].get(name)
    return None if meant is None else f"did you mean `{meant}`?"


# --- classes and methods of other packages, and their blocks ----------------------------------------------------------


_CLASS = re.compile(r'"[\w.]+:(\w+)(\*?)"')
#: Common names of methods, and the block of the catalogue `sklearn`.
_NICKNAMES = {
    **dict.fromkeys(("logreg", "logit", "lr", "maxent"), "logistic"),
    **dict.fromkeys(("gbm", "gbdt", "gbt", "boosting"), "gradient_boosting"),
    **dict.fromkeys(("hgb", "hist_gbm", "hgbt"), "hist_gradient_boosting"),
    **dict.fromkeys(("cart", "tree", "dt"), "decision_tree"),
    **dict.fromkeys(("forest",), "random_forest"),
    **dict.fromkeys(("nn", "neural_network", "neural_net", "dense"), "mlp"),
    **dict.fromkeys(("ols", "least_squares", "lm"), "linear_regression"),
    **dict.fromkeys(("scaler", "zscore", "z_score"), "standard_scaler"),
    **dict.fromkeys(("imputer", "imputation"), "impute"),
    **dict.fromkeys(("gnb", "nb"), "gaussian_nb"),
    **dict.fromkeys(("svd", "lsa"), "truncated_svd"),
    **dict.fromkeys(("gaussian_process", "kriging"), "gp_regressor"),
    **dict.fromkeys(("baseline", "constant", "majority"), "dummy_classifier"),
}
#: Classes of other packages, and the module of each.
_ELSEWHERE = {
    **dict.fromkeys(("TabPFNClassifier", "TabPFNRegressor"), "tabpfn"),
    **dict.fromkeys(("ExplainableBoostingClassifier", "ExplainableBoostingRegressor"), "interpret.glassbox"),
}
_PACKAGES = {"tabpfn": "TabPFNClassifier"}
#: What the libraries behind the blocks of the catalogue `boosting` call them.
_OF_BOOSTING = {
    **dict.fromkeys(("xgb", "xgbclassifier", "xgbregressor"), "xgboost"),
    **dict.fromkeys(("lgbm", "lgb", "lgbmclassifier", "lgbmregressor", "light_gbm"), "lightgbm"),
    **dict.fromkeys(("catboostclassifier", "catboostregressor", "cat_boost"), "catboost"),
}
_TASKS = {"Classifier": " for classification", "Regressor": " for regression"}
_CAMEL = re.compile(r"[A-Z]+[a-z0-9]+[A-Z]\w*|[A-Z]\w*(?:Classifier|Regressor)")


def exact_class(module: Module, name: str) -> str | None:
    """What to write for a class, by its exact name: `LogisticRegression` is `logistic`."""
    return _written(module, name, lambda known: known == name)


def class_in_other_letters(module: Module, name: str) -> str | None:
    """The same for a class in another spelling, `logistic_regression`, or for a common name of a method."""
    folded = _folded(name)
    nickname = _NICKNAMES.get(folded) or _NICKNAMES.get(name.casefold())
    if nickname is not None:
        return _of_catalogue(module, nickname, "sklearn", "")
    return _written(module, name, lambda known: _folded(known) == folded)


def class_of_another_tool(module: Module, name: str) -> str | None:
    """The help for a class without a block: it is a statement here, it is misspelt, or it can be declared."""
    if name in _STACKING:
        block = _of_catalogue(module, "stacking", "compose", ", with `estimators: [a, b]`")
        return f"{block}; for a stack of the best models of a search write `ensemble stack`"
    if (statement := statement_meant(name)) is not None:
        return statement
    if (boosting := _OF_BOOSTING.get(name.casefold())) is not None:
        return _of_catalogue(module, boosting, "boosting", "")
    name = _PACKAGES.get(name.casefold(), name)
    if name in _ELSEWHERE:
        return _declared(name, _ELSEWHERE[name])
    if not _CAMEL.fullmatch(name):
        return None
    classes = {
        known: (block, catalogue) for catalogue in _in_order(module) for known, block in _blocks(catalogue).items()
    }
    meant = closest(name, classes, 1)
    if meant and abs(len(meant[0]) - len(name)) <= 2 and _stem(meant[0])[:3] == _stem(name)[:3]:
        return _of_catalogue(module, *classes[meant[0]], f", the block of `{meant[0]}`")
    return _declared(name, "package.module")


def _written(module: Module, name: str, fits: object) -> str | None:
    for catalogue in _in_order(module):
        for known, block in _blocks(catalogue).items():
            if fits(known):  # type: ignore[operator]
                return _of_catalogue(module, block, catalogue, ", the block of that class")
    return None


def _of_catalogue(module: Module, block: str, catalogue: str, what: str) -> str:
    if catalogue in _used(module):
        return f"write `{block}`{what}"
    return f"write `{block}`{what}, and add `use {catalogue}`"


def _declared(name: str, where: str) -> str:
    stem, task = name, ""
    for ending, words in _TASKS.items():
        if name.endswith(ending):
            stem, task = name.removesuffix(ending), words
    block = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", stem).lower()
    return f'no catalogue has this class: declare it with `block {block}: learner{task} "{where}:{name}" {{ … }}`'


def _in_order(module: Module) -> list[str]:
    """The catalogues: those in use first, then `sklearn`, whose names are best known."""
    used = _used(module)
    return sorted(catalogues.names(), key=lambda name: (name not in used, name != "sklearn", name))


def _used(module: Module) -> set[str]:
    return {used.origin.partition(" ")[0] for used in module.uses.values()}


def _folded(name: str) -> str:
    return name.replace("_", "").casefold()


def _stem(name: str) -> str:
    return re.sub("(Classifier|Regressor|Regression)$", "", name).casefold()


@cache
def _blocks(catalogue: str) -> dict[str, str]:
    """The blocks of a catalogue by the names of their classes; a block for both tasks has two."""
    text = catalogues.text(catalogue, catalogues.versions(catalogue)[-1])
    found: dict[str, str] = {}
    for piece in catalogues.pieces(text):
        target = _CLASS.search(text, piece.start, piece.end)
        if piece.kind == "block" and target is not None:
            for ending in ("Classifier", "Regressor") if target[2] else ("",):
                found.setdefault(target[1] + ending, piece.name)
    return found


# --- metrics of other tools -------------------------------------------------------------------------------------------


_NAMES = {
    "error": "error_rate zero_one_loss misclassification",
    "accuracy": "acc accuracy_score f1_micro precision_micro recall_micro",
    "balanced_accuracy": "balanced_accuracy_score bac",
    "precision": "precision_score precision_macro",
    "recall": "recall_score recall_macro sensitivity tpr",
    "average_precision": "average_precision_score pr_auc auprc",
    "brier": "brier_score brier_score_loss neg_brier_score",
    "ece": "calibration calibration_error expected_calibration_error",
    "mape": "mean_absolute_percentage_error neg_mean_absolute_percentage_error MAPE",
    "ber": "balanced_error balanced_error_rate",
    "logloss": "log_loss neg_log_loss cross_entropy crossentropy nll deviance",
    "balanced_logloss": "balanced_log_loss",
    "kappa": "cohen_kappa cohen_kappa_score cohens_kappa",
    "auc": "roc_auc roc_auc_score roc_auc_ovr auroc AUC",
    "f1": "f1_score f1_macro macro_f1 F1 fscore f_score",
    "f1_weighted": "weighted_f1",
    "mcc": "matthews matthews_corrcoef phi",
    "pinball": "mean_pinball_loss quantile_loss",
    "mse": "mean_squared_error neg_mean_squared_error squared_error l2 MSE",
    "rmse": "root_mean_squared_error neg_root_mean_squared_error RMSE",
    "median_absolute_error": "neg_median_absolute_error medae MedAE",
    "max_error": "neg_max_error maximum_error",
    "msle": "mean_squared_log_error neg_mean_squared_log_error",
    "rmsle": "root_mean_squared_log_error neg_root_mean_squared_log_error RMSLE",
    "explained_variance": "explained_variance_score",
    "mae": "mean_absolute_error neg_mean_absolute_error absolute_error l1 MAE",
    "r2": "r2_score R2 r_squared rsquared",
    "features": "n_features number_of_features",
    "fit_time": "time training_time train_time",
    "predict_time": "latency inference_time prediction_time scoring_time score_time pred_time",
    "model_bytes": "model_size memory_size disk_size size_of_model bytes",
}
_OURS = {name: ours for ours, names in _NAMES.items() for name in names.split()}
#: Metrics that do not exist here, and the closest one.
_CLOSE = {
    **dict.fromkeys("specificity jaccard fbeta f2".split(), "f1"),
    **dict.fromkeys("gini ks roc_auc_ovo roc_auc_ovr_weighted roc_auc_ovo_weighted".split(), "auc"),
    **dict.fromkeys("huber smape".split(), "mae"),
    **dict.fromkeys("precision_weighted".split(), "precision"),
    **dict.fromkeys("recall_weighted".split(), "recall"),
    **dict.fromkeys("pearson pearsonr correlation".split(), "r2"),
}


def metric_meant(name: str, alone: bool, is_larger_better: Callable[[str], bool]) -> str | None:
    """What to write for a metric that other tools call by another name; `alone` if it is the only objective."""
    if name in ("make_scorer", "scorer", "custom", "callable"):
        return 'declare the function: `block profit: metric "mine:profit" { larger_is_better = true }`'
    ours = _OURS.get(name)
    if ours is not None:
        word = "maximize" if is_larger_better(ours) else "minimize"
        if alone:
            return f"write `{word} {ours}`"
        return f"write `{ours}`"
    return f"there is none of that name; the closest is `{_CLOSE[name]}`" if name in _CLOSE else None
