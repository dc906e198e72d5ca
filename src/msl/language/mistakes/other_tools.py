"""Rules for the syntax of other tools: domains as function calls, settings, imports, pipelines as lists."""

from __future__ import annotations

import math
import re

from lark import Token

from msl.diagnostics.diagnostic import Diagnostic, Label, Severity
from msl.diagnostics.source import Source, Span
from msl.language.literals import MEANT_UNIT, spelt
from msl.language.mistakes.unreadable import UnreadableStatement
from msl.language.tokens import token_span

_LOG = ("loguniform", "log_uniform", "suggest_loguniform", "qloguniform", "logspace", "reciprocal", "lograndint")
#: Functions that draw a number between two others, and what follows the range.
RANGES = {
    **dict.fromkeys(("uniform", "suggest_float", "suggest_uniform", "float", "Real", "Float", "quniform"), ""),
    **dict.fromkeys(("UniformFloatHyperparameter", "UniformIntegerHyperparameter", "linspace", "uniformint"), ""),
    **dict.fromkeys(("randint", "suggest_int", "range", "Integer", "int", "between", "interval", "arange"), ""),
    **dict.fromkeys(_LOG, " log"),
}
#: Functions that choose one of several values.
CHOICES = frozenset(
    "choice choices pchoice categorical Categorical suggest_categorical one_of oneof CategoricalHyperparameter "
    "OrdinalHyperparameter Ordinal grid_search sample_from".split()
)
_RAISED = {"logspace": 10.0}


def range_meant(path: tuple[str, ...], ends: tuple[str, str], values: tuple[float, float], is_log: bool) -> str:
    """The range that such a function draws from: `loguniform(1e-3, 1)` is `1e-3..1 log`.

    `hp.loguniform` of hyperopt takes the logarithms of the ends, `logspace` of NumPy the powers of ten.
    """
    *qualifiers, name = path
    base = math.e if qualifiers[-1:] == ["hp"] and name in _LOG else _RAISED.get(name)
    if base is not None and all(abs(value) < 300 for value in values):
        ends = tuple(_rounded(base**value) for value in values)  # type: ignore[assignment]
    return f"{ends[0]}..{ends[1]}{' log' if is_log or RANGES[name] else ''}"


def _rounded(value: float) -> str:
    """To three significant digits, which is enough for a bound."""
    short = float(f"{value:.3g}")
    return spelt(int(short)) if short.is_integer() and short < 1e6 else spelt(short)


def domain_by_a_call(statement: UnreadableStatement) -> Diagnostic | None:
    """`C: suggest_float("C", 1e-3, 1, log=True)`, `Float("C", bounds=(1e-3, 1))`: a domain is not a call.

    Such a call cannot be parsed if it has an argument `log` or bounds in parentheses.
    """
    opened = next((i for i in range(-1, -statement.failure.index - 1, -1) if _calls_range(statement, i)), None)
    end = statement.closing(opened) if opened is not None else None
    if opened is None or end is None or end < 0:
        return None
    start = opened - 1
    while (dot := statement.near(start - 1)) is not None and dot.type == "DOT":
        start -= 2
    numbers = _numbers(statement, opened + 1, end)
    sign, key = statement.near(start - 1), statement.near(start - 2)
    if len(numbers) < 2 or sign is None or key is None or sign.type not in {"COLON", "EQUALS"}:
        return None
    path = tuple(str(statement.near(at)) for at in range(start, opened, 2))
    is_log = "log=true" in "".join(statement.text(opened, end).lower().split())
    (low, low_value), (high, high_value) = numbers[:2]
    domain = range_meant(path, (low, high), (low_value, high_value), is_log)
    message = "a domain is not a function call"
    span = token_span(key).to(statement.span(start, end))
    return statement.error("MSL035", message, f"write `{key}: {domain}`", span)


def _calls_range(statement: UnreadableStatement, offset: int) -> bool:
    token, name = statement.near(offset), statement.near(offset - 1)
    return token is not None and token.type == "CALL" and str(name) in RANGES


def _numbers(statement: UnreadableStatement, first: int, last: int) -> list[tuple[str, float]]:
    """The numbers between two tokens, each as text and as value."""
    found = []
    for offset in range(first, last):
        token, before = statement.near(offset), statement.near(offset - 1)
        if token is None or token.type != "NUMBER":
            continue
        sign = "-" if before is not None and before.type == "MINUS" else ""
        try:
            found.append((sign + str(token), float(sign + str(token).replace("_", ""))))
        except ValueError:
            continue
    return found


# --- statements that start with a word of another tool ---------------------------------------------------------------


#: Words that start similar statements in other tools, and the keyword here.
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
#: Settings of other tools, and the statement that corresponds.
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
#: Words of Python without a counterpart, and what to do instead.
_WITHOUT = {
    **dict.fromkeys(
        "for while".split(), "there are no loops: join alternatives with `|`, repeat a step with `repeat(step, 0..3)`"
    ),
    **dict.fromkeys(
        "def return yield lambda".split(),
        "there are no functions: `part name = …` names a piece of a space, `chain model = …` the whole space",
    ),
    **dict.fromkeys("print fit predict".split(), "remove it: there are the commands `msl run` and `msl predict`"),
    "class": 'to declare a block of a class write `block name: learner "module:Class" { … }`',
}
_IMPORT = re.compile(r"from\s+([\w.]+)\s+import\b|import\s+([\w.]+)(\s+as\b)?")
_PYTHON = frozenset(
    "numpy pandas scipy sklearn optuna hyperopt xgboost lightgbm catboost torch tensorflow ray os".split()
)


def statement_of_another_tool(source: Source, tokens: list[Token]) -> Diagnostic | None:
    """The diagnostic for a statement that starts with a word of another tool; its help replaces what is underlined."""
    word = str(tokens[0])
    if word in ("from", "import"):
        return _import(source, tokens)
    span = token_span(tokens[0]).to(token_span(tokens[-1]))
    if (own := _declaration_or_start(source, tokens, span)) is not None:
        return own
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


def _declaration_or_start(source: Source, tokens: list[Token], span: Span) -> Diagnostic | None:
    """`start "a.msl"`, `metric profit "mine:profit"`: what stands in a search, and what is declared as a block."""
    kinds, word = [token.type for token in tokens[1:]], str(tokens[0])
    help = None
    if word == "start" and "STRING" in kinds:
        files = ", ".join(str(token) for token in tokens if token.type == "STRING")
        help = f"write `search start({files}) then auto`"
    elif word == "metric" and kinds[:2] == ["NAME", "STRING"]:
        help = f"write `block {tokens[1]}: metric {tokens[2]} {{ larger_is_better = true }}`"
    if help is None:
        return None
    where = Label(source, span, "")
    return Diagnostic("MSL036", Severity.ERROR, f"`{word}` does not start a statement", where, help=help)


def _with_unit(rest: list[Token], value: str) -> str:
    """A duration, in seconds where no unit is given, as other tools take it."""
    if len(rest) == 2 and str(rest[1]).lower() in MEANT_UNIT:
        return f"{rest[0]}{MEANT_UNIT[str(rest[1]).lower()]}"
    return f"{value}s" if value.replace("_", "").isdigit() else value


def _import(source: Source, tokens: list[Token]) -> Diagnostic | None:
    """`from sklearn.svm import SVC`, `import numpy as np`: imports of Python."""
    line = source.line_span(source.position(token_span(tokens[0]).start).line)
    match = _IMPORT.match(source.text, token_span(tokens[0]).start, line.end)
    if match is None:
        return None
    package = (match[1] or match[2]).partition(".")[0]
    if match[1] is None and package not in _PYTHON and "." not in match[2]:
        return None
    span = token_span(tokens[0]).to(token_span(tokens[-1]))
    message = "a spec does not import Python packages: it uses catalogues and `.msl` files"
    if package in ("sklearn", "compose", "clop", "sbm", "kms", "rbf"):
        help = f"write `use {package}`"
        return Diagnostic("MSL036", Severity.ERROR, message, Label(source, span, ""), help=help)
    help = 'remove it; declare a class of another package with `block name: learner "package.module:Class" { … }`'
    return Diagnostic("MSL007", Severity.ERROR, message, Label(source, span, ""), help=help)


# --- pipelines as lists of named steps, and lists with dashes ---------------------------------------------------------


#: Functions of other tools that join steps, and the operator.
JOINS = {
    **dict.fromkeys(("Pipeline", "make_pipeline", "pipeline", "sequential", "Sequential", "make_imb_pipeline"), ">>"),
    **dict.fromkeys(("FeatureUnion", "make_union", "ColumnTransformer", "make_column_transformer", "union"), "&"),
}


def pipeline_of_pairs(statement: UnreadableStatement) -> Diagnostic | None:
    """`Pipeline([("scale", StandardScaler()), ("svc", SVC())])`: steps have no names."""
    if statement.tokens[0].type not in {"PART", "CHAIN"} or statement.token.type != "COMMA":
        return None
    before = range(-1, -statement.failure.index - 1, -1)
    opened = next((i for i in before if _joins(statement, i)), None)
    end = statement.closing(opened) if opened is not None else None
    if opened is None or end is None:
        return None
    at = opened + (2 if str(statement.near(opened + 1)) == "[" else 1)
    steps = []
    while at < end and str(statement.near(at)) == "(":
        closed, first_end = statement.closing(at), statement.item_end(at + 1)
        if closed is None or first_end + 2 > closed - 1:
            return None
        step_end = statement.item_end(first_end + 2)
        steps.append(_for_columns(statement, statement.text(first_end + 2, step_end), step_end + 2, closed - 1))
        at = closed + 2
    if not steps:
        return None
    name = str(statement.near(opened - 1))
    joined = f" {JOINS[name]} ".join(steps)
    around = {str(statement.near(opened - 2)), str(statement.near(end + 1))}
    if len(steps) > 1 and around & ({">>", "|", "&"} - {JOINS[name]}):
        joined = f"({joined})"
    message = f"steps are joined by `{JOINS[name]}` and have no names"
    return statement.error("MSL035", message, f"write `{joined}`", statement.span(opened - 1, end))


def learners_with_names(statement: UnreadableStatement) -> Diagnostic | None:
    """`stacking(estimators = [("rf", random_forest), ("svc", svc_rbf)])`: a list of learners has no names."""
    at = -2 if str(statement.near(-2)) == "(" else None
    first = None if at is None else statement.near(at - 1)
    if at is None or first is None or str(first) != "[" or statement.token.type != "COMMA":
        return None
    if statement.before.type != "STRING" or (end := statement.closing(at - 1)) is None:
        return None
    learners = []
    while at < end and str(statement.near(at)) == "(" and (closed := statement.closing(at)) is not None:
        learners.append(statement.text(statement.item_end(at + 1) + 2, closed - 1))
        at = closed + 2
    help = f"write `[{', '.join(learners)}]`"
    opened = statement.near(-3)
    span = statement.span(-3, end)
    sign, name = statement.near(-4), statement.near(-5)
    if opened is first and sign is not None and sign.type == "EQUALS" and name is not None:
        help, span = f"write `{name}: [{', '.join(learners)}]`", statement.span(-5, end)
    return statement.error("MSL035", "the learners of a list have no names", help, span)


def _for_columns(statement: UnreadableStatement, step: str, first: int, last: int) -> str:
    """A step, for the columns that a column transformer names after it."""
    if first > last:
        return step
    columns = statement.text(first, last)
    return f"on {columns if columns.startswith('[') else f'[{columns}]'} ({step})"


def _joins(statement: UnreadableStatement, offset: int) -> bool:
    token, name = statement.near(offset), statement.near(offset - 1)
    return token is not None and token.type == "CALL" and str(name) in JOINS


def dashed_list(statement: UnreadableStatement) -> Diagnostic | None:
    """`chain m:` and a list with dashes: a list in YAML."""
    keyword = statement.tokens[0]
    if keyword.type not in {"PART", "CHAIN", "USE", "MINIMIZE", "MAXIMIZE"} or statement.token.type not in {
        "COLON",
        "MINUS",
    }:
        return None
    first = 1 if statement.token.type == "COLON" else 0
    items = dashed_items(statement, first)
    if not items:
        return None
    whole = token_span(keyword).to(token_span(statement.tokens[-1]))
    if keyword.type not in {"PART", "CHAIN"}:
        help = f"write `{keyword} {', '.join(items)}`"
        return statement.error("MSL035", f"the items of `{keyword}` are separated by commas", help, whole)
    name = str(statement.before) if statement.failure.index > 1 else "model"
    steps, options = " >> ".join(items), " | ".join(items)
    help = f"for one step after another write `{keyword} {name} = {steps}`, for a choice `{keyword} {name} = {options}`"
    return statement.error("MSL001", "steps are joined by `>>` or `|`, not written as a list", help, whole)


def dashed_items(statement: UnreadableStatement, first: int) -> list[str]:
    """The items of a list with dashes, one a line, from an offset on; empty if it is not such a list."""
    items: list[list[int]] = []
    for offset in range(first, statement.rest + 1):
        token = statement.near(offset)
        assert token is not None
        if token.type == "MINUS" and _begins_line(statement, offset):
            items.append([])
        elif not items:
            return []
        else:
            items[-1].append(offset)
    return [statement.text(item[0], item[-1]) for item in items if item]


def _begins_line(statement: UnreadableStatement, offset: int) -> bool:
    token, before = statement.near(offset), statement.near(offset - 1)
    if token is None or before is None:
        return True
    return "\n" in statement.source.text[token_span(before).end : token_span(token).start]
