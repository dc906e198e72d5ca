"""Rules for operators, calls, commas and keywords that are out of place between steps and conditions."""

from __future__ import annotations

from msl.diagnostics.diagnostic import Diagnostic
from msl.diagnostics.source import Span
from msl.language.mistakes.unreadable import UnreadableStatement, quoted
from msl.language.tokens import ENDING_TOKENS, PRIOR_WORDS, token_span

#: Keywords without a sign after them.
_WITHOUT_SIGN = frozenset("MSL USE REQUIRE MINIMIZE MAXIMIZE SEARCH ENSEMBLE SEED".split())
_JOINED = "for one step after another write `>>`, for a choice `|`"


def sign_after_keyword(statement: UnreadableStatement) -> Diagnostic | None:
    """`seed = 7`, `seed(7)`, `search: pso`: there is no sign after these keywords."""
    keyword, token = statement.tokens[0], statement.token
    if statement.failure.index != 1 or token.type not in {"EQUALS", "COLON", "LPAR", "CALL"}:
        return None
    if keyword.type in {"PART", "CHAIN"}:
        name = "model" if keyword.type == "CHAIN" else "learn"
        if token.type == "COLON" and statement.rest > 0:  # as YAML writes it
            first, second = statement.near(1), statement.near(2)
            named = first is not None and first.type == "NAME" and second is not None and second.type == "COLON"
            help = f"write `{keyword} {first if named else name} = {statement.text(3 if named else 1, statement.rest)}`"
            return statement.error("MSL035", f"a {keyword} needs a name", help, statement.span(-1, statement.rest))
        return statement.error("MSL001", f"a {keyword} needs a name", f"write `{keyword} {name} = …`")
    if keyword.type not in _WITHOUT_SIGN:
        return None
    rest = [str(other) for other in statement.tokens[2:] if str(other) != ")"]
    example = rest[0] if len(rest) == 1 else "…"
    message = f"`{keyword}` takes no `{token}`"
    span = statement.span(-1, statement.rest) if len(rest) == 1 else None
    return statement.error("MSL001", message, f"write `{keyword} {example}`", span)


def name_without_equals(statement: UnreadableStatement) -> Diagnostic | None:
    """`chain m: …`, `chain m …`: `=` follows the name."""
    keyword = statement.tokens[0]
    if statement.failure.index != 2 or keyword.type not in {"PART", "CHAIN"}:
        return None
    message = f"the name of a {keyword} is followed by `=`"
    if statement.token.type in {"THROUGH", "BAR", "AMPERSAND", "CALL", "QUESTION"}:
        name = "model" if keyword.type == "CHAIN" else "piece"
        return statement.error(
            "MSL035", message, f"write `{keyword} {name} = {statement.before}`", statement.span(-2, -1)
        )
    return statement.error("MSL001", message, f"write `{keyword} {statement.before} = …`")


def options_without_parentheses(statement: UnreadableStatement) -> Diagnostic | None:
    """`budget 10min`, `data target = class`: these keywords are followed by parentheses."""
    keyword = statement.tokens[0]
    if statement.failure.index != 1 or keyword.type not in {"BUDGET", "DATA"}:
        return None
    inner = statement.source.slice(token_span(statement.token).to(token_span(statement.tokens[-1])))
    if keyword.type == "BUDGET" and statement.token.type == "NUMBER" and len(statement.tokens) == 2:
        inner = f"time = {inner}" if inner.endswith(("s", "min", "h")) else f"evaluations = {inner}"
    inner = "…" if "\n" in inner or "=" not in inner or len(inner) > 60 else inner
    span = None if inner == "…" else statement.span(-1, statement.rest)
    return statement.error(
        "MSL001", f"the options of `{keyword}` go in parentheses", f"write `{keyword}({inner})`", span
    )


def option_without_call(statement: UnreadableStatement) -> Diagnostic | None:
    """`by cv 5`, `search pso 5`, `by 5-fold cv`: options go in parentheses."""
    token, before = statement.token, statement.before
    if token.type != "NUMBER":
        return None
    if before.type == "BY":
        words = all(other.type in {"NAME", "MINUS"} for other in statement.tokens[statement.failure.index + 1 :])
        span = statement.span(0, statement.rest if words else 0)
        return statement.error(
            "MSL001", "an estimate starts with the name of the resampling method", f"write `cv(folds = {token})`", span
        )
    called = statement.near(-2)
    if before.type != "NAME" or called is None or called.type not in {"BY", "THEN", "SEARCH", "ENSEMBLE"}:
        return None
    span = token_span(before).to(token_span(token))
    message = f"the options of `{before}` go in parentheses"
    return statement.error("MSL001", message, f"write `{before}({token})`", span)


def condition_operator(statement: UnreadableStatement) -> Diagnostic | None:
    """`|`, `&`, `=`, `->`, `is not` or `in` where conditions are joined or compared."""
    if not statement.in_condition:
        return None
    before, token = statement.before, statement.token
    if token.type in {"BAR", "AMPERSAND"}:
        word = "or" if token.type == "BAR" else "and"
        return statement.error("MSL013", f"`{token}` joins steps, not conditions", f"between conditions write `{word}`")
    if token.type == "EQUALS":
        return statement.error("MSL019", "`=` gives a value and does not compare", "write `==`, or `is`")
    if str(token) == ">" and before.type in {"MINUS", "EQUALS"} and statement.touches:
        span = token_span(before).to(token_span(token))
        return statement.error("MSL001", f"`{before}>` is not an operator", "write `require … if …`", span)
    if token.type == "NOT" and before.type == "IS":
        return statement.error("MSL001", "`not` goes before the whole condition", "write `not (… is …)`")
    if str(token) == "in" and before.type in ENDING_TOKENS:
        help = "for one of several write `is`: `kernel is linear | rbf`"
        return statement.error("MSL001", "`in` is not an operator", help)
    return None


def step_operator(statement: UnreadableStatement) -> Diagnostic | None:
    """`>`, `->`, `>>>` for `>>`, `or` for `|`, and a `|` before the first alternative."""
    if statement.in_condition:
        return None
    before, token = statement.before, statement.token
    if token.type == "COMPARE" and str(token) == ">":
        touches = before.type in {"MINUS", "THROUGH", "BAR", "EQUALS"} and statement.touches
        span = token_span(before).to(token_span(token)) if touches else token_span(token)
        message = f"`{statement.source.slice(span)}` does not join steps"
        return statement.error("MSL001", message, "for one step after another write `>>`", span)
    if token.type == "EQUALS" and str(statement.near(1)) == ">" and statement.accepts("THROUGH"):
        return statement.error(
            "MSL001", "`=>` does not join steps", "for one step after another write `>>`", statement.span(0, 1)
        )
    if token.type in {"BAR", "THROUGH", "AMPERSAND"} and before.type in {"EQUALS", "COLON", "LPAR", "CALL", "COMMA"}:
        return statement.error("MSL001", f"there is no step before `{token}`", "remove it")
    if token.type in {"OR", "AND", "THEN"} and statement.accepts("BAR"):
        sign, meaning = {"OR": ("|", "a choice"), "AND": ("&", "columns side by side"), "THEN": (">>", "a sequence")}[
            token.type
        ]
        return statement.error("MSL001", f"`{token}` does not join steps", f"for {meaning} write `{sign}`")
    if token.type == "THROUGH" and before.type in {"STAR", "PLUS"}:
        help = "to repeat a step write `repeat(step, 0..3)`, to make it optional `step?`"
        return statement.error("MSL001", f"`{before}` does not repeat a step", help, token_span(before))
    if token.type == "QUESTION" and statement.accepts("INT"):
        after = statement.near(1)
        name = after if after is not None and after.type == "NAME" else "(…)"
        span = statement.span(0, 1 if name is after else 0)
        return statement.error("MSL001", "`?` follows what it makes optional", f"write `{name}?`", span)
    return None


def columns_of_steps(statement: UnreadableStatement) -> Diagnostic | None:
    """`on (numbers) (impute)`, `on numbers: impute`, `on [income_*] (log1p)`, `on numbers, symbols (impute)`"""
    before = range(-1, -statement.failure.index - 1, -1)
    start = next((i for i in before if str(statement.near(i)) == "on"), None)
    if start is None or statement.tokens[0].type not in {"PART", "CHAIN"}:
        return None
    first, token, other = statement.near(start + 1), statement.token, statement.near(1)
    if first is not None and first.type in {"LPAR", "CALL"}:
        return _columns_in_parentheses(statement, start)
    if first is not None and first.type == "LSQB" and "STAR" in {token.type, statement.before.type}:
        opens = next(i for i in before if str(statement.near(i)) in ("[", ",")) + 1
        end = statement.item_end(opens)
        help = f'write `"{statement.text(opens, end)}"`'
        return statement.error("MSL197", "a pattern is written in quotes", help, statement.span(opens, end))
    if str(token) == "(" and statement.before.type == "RSQB" and str(statement.near(start + 2)) == "[":
        help = f"write `on {statement.text(start + 2, -1)}`"  # `on columns [age] (…)`
        message = f"names of columns stand behind `on`, without {quoted(first)}" if first is not None else ""
        return statement.error("MSL197", message, help, statement.span(start, -1))
    if start == -2 and token.type == "EQUALS":
        help = 'write `on numbers (…)` or `on symbols (…)`, or the names of columns: `on [age, "income_*"] (…)`'
        return statement.error("MSL197", "columns are not selected by an option", help, statement.span(-1, 1))
    if start == -2 and token.type == "COLON":
        message = "the steps for some columns are written in parentheses, not after `:`"
        return statement.error("MSL197", message, f"write `on {statement.before} (…)`")
    if start == -2 and token.type == "COMMA":
        help = f"write a branch for each: `on {statement.before} (…) & on {other} (…)`"
        return statement.error("MSL197", "`on` takes one kind of columns, or one list of names", help)
    if statement.before.type in {"LPAR", "CALL"} and token.type == "RPAR" and start == -3:
        columns = statement.text(-2, -2)
        message = f"`on {columns}` does not say which steps these columns go through"
        help = f"write `on {columns} (none)` to keep them as they are"
        return statement.error("MSL197", message, help, statement.span(start, 0))
    return None


def _columns_in_parentheses(statement: UnreadableStatement, start: int) -> Diagnostic | None:
    end = statement.closing(start + 1)
    last = None if end is None or str(statement.near(end + 1)) != "(" else statement.closing(end + 1)
    if end is None or last is None:
        return None
    help = f"write `on {statement.text(start + 2, end - 1)} {statement.text(end + 1, last)}`"
    message = "the columns of `on` take no parentheses, only its steps do"
    return statement.error("MSL197", message, help, statement.span(start, last))


def space_before_call(statement: UnreadableStatement) -> Diagnostic | None:
    """`svc (gamma = 1)`"""
    if statement.token.type != "LPAR" or statement.before.type != "NAME":
        return None
    span = Span(token_span(statement.before).end, token_span(statement.token).end)
    return statement.error(
        "MSL015", "the `(` of a call follows its name without a space", f"write `{statement.before}(`", span
    )


def comma_between_steps(statement: UnreadableStatement) -> Diagnostic | None:
    """`chain m = a, b`: commas separate arguments."""
    follows_step = statement.failure.index and statement.before.type in ENDING_TOKENS
    if statement.token.type != "COMMA" or not follows_step or statement.tokens[0].type not in {"PART", "CHAIN"}:
        return None
    return statement.error("MSL001", "a comma does not join steps", _JOINED)


def class_without_quotes(statement: UnreadableStatement) -> Diagnostic | None:
    """`block b: learner sklearn.svm.SVC { … }`: a class is written in quotes."""
    if statement.tokens[0].type != "BLOCK" or statement.token.type != "NAME" or not statement.accepts("STRING"):
        return None
    names, offset = [str(statement.token)], 1
    while (sign := statement.near(offset)) is not None and sign.type in {"DOT", "COLON"}:
        if (name := statement.near(offset + 1)) is None or name.type != "NAME":
            break
        names.append(str(name))
        offset += 2
    *folders, last = names
    target = f"{'.'.join(folders) or 'module'}:{last}"
    span = token_span(statement.token).to(token_span(statement.near(offset - 1) or statement.token))
    return statement.error(
        "MSL001", "a class is written in quotes, with a colon before its name", f'write `"{target}"`', span
    )


def block_without_role(statement: UnreadableStatement) -> Diagnostic | None:
    """`block b "m:C" { … }`: a block has a role."""
    if statement.tokens[0].type != "BLOCK" or statement.token.type != "STRING" or not statement.accepts("COLON"):
        return None
    help = f"write `block {statement.before}: learner {statement.token}`, or another role"
    return statement.error("MSL001", "the role of the block is missing", help)


def prior_without_numbers(statement: UnreadableStatement) -> Diagnostic | None:
    """`real 0..1 normal`, `real 0..1 normal (0.5, 0.1)`, `real 0..1 prior normal(0.5, 0.1)`."""
    text = str(statement.token)
    if statement.token.type != "NAME" or text not in PRIOR_WORDS | {"prior"} or not statement.accepts("PRIOR"):
        return None
    after, closed = statement.near(1), statement.closing(1)
    if text == "prior":
        if after is not None and after.type in {"NAME", "PRIOR"}:
            return statement.error("MSL158", "a prior follows its range without the word `prior`", "remove it")
        help = "the prior follows its range, as in `normal(0.5, 0.1)`"
        return statement.error("MSL158", "`prior` is not the name of a prior", help)
    if after is not None and after.type == "LPAR" and closed is not None:
        help = f"write `{text}{statement.text(1, closed)}`"
        message = f"the `(` of a prior follows `{text}` without a space"
        return statement.error("MSL158", message, help, statement.span(0, closed))
    name = text if text in ("normal", "lognormal") else "normal"
    numbers = (
        "(0.5, 0.1)` with a mean and a standard deviation"
        if name == "normal"
        else "(0.01, 2)` with a median and a sigma"
    )
    message = f"{quoted(statement.token)} is not a prior without its two numbers"
    return statement.error("MSL158", message, f"write `{name}{numbers} of your own")


def prior_of_alternatives(statement: UnreadableStatement) -> Diagnostic | None:
    """`0.1 | 1 | 10 normal(1, 1)`: a prior belongs to a range."""
    if statement.token.type not in {"NAME", "PRIOR"} or str(statement.token) not in ("normal", "lognormal"):
        return None
    if statement.before.type not in {"NUMBER", "NAME"} or (end := statement.closing(1)) is None:
        return None
    message = f"`{statement.token}` belongs to a range, and `{statement.before}` is one value"
    help = f"to draw an alternative more often write `{statement.before} weight 3`"
    return statement.error("MSL158", message, help, statement.span(-1, end))


def weight_without_number(statement: UnreadableStatement) -> Diagnostic | None:
    """`svc weight | rf`, `svc weight(3)`, `svc weights 3`."""
    text = str(statement.token)
    if (
        statement.token.type != "NAME"
        or text not in ("weight", "weights", "weighted")
        or not statement.accepts("WEIGHT")
    ):
        return None
    message, after = "a weight is the word `weight` and a number", statement.near(1)
    first = 2 if after is not None and after.type in {"EQUALS", "COLON", "CALL", "LPAR"} else 1
    number = statement.near(first)
    if number is None or number.type != "NUMBER":
        span = statement.span(0, 1) if after is not None and after.type == "NAME" else None
        return statement.error("MSL159", message, "write `weight 3`, or another number", span)
    closes = after is not None and after.type in {"CALL", "LPAR"} and str(statement.near(first + 1)) == ")"
    return statement.error("MSL159", message, f"write `weight {number}`", statement.span(0, first + closes))


def _word_after_domain(statement: UnreadableStatement) -> Diagnostic | None:
    """`k: int 1..9 best`, `best k: 1..9`, `n: int 1..9 fidelity`: words that have another place."""
    before, token = statement.before, statement.token
    if str(token) == "best":
        message = "`best` stands before the domain"
        return statement.error("MSL285", message, "remove it here, and write `name: best int 1..9`")
    after = statement.near(1)
    if str(before) == "best" and after is not None and after.type == "COLON":
        domain = statement.text(2, statement.item_end(2))
        help = f"write `{token}: best {domain}`"
        span = statement.span(-1, statement.item_end(2))
        return statement.error("MSL285", "`best` stands before the domain", help, span)
    if statement.tokens[0].type != "BLOCK":
        return None
    message = "the resource of a block is named after the braces"
    if str(before) in ("fidelity", "resource") and token.type == "NAME":
        help = f"remove it here, and write `{{ … }} fidelity {token}` at the end"
        return statement.error("MSL289", message, help, statement.span(-1, 0))
    if str(token) in ("fidelity", "resource"):
        return statement.error("MSL289", message, "remove it here, and write `{ … } fidelity parameter` at the end")
    return None


def sign_in_fidelity(statement: UnreadableStatement) -> Diagnostic | None:
    """`{ … } fidelity = trees`, `{ … } fidelity(trees)`: the name follows directly."""
    name = statement.near(1)
    if str(statement.before) != "fidelity" or statement.tokens[0].type != "BLOCK" or name is None:
        return None
    if statement.token.type not in {"EQUALS", "COLON", "CALL", "LPAR"} or name.type not in {"NAME", "STRING"}:
        return None
    end = 2 if statement.token.type in {"CALL", "LPAR"} else 1
    message = "the name of the parameter follows `fidelity` directly"
    return statement.error("MSL289", message, f"write `fidelity {name}`", statement.span(-1, end))


def missing_between(statement: UnreadableStatement) -> Diagnostic | None:
    """Two names or values side by side: in a list a comma is missing, between steps and conditions an operator."""
    before, token = statement.before, statement.token
    if token.type not in {"NAME", "STRING", "NUMBER"} or before.type not in ENDING_TOKENS:
        return None
    end = token_span(before).end
    gap = Span(end, end + 1)
    one, other = quoted(before), quoted(token)
    pair = f"{one} and {other}"
    if statement.accepts("COMMA"):
        if (misplaced := _word_after_domain(statement)) is not None:
            return misplaced
        help = f"write {one[:-1]}, {other[1:]}"
        if statement.tokens[0].type == "DATA" and before.type == token.type == "NAME":
            help += f', or `"{before} {token}"` if that is one name'
        return statement.error("MSL001", f"a comma is missing between {pair}", help, gap)
    if statement.in_condition:
        return statement.error(
            "MSL001", f"something is missing between {pair}", "join conditions with `and` or `or`", gap
        )
    if statement.accepts("BAR", "THROUGH"):
        help = "join steps with `>>` (one after another), `|` (one of them) or `&` (side by side)"
        return statement.error("MSL001", f"an operator is missing between {pair}", help, gap)
    return None


def module_for_catalogue(statement: UnreadableStatement) -> Diagnostic | None:
    """`use sklearn.svm`, `use scikit-learn`: `use` takes whole catalogues, and files in quotes."""
    if (
        statement.tokens[0].type != "USE"
        or statement.token.type not in {"DOT", "MINUS"}
        or statement.before.type != "NAME"
    ):
        return None
    end = 0
    while (after := statement.near(end + 1)) is not None and after.type in {"NAME", "DOT", "MINUS"}:
        end += 1
    written, span = statement.text(-1, end), statement.span(-1, end)
    if statement.source.text.startswith("msl", span.end) and written.endswith("."):
        file = Span(span.start, span.end + len("msl"))
        return statement.error("MSL035", "a file is written in quotes", f'write `"{written}msl"`', file)
    name = "sklearn" if written == "scikit-learn" else str(statement.before)
    return statement.error("MSL035", "`use` takes whole catalogues", f"write `{name}`", statement.span(-1, end))
