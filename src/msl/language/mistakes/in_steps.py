"""Mistaken steps: operators, calls, commas and keywords that are out of place between steps and conditions."""

from __future__ import annotations

from msl.diagnostics.diagnostic import Diagnostic
from msl.diagnostics.source import Span
from msl.language.mistakes.unreadable import Trouble, quoted
from msl.language.tokens import ENDING_TOKENS, token_span

#: Keywords that no sign follows.
_AT_ONCE = frozenset("MSL USE REQUIRE MINIMIZE MAXIMIZE SEARCH ENSEMBLE SEED".split())
_JOINED = "for one step after another write `>>`, for a choice `|`"


def sign_after_keyword(trouble: Trouble) -> Diagnostic | None:
    """`seed = 7`, `seed(7)`, `search: pso`: what follows a keyword follows it at once."""
    keyword, token = trouble.tokens[0], trouble.token
    if trouble.failure.index != 1 or token.type not in {"EQUALS", "COLON", "LPAR", "CALL"}:
        return None
    if keyword.type in {"PART", "CHAIN"}:
        name = "model" if keyword.type == "CHAIN" else "learn"
        if token.type == "COLON" and trouble.rest > 0:  # as YAML writes it
            first, second = trouble.near(1), trouble.near(2)
            named = first is not None and first.type == "NAME" and second is not None and second.type == "COLON"
            help = f"write `{keyword} {first if named else name} = {trouble.text(3 if named else 1, trouble.rest)}`"
            return trouble.error("MSL035", f"a {keyword} has a name", help, trouble.span(-1, trouble.rest))
        return trouble.error("MSL001", f"a {keyword} has a name", f"write `{keyword} {name} = …`")
    if keyword.type not in _AT_ONCE:
        return None
    rest = [str(other) for other in trouble.tokens[2:] if str(other) != ")"]
    example = rest[0] if len(rest) == 1 else "…"
    message = f"`{keyword}` is followed by what it says, without `{token}`"
    span = trouble.span(-1, trouble.rest) if len(rest) == 1 else None
    return trouble.error("MSL001", message, f"write `{keyword} {example}`", span)


def name_without_equals(trouble: Trouble) -> Diagnostic | None:
    """`chain m: …`, `chain m …`: `=` follows the name."""
    keyword = trouble.tokens[0]
    if trouble.failure.index != 2 or keyword.type not in {"PART", "CHAIN"}:
        return None
    message = f"`=` follows the name of a {keyword}"
    if trouble.token.type in {"THROUGH", "BAR", "AMPERSAND", "CALL", "QUESTION"}:
        name = "model" if keyword.type == "CHAIN" else "piece"
        return trouble.error("MSL035", message, f"write `{keyword} {name} = {trouble.before}`", trouble.span(-2, -1))
    return trouble.error("MSL001", message, f"write `{keyword} {trouble.before} = …`")


def options_without_parentheses(trouble: Trouble) -> Diagnostic | None:
    """`budget 10min`, `data target = class`: these keywords are followed by parentheses."""
    keyword = trouble.tokens[0]
    if trouble.failure.index != 1 or keyword.type not in {"BUDGET", "DATA"}:
        return None
    inner = trouble.source.slice(token_span(trouble.token).to(token_span(trouble.tokens[-1])))
    if keyword.type == "BUDGET" and trouble.token.type == "NUMBER" and len(trouble.tokens) == 2:
        inner = f"time = {inner}" if inner.endswith(("s", "min", "h")) else f"evaluations = {inner}"
    inner = "…" if "\n" in inner or "=" not in inner or len(inner) > 60 else inner
    span = None if inner == "…" else trouble.span(-1, trouble.rest)
    return trouble.error("MSL001", f"what `{keyword}` says stands in parentheses", f"write `{keyword}({inner})`", span)


def option_without_call(trouble: Trouble) -> Diagnostic | None:
    """`by cv 5`, `search pso 5`, `by 5-fold cv`: options stand in parentheses."""
    token, before = trouble.token, trouble.before
    if token.type != "NUMBER":
        return None
    if before.type == "BY":
        words = all(other.type in {"NAME", "MINUS"} for other in trouble.tokens[trouble.failure.index + 1 :])
        span = trouble.span(0, trouble.rest if words else 0)
        return trouble.error("MSL001", "an estimate begins with its name", f"write `cv(folds = {token})`", span)
    called = trouble.near(-2)
    if before.type != "NAME" or called is None or called.type not in {"BY", "THEN", "SEARCH", "ENSEMBLE"}:
        return None
    span = token_span(before).to(token_span(token))
    message = f"the options of `{before}` stand in parentheses"
    return trouble.error("MSL001", message, f"write `{before}({token})`", span)


def condition_operator(trouble: Trouble) -> Diagnostic | None:
    """`|`, `&`, `=`, `->`, `is not` or `in` where conditions are joined or compared."""
    if not trouble.in_condition:
        return None
    before, token = trouble.before, trouble.token
    if token.type in {"BAR", "AMPERSAND"}:
        word = "or" if token.type == "BAR" else "and"
        return trouble.error("MSL013", f"`{token}` joins steps, not conditions", f"between conditions write `{word}`")
    if token.type == "EQUALS":
        return trouble.error("MSL019", "`=` gives a value, it does not compare", "write `==`, or `is`")
    if str(token) == ">" and before.type in {"MINUS", "EQUALS"} and trouble.touches:
        span = token_span(before).to(token_span(token))
        return trouble.error("MSL001", f"`{before}>` is not an operator", "write `require … if …`", span)
    if token.type == "NOT" and before.type == "IS":
        return trouble.error("MSL001", "`not` stands before the whole condition", "write `not (… is …)`")
    if str(token) == "in" and before.type in ENDING_TOKENS:
        help = "for one of several write `is`: `kernel is linear | rbf`"
        return trouble.error("MSL001", "`in` is not an operator", help)
    return None


def step_operator(trouble: Trouble) -> Diagnostic | None:
    """`>`, `->`, `>>>` for `>>`, `or` for `|`, and a `|` before the first alternative."""
    if trouble.in_condition:
        return None
    before, token = trouble.before, trouble.token
    if token.type == "COMPARE" and str(token) == ">":
        touches = before.type in {"MINUS", "THROUGH", "BAR", "EQUALS"} and trouble.touches
        span = token_span(before).to(token_span(token)) if touches else token_span(token)
        message = f"`{trouble.source.slice(span)}` does not join steps"
        return trouble.error("MSL001", message, "for one step after another write `>>`", span)
    if token.type == "EQUALS" and str(trouble.near(1)) == ">" and trouble.accepts("THROUGH"):
        return trouble.error(
            "MSL001", "`=>` does not join steps", "for one step after another write `>>`", trouble.span(0, 1)
        )
    if token.type in {"BAR", "THROUGH", "AMPERSAND"} and before.type in {"EQUALS", "COLON", "LPAR", "CALL", "COMMA"}:
        return trouble.error("MSL001", f"`{token}` stands between two steps, and there is none before it", "remove it")
    if token.type in {"OR", "AND", "THEN"} and trouble.accepts("BAR"):
        sign, meaning = {"OR": ("|", "a choice"), "AND": ("&", "columns side by side"), "THEN": (">>", "a sequence")}[
            token.type
        ]
        return trouble.error("MSL001", f"`{token}` does not join steps", f"for {meaning} write `{sign}`")
    if token.type == "THROUGH" and before.type in {"STAR", "PLUS"}:
        help = "to repeat a step write `repeat(step, 0..3)`, to make it optional `step?`"
        return trouble.error("MSL001", f"`{before}` does not repeat a step", help, token_span(before))
    if token.type == "QUESTION" and trouble.accepts("INT"):
        after = trouble.near(1)
        name = after if after is not None and after.type == "NAME" else "(…)"
        span = trouble.span(0, 1 if name is after else 0)
        return trouble.error("MSL001", "`?` follows what it makes optional", f"write `{name}?`", span)
    return None


def space_before_call(trouble: Trouble) -> Diagnostic | None:
    """`svc (gamma = 1)`"""
    if trouble.token.type != "LPAR" or trouble.before.type != "NAME":
        return None
    span = Span(token_span(trouble.before).end, token_span(trouble.token).end)
    return trouble.error("MSL015", "a call's `(` touches its name", f"write `{trouble.before}(`", span)


def comma_between_steps(trouble: Trouble) -> Diagnostic | None:
    """`chain m = a, b`: commas separate arguments."""
    follows_step = trouble.failure.index and trouble.before.type in ENDING_TOKENS
    if trouble.token.type != "COMMA" or not follows_step or trouble.tokens[0].type not in {"PART", "CHAIN"}:
        return None
    return trouble.error("MSL001", "a comma does not join steps", _JOINED)


def class_without_quotes(trouble: Trouble) -> Diagnostic | None:
    """`block b: learner sklearn.svm.SVC { … }`: a class stands in quotes."""
    if trouble.tokens[0].type != "BLOCK" or trouble.token.type != "NAME" or not trouble.accepts("STRING"):
        return None
    names, offset = [str(trouble.token)], 1
    while (sign := trouble.near(offset)) is not None and sign.type in {"DOT", "COLON"}:
        if (name := trouble.near(offset + 1)) is None or name.type != "NAME":
            break
        names.append(str(name))
        offset += 2
    *folders, last = names
    target = f"{'.'.join(folders) or 'module'}:{last}"
    span = token_span(trouble.token).to(token_span(trouble.near(offset - 1) or trouble.token))
    return trouble.error("MSL001", "a class stands in quotes, a colon before its name", f'write `"{target}"`', span)


def block_without_role(trouble: Trouble) -> Diagnostic | None:
    """`block b "m:C" { … }`: a block has a role."""
    if trouble.tokens[0].type != "BLOCK" or trouble.token.type != "STRING" or not trouble.accepts("COLON"):
        return None
    help = f"write `block {trouble.before}: learner {trouble.token}`, or another role"
    return trouble.error("MSL001", "a block says what it is: its role is missing", help)


def missing_between(trouble: Trouble) -> Diagnostic | None:
    """Two names or values side by side: in a list a comma is missing, between steps and conditions an operator."""
    before, token = trouble.before, trouble.token
    if token.type not in {"NAME", "STRING", "NUMBER"} or before.type not in ENDING_TOKENS:
        return None
    end = token_span(before).end
    gap = Span(end, end + 1)
    one, other = quoted(before), quoted(token)
    pair = f"{one} and {other}"
    if trouble.accepts("COMMA"):
        help = f"write {one[:-1]}, {other[1:]}"
        if trouble.tokens[0].type == "DATA" and before.type == token.type == "NAME":
            help += f', or `"{before} {token}"` if that is one name'
        return trouble.error("MSL001", f"a comma is missing between {pair}", help, gap)
    if trouble.in_condition:
        return trouble.error(
            "MSL001", f"something is missing between {pair}", "join conditions with `and` or `or`", gap
        )
    if trouble.accepts("BAR", "THROUGH"):
        help = "join steps with `>>` (one after another), `|` (one of them) or `&` (side by side)"
        return trouble.error("MSL001", f"an operator is missing between {pair}", help, gap)
    return None


def module_for_catalogue(trouble: Trouble) -> Diagnostic | None:
    """`use sklearn.svm`, `use scikit-learn`: `use` takes whole catalogues, and files in quotes."""
    if trouble.tokens[0].type != "USE" or trouble.token.type not in {"DOT", "MINUS"} or trouble.before.type != "NAME":
        return None
    end = 0
    while (after := trouble.near(end + 1)) is not None and after.type in {"NAME", "DOT", "MINUS"}:
        end += 1
    written, span = trouble.text(-1, end), trouble.span(-1, end)
    if trouble.source.text.startswith("msl", span.end) and written.endswith("."):
        file = Span(span.start, span.end + len("msl"))
        return trouble.error("MSL035", "a file stands in quotes", f'write `"{written}msl"`', file)
    name = "sklearn" if written == "scikit-learn" else str(trouble.before)
    return trouble.error("MSL035", "`use` takes whole catalogues", f"write `{name}`", trouble.span(-1, end))
