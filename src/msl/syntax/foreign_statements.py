"""Foreign statements: lines that begin with a word of another tool or language, and what MSL writes for them."""

from __future__ import annotations

import re

from lark import Token

from msl.syntax.literals import MEANT_UNIT
from msl.syntax.tokens import token_span
from msl.text.diagnostic import Diagnostic, Label, Severity
from msl.text.source import Source

#: Words that other languages start such statements with, and the keyword.
KEYWORDS = {
    "include": "use",
    "import": "use",
    "let": "part",
    "var": "part",
    "const": "part",
    "pipeline": "chain",
    "model": "chain",
    "space": "chain",
    "search_space": "chain",
    "constraint": "require",
    "requirement": "require",
    "condition": "require",
    "assert": "require",
    "ensure": "require",
    "minimise": "minimize",
    "maximise": "maximize",
    "objective": "minimize",
    "optimize": "minimize",
    "optimise": "minimize",
    "strategy": "search",
    "algorithm": "search",
    "optimizer": "search",
    "sampler": "search",
    "limit": "budget",
    "limits": "budget",
    "random_state": "seed",
    "random_seed": "seed",
}
#: Words that say what one option of a statement says, and that statement.
_OPTIONS = {
    **dict.fromkeys("target label y response outcome".split(), "data(target = {})"),
    "task": "data(task = {})",
    "positive": "data(positive = {})",
    **dict.fromkeys("drop ignore".split(), "data(ignore = [{}])"),
    **dict.fromkeys("groups group".split(), "data(groups = {})"),
    **dict.fromkeys("metric measure loss scoring score criterion eval_metric".split(), "minimize {}"),
    **dict.fromkeys("cv folds n_splits n_folds cross_validation".split(), "minimize ber by cv({})"),
    **dict.fromkeys("holdout test_size validation_split".split(), "minimize ber by holdout({})"),
    **dict.fromkeys("timeout time max_time time_limit time_budget duration walltime".split(), "budget(time = {})"),
    **dict.fromkeys(
        "n_trials trials evaluations max_evals n_iter max_iter iterations n_calls num_samples".split(),
        "budget(evaluations = {})",
    ),
    **dict.fromkeys("memory mem memory_limit".split(), "budget(memory = {})"),
    **dict.fromkeys("forbid exclude reject forbidden prohibit disallow".split(), "require not ({})"),
}
#: Words of Python that nothing here corresponds to, and what to do without them.
_WITHOUT = {
    **dict.fromkeys(
        "for while".split(), "there are no loops: join alternatives with `|`, repeat a step with `repeat(step, 0..3)`"
    ),
    **dict.fromkeys(
        "def return yield lambda".split(),
        "there are no functions: `part name = …` names a piece of a space, `chain model = …` the whole of it",
    ),
    **dict.fromkeys("print fit predict".split(), "remove it: `msl run` and `msl predict` do what a program would"),
    "class": 'to declare a block of a class write `block name: learner "module:Class" { … }`',
}
_IMPORT = re.compile(r"from\s+([\w.]+)\s+import\b|import\s+([\w.]+)(\s+as\b)?")
_PYTHON = frozenset(
    "numpy pandas scipy sklearn optuna hyperopt xgboost lightgbm catboost torch tensorflow ray os".split()
)


def foreign_statement(source: Source, tokens: list[Token]) -> Diagnostic | None:
    """The answer to a statement that begins with a word of another tool; what is underlined is what it replaces."""
    word = str(tokens[0])
    if word in ("from", "import"):
        return _import(source, tokens)
    span = token_span(tokens[0]).to(token_span(tokens[-1]))
    if word in _WITHOUT:
        where = Label(source, token_span(tokens[0]), "")
        return Diagnostic("MSL007", Severity.ERROR, f"`{word}` does not start a statement", where, help=_WITHOUT[word])
    template = _OPTIONS.get(word)
    has_sign = len(tokens) > 1 and tokens[1].type in {"EQUALS", "COLON"}
    rest = tokens[2 if has_sign else 1 :]
    if template is None or not rest or token_span(rest[-1]).end - token_span(rest[0]).start > 200:
        return None
    value = " ".join(source.slice(token_span(rest[0]).to(token_span(rest[-1]))).split())
    if len(rest) == 1 and rest[0].type in {"STRING", "QUOTED"} and value.strip("\"'").isidentifier():
        value = value.strip("\"'")
    if "time = " in template:
        value = _with_unit(rest, value)
    help = f"write `{template.format(value)}`"
    return Diagnostic(
        "MSL036", Severity.ERROR, f"`{word}` does not start a statement", Label(source, span, ""), help=help
    )


def _with_unit(rest: list[Token], value: str) -> str:
    """A duration, in seconds where no unit is given, as other tools take it."""
    if len(rest) == 2 and str(rest[1]).lower() in MEANT_UNIT:
        return f"{rest[0]}{MEANT_UNIT[str(rest[1]).lower()]}"
    return f"{value}s" if value.replace("_", "").isdigit() else value


def _import(source: Source, tokens: list[Token]) -> Diagnostic | None:
    """`from sklearn.svm import SVC`, `import numpy as np`: a spec imports nothing, it uses catalogues and files."""
    line = source.line_span(source.position(token_span(tokens[0]).start).line)
    match = _IMPORT.match(source.text, token_span(tokens[0]).start, line.end)
    if match is None:
        return None
    package = (match[1] or match[2]).partition(".")[0]
    if match[1] is None and package not in _PYTHON and "." not in match[2]:
        return None
    span = token_span(tokens[0]).to(token_span(tokens[-1]))
    message = "a spec imports nothing: it uses catalogues and `.msl` files"
    if package in ("sklearn", "clop", "sbm", "kms", "rbf"):
        help = f"write `use {package}`"
        return Diagnostic("MSL036", Severity.ERROR, message, Label(source, span, ""), help=help)
    help = 'remove it; a class of another package is declared by `block name: learner "package.module:Class" { … }`'
    return Diagnostic("MSL007", Severity.ERROR, message, Label(source, span, ""), help=help)
