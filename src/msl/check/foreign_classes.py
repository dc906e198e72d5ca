"""Foreign classes: names of classes and of methods that people know from elsewhere, and the blocks that are meant."""

from __future__ import annotations

import re
from functools import cache

from msl.check import catalogues
from msl.check.foreign import statement_meant
from msl.check.library import Module
from msl.text.suggest import closest

_CLASS = re.compile(r'"[\w.]+:(\w+)(\*?)"')
#: Names of methods that no class has, and the block of the catalogue `sklearn`.
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
    **dict.fromkeys(("XGBClassifier", "XGBRegressor"), "xgboost"),
    **dict.fromkeys(("LGBMClassifier", "LGBMRegressor"), "lightgbm"),
    **dict.fromkeys(("CatBoostClassifier", "CatBoostRegressor"), "catboost"),
    **dict.fromkeys(("TabPFNClassifier", "TabPFNRegressor"), "tabpfn"),
    **dict.fromkeys(("ExplainableBoostingClassifier", "ExplainableBoostingRegressor"), "interpret.glassbox"),
}
_PACKAGES = {"xgboost": "XGBClassifier", "xgb": "XGBClassifier", "lightgbm": "LGBMClassifier", "lgbm": "LGBMClassifier"}
_PACKAGES |= {"catboost": "CatBoostClassifier", "tabpfn": "TabPFNClassifier"}
_TASKS = {"Classifier": " for classification", "Regressor": " for regression"}
_CAMEL = re.compile(r"[A-Z]+[a-z0-9]+[A-Z]\w*|[A-Z]\w*(?:Classifier|Regressor)")


def exact_class(module: Module, name: str) -> str | None:
    """What to write for a class, called by its very name: `LogisticRegression` is `logistic`."""
    return _written(module, name, lambda known: known == name)


def class_in_other_letters(module: Module, name: str) -> str | None:
    """The same for a name that is a class in other letters, `logistic_regression`, or one that everybody uses."""
    folded = _folded(name)
    nickname = _NICKNAMES.get(folded) or _NICKNAMES.get(name.casefold())
    if nickname is not None:
        return _of_catalogue(module, nickname, "sklearn", "")
    return _written(module, name, lambda known: _folded(known) == folded)


def foreign_class(module: Module, name: str) -> str | None:
    """What to say of a class that no block has: a statement says the same, it is misspelt, or it can be declared."""
    if (statement := statement_meant(name)) is not None:
        return statement
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
    return f'no catalogue has that class: declare it with `block {block}: learner{task} "{where}:{name}" {{ … }}`'


def _in_order(module: Module) -> list[str]:
    """The catalogues, those in use first, then scikit-learn's, whose names people know."""
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
    """The blocks of a catalogue by the names of their classes; one for both tasks has two."""
    text = catalogues.text(catalogue, catalogues.versions(catalogue)[-1])
    found: dict[str, str] = {}
    for piece in catalogues.pieces(text):
        target = _CLASS.search(text, piece.start, piece.end)
        if piece.kind == "block" and target is not None:
            for ending in ("Classifier", "Regressor") if target[2] else ("",):
                found.setdefault(target[1] + ending, piece.name)
    return found
