"""Starter: from a table to a commented spec that runs on it as it is — somewhere to start editing."""

from __future__ import annotations

import numpy as np

from msl.evaluate.table import Table
from msl.evaluate.target import spell_label
from msl.space.spell_word import spell_name, spell_text
from msl.syntax.format import format_source
from msl.text.source import Source

#: From so many rows on, one split says enough and folds cost too much.
_MANY_ROWS = 20_000
#: From so many features on it is worth trying fewer.
_MANY_FEATURES = 20
_LEARNERS = {
    "classification": ("logistic", "svm", "k_neighbors", "random_forest", "hist_gradient_boosting"),
    "regression": ("ridge", "svr", "k_neighbors", "random_forest", "hist_gradient_boosting"),
}
_MEASURES = {
    "classification": ("ber", "the mean of the classes' error rates; others: error, logloss, auc, f1, mcc"),
    "regression": ("rmse", "the root of the mean squared error; others: mse, mae, r2"),
}
#: The warning of a column of numbers with a word among them, which makes symbols of them, each a different one.
_WORDS_AMONG_NUMBERS = "MSL337"
#: Warnings of columns that no model can learn from.
_USELESS = {"MSL333": "constant", "MSL334": "empty", "MSL335": "an identifier"}


def starting_spec(table: Table, spec: str, data: str) -> str:
    """The text of a spec for a table; `spec` and `data` are how the user names the two files, each on one line."""
    measure, meaning = _MEASURES[table.task]
    facts = table.facts
    select = "pca?  # fewer columns, or all of them" if facts.n_features >= _MANY_FEATURES else ""
    steps = ["standard_scaler(rest = default)?  # `?`: or nothing", *([select] if select else []), "learn"]
    chain = "\n  >> ".join(steps)
    lines = [
        f"# A first spec for {data}: {facts.n_samples:,} rows, {facts.n_features} features, {_target(table)}.",
        *_about_columns(table),
        "#",
        "# To see the space, to search it, and to see what else could stand in it:",
        f"#   msl info {spec} --data {data}",
        f"#   msl run {spec} {data}",
        "#   msl blocks",
        "msl 1",
        "use sklearn",
        "",
        *_data(table),
        "",
        "# A bare name opens every parameter that the block declares; with `rest = default`, only those that are named",
        "# are open, as in `k_neighbors(n_neighbors: int 1..20, rest = default)`.",
        f"part learn =\n  {' | '.join(_LEARNERS[table.task])}",
        "",
        f"chain model =\n  {chain}",
        "",
        f"# {measure}: {meaning}.",
        f"minimize {measure} by {_estimate(table)}",
        "",
        *_search(table),
        "budget(time = 2min, each = 20s)  # of the run; of one model",
        "seed 0",
    ]
    text, problems = format_source(Source(spec, "\n".join(lines) + "\n"))
    assert not problems
    return text


def _target(table: Table) -> str:
    name = _one_line(table.target)
    if table.task == "regression":
        return f"regression of `{name}`"
    shown = ", ".join(_one_line(spell_label(label)) for label in table.classes[:5])
    more = ", …" if len(table.classes) > 5 else ""
    return f"classification of `{name}` ({shown}{more})"


def _about_columns(table: Table) -> list[str]:
    facts = table.facts
    said = []
    if facts.symbolic:
        said.append(f"{len(facts.symbolic)} with symbols, which are encoded where a block needs numbers")
    if facts.incomplete:
        said.append(f"{len(facts.incomplete)} with missing values, which are filled in where a block cannot take them")
    return [f"# Among the features are {one}." for one in said]


def _data(table: Table) -> list[str]:
    """What was understood of the table, to be corrected; columns without use are left out, with the reason."""
    options = [f"target = {spell_name(table.target)}", f"task = {table.task}"]
    mistaken = {each.column: each for each in table.warnings if each.code == _WORDS_AMONG_NUMBERS}
    useless = {
        problem.column: _USELESS[problem.code]
        for problem in table.warnings
        if problem.code in _USELESS and problem.column is not None and problem.column not in mistaken
    }
    kept = [name for name in table.names if name not in useless]
    hints = [f"# {_one_line(each.message)}; {_one_line(each.help)}." for each in mistaken.values()]
    if not useless or not kept:
        return [*hints, f"data({', '.join(options)})"]
    reasons = [f"# `{_one_line(name)}` is left out: it looks like {why}." for name, why in useless.items()]
    ignored = ", ".join(spell_text(name) for name in useless)
    return [*hints, *reasons, f"data({', '.join(options)}, ignore = [{ignored}])"]


def _estimate(table: Table) -> str:
    """Five folds, fewer where a class is tiny, one split where there are very many rows."""
    if len(table) >= _MANY_ROWS:
        return "holdout(0.3)"
    assert table.y is not None
    smallest = int(np.bincount(table.y).min()) if table.task == "classification" else len(table)
    return f"cv(folds = {min(5, max(2, smallest), len(table))})"


def _search(table: Table) -> list[str]:
    """A vote is better than the best model alone on most tables (docs/results.md); of very many rows it takes long."""
    search = [
        "# Some models anywhere, each learner among them, then searches that share the evaluations by what each gains.",
        "search auto(evaluations = 100)",
    ]
    if len(table) >= _MANY_ROWS:
        return search
    about = [
        "# The 15 best models vote, which costs no further evaluation. Without this line the best one alone is the",
        "# answer: on most tables a little worse, but smaller and easier to explain.",
    ]
    return [*search, "", *about, "ensemble vote(top = 15)", ""]


def _one_line(text: str) -> str:
    """A name as a comment can hold it."""
    return " ".join(text.split())
