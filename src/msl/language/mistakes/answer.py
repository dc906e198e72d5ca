"""Explain a syntax error: try the rules for common mistakes, then list what was expected."""

from __future__ import annotations

from lark import Token

from msl.diagnostics.diagnostic import Diagnostic, Label, Severity
from msl.diagnostics.source import Source, Span
from msl.diagnostics.suggest import closest
from msl.language.mistakes.in_arguments import (
    arguments_without_brackets,
    brackets_of_a_call,
    brackets_of_a_range,
    default_before_domain,
    default_in_brackets,
    default_with_a_sign,
    dictionary,
    kind_alone,
    kind_without_colon,
    letter_before_text,
    loose_vector,
    role_after_equals,
    scale_of_a_range,
    sign_after_kind,
    step_of_a_range,
    value_sign,
)
from msl.language.mistakes.in_goals import (
    branches_of_a_program,
    comparison_sign,
    estimate_without_by,
    implication,
    limit_of_a_search,
    nothing_to_combine,
    objectives_joined,
    options_of_a_statement,
    strategies_joined,
)
from msl.language.mistakes.in_signs import (
    braces_for_alternatives,
    comment_sign,
    never_closed_bracket,
    parentheses_for_braces,
    stray_sign,
    wrong_bracket,
)
from msl.language.mistakes.in_steps import (
    block_without_role,
    class_without_quotes,
    columns_of_steps,
    comma_between_steps,
    condition_operator,
    missing_between,
    module_for_catalogue,
    name_without_equals,
    option_without_call,
    options_without_parentheses,
    prior_of_alternatives,
    prior_without_numbers,
    sign_after_keyword,
    sign_in_fidelity,
    space_before_call,
    step_operator,
    weight_without_number,
)
from msl.language.mistakes.in_values import (
    comma_in_a_number,
    default_after_equals,
    default_of_a_value,
    domain_word,
    duration_with_colons,
    half_a_range,
    kind_word,
    number_in_pieces,
    pair_in_parentheses,
    range_sign,
    scale_before_range,
    scale_of_a_value,
    separated_percent,
    separated_unit,
)
from msl.language.mistakes.other_tools import (
    KEYWORDS,
    dashed_list,
    domain_by_a_call,
    learners_with_names,
    pipeline_of_pairs,
    statement_of_another_tool,
)
from msl.language.mistakes.unreadable import UnreadableStatement, quoted
from msl.language.parser import Failure
from msl.language.tokens import RESERVED, STATEMENT_TOKENS, STATEMENTS, in_words, token_span

#: Keywords that connect other words. Where one of them is out of place, a name was hardly intended.
_CONNECTING = frozenset("as for by then if and or not is of default".split())
#: Words of other languages, with the keyword of MSL that means the same.
_OTHER_WORDS = {
    **dict.fromkeys(("with", "using", "on", "via", "over", "through"), "by"),
    **dict.fromkeys(("when", "where", "whenever"), "if"),
    **dict.fromkeys(("null", "nil"), "none"),
    "xor": "or",
}


def misspelt_statement(source: Source, tokens: list[Token]) -> tuple[Diagnostic, str | None]:
    """The diagnostic for text where a statement should start, and the keyword that was probably meant."""
    word, span = str(tokens[0]), token_span(tokens[0])
    if tokens[0].type not in {"NAME", *(w.upper() for w in RESERVED)}:
        diagnostic = comment_sign(source, tokens[0]) or stray_sign(source, tokens[0])
        if diagnostic is None:
            help = _statement_list()
            if word in "{[":
                help = "MSL is not JSON, YAML or Python: write statements, such as `chain model = standardize >> svc`"
            diagnostic = _error("MSL007", source, span, f"no statement starts with `{word}`", help)
        return diagnostic, None
    if (diagnostic := statement_of_another_tool(source, tokens)) is not None:
        return diagnostic, None
    meant = KEYWORDS.get(word) or next(iter(closest(word, STATEMENTS, 1)), None)
    help = f"did you mean `{meant}`?" if meant else _statement_list()
    if meant in ("chain", "part") and len(tokens) > 1 and tokens[1].type == "EQUALS" and word in KEYWORDS:
        return _error("MSL036", source, span, f"`{word}` does not start a statement", f"write `{meant} {word}`"), None
    if word == "if":
        meant, help = None, "the condition comes last: write `require … if …`"
    elif meant is None and len(tokens) > 1 and tokens[1].type in {"EQUALS", "COLON"}:
        help = f"to name a piece of a space write `part {word} = …`"
    return _error("MSL007", source, span, f"`{word}` does not start a statement", help), meant


def reserved_as_name(
    source: Source, failure: Failure, tokens: list[Token], following: Token | None
) -> Diagnostic | None:
    """The diagnostic for a keyword where a name is expected: in the statement, or where the next one seems to start."""
    if "NAME" not in failure.accepted:
        return None
    if failure.index < len(tokens):
        culprit = tokens[failure.index]
        statement = UnreadableStatement(source, tokens, failure)
        misplaced = domain_by_a_call(statement) or scale_before_range(statement) or nothing_to_combine(statement)
        if misplaced is not None:
            return misplaced
    elif following is not None and source.position(following.start_pos or 0).line == _line_of_end(source, tokens[-1]):
        culprit = following
    else:
        return None
    word = str(culprit)
    if word not in RESERVED:
        return None
    followed_by = str(tokens[failure.index + 1]) if failure.index + 1 < len(tokens) else ""
    if word in _CONNECTING and "NUMBER" in failure.accepted and followed_by not in ("=", ":"):
        return None
    if failure.index and failure.index < len(tokens) and tokens[failure.index - 1].type == "DOT":
        help = f'for a parameter of that name write `."{word}"`'
    elif "STRING" in failure.accepted:
        help = f'for a parameter, a column or an alternative of that name write `"{word}"`'
        is_step = tokens[0].type in {"PART", "CHAIN"} and not {"COLON", "EQUALS"} & {t.type for t in tokens[3:]}
        if word == "log" and is_step:
            help = f"the block that takes logarithms is `log1p`; {help}"
    else:
        help = f"choose another name, such as `{word}_` or `my_{word}`"
    label = "cannot be a name"
    return _error("MSL008", source, token_span(culprit), f"`{word}` is a reserved word", help, label)


#: Rules in the order in which they are tried: the more specific ones come first.
_FIRST_RULES = (
    columns_of_steps,
    separated_percent,
    comma_in_a_number,
    letter_before_text,
    dictionary,
    domain_by_a_call,
)
_RULES = (
    options_of_a_statement,
    dashed_list,
    estimate_without_by,
    strategies_joined,
    limit_of_a_search,
    objectives_joined,
    implication,
    branches_of_a_program,
    comparison_sign,
    loose_vector,
    sign_after_kind,
    value_sign,
    default_with_a_sign,
    default_in_brackets,
    duration_with_colons,
    default_before_domain,
    kind_without_colon,
    brackets_of_a_range,
    step_of_a_range,
    scale_of_a_range,
    kind_alone,
    module_for_catalogue,
    pipeline_of_pairs,
    learners_with_names,
    sign_in_fidelity,
    arguments_without_brackets,
    brackets_of_a_call,
    role_after_equals,
    sign_after_keyword,
    name_without_equals,
    options_without_parentheses,
    separated_unit,
    range_sign,
    number_in_pieces,
    condition_operator,
    step_operator,
    space_before_call,
    parentheses_for_braces,
    braces_for_alternatives,
    wrong_bracket,
    domain_word,
    kind_word,
)
_LATER_RULES = (
    half_a_range,
    option_without_call,
    scale_of_a_value,
    default_of_a_value,
    default_after_equals,
    pair_in_parentheses,
    comma_between_steps,
    class_without_quotes,
    block_without_role,
    prior_of_alternatives,
    prior_without_numbers,
    weight_without_number,
    missing_between,
)


def explain(source: Source, failure: Failure, tokens: list[Token]) -> Diagnostic:
    """The diagnostic of a syntax error: that of the first rule that applies, otherwise what was expected."""
    if failure.index >= len(tokens):
        return _unexpected_end(source, failure, tokens)
    statement = UnreadableStatement(source, tokens, failure)
    known = next((diagnostic for rule in _FIRST_RULES if (diagnostic := rule(statement)) is not None), None)
    known = known or comment_sign(source, statement.token)
    known = known or stray_sign(source, statement.token, statement.in_brackets)
    results = (rule(statement) for rule in (*_RULES, _misspelt_word, *_LATER_RULES))
    known = known or next((diagnostic for diagnostic in results if diagnostic is not None), None)
    message = f"unexpected {quoted(statement.token)}"
    return known or statement.error("MSL001", message, f"expected {_expected(failure.accepted)}")


def _unexpected_end(source: Source, failure: Failure, tokens: list[Token]) -> Diagnostic:
    if (never_closed := never_closed_bracket(source, tokens)) is not None:
        return never_closed
    end = token_span(tokens[-1]).end
    if len(tokens) == 2 and tokens[0].type in {"PART", "CHAIN"}:
        keyword, name = tokens
        help = (
            f"write `{keyword} {name} = …`, or `{keyword} {'model' if keyword.type == 'CHAIN' else 'piece'} = {name}`"
        )
        return _error(
            "MSL002",
            source,
            token_span(keyword).to(token_span(name)),
            f"a {keyword} needs a name and a definition",
            help,
        )
    if len(tokens) == 1:
        message = f"{quoted(tokens[-1])} is incomplete"
    else:
        message = f"the statement is incomplete: something is missing after {quoted(tokens[-1])}"
    after = Span(end, min(end + 1, len(source.text)))
    return _error("MSL002", source, after, message, f"expected {_expected(failure.accepted)}")


def _misspelt_word(statement: UnreadableStatement) -> Diagnostic | None:
    """The diagnostic for a name where a similar keyword is expected: `steps` for `step`, `with` for `by`."""
    token = statement.token
    if token.type != "NAME" and str(token) not in _OTHER_WORDS:
        return None
    words = [terminal.lower() for terminal in statement.failure.accepted if terminal.lower() in RESERVED]
    other = _OTHER_WORDS.get(str(token))
    meant = [other] if other in words else closest(str(token), words, 1) if len(token) > 2 else []
    return statement.error("MSL001", f"unexpected {quoted(token)}", f"did you mean `{meant[0]}`?") if meant else None


def _expected(accepted: frozenset[str]) -> str:
    """A description of what was expected. Operators come last, because they are rarely what is missing."""
    if "NOT" in accepted:
        return "a condition, such as `svc`, `k <= 10` or `kernel is linear | rbf`"
    if "INT" in accepted:
        return "a step, a value or a domain, such as `svc`, `0.5` or `int 1..10`"
    if {"NAME", "NUMBER", "LPAR"} <= accepted:
        return "a name or a number"
    first = [t for t in ("NAME", "NUMBER", "STRING", "$END") if t in accepted]
    signs = sorted(accepted - set(first) - STATEMENT_TOKENS - {"CALL", "WEIGHT", "PRIOR", "LESS"})
    words = list(dict.fromkeys(in_words(terminal) for terminal in first + signs))
    shown = words[:6]
    if len(words) == 1:
        return words[0]
    if len(words) > 6:
        return ", ".join(shown) + " or the like"
    return ", ".join(shown[:-1]) + f" or {shown[-1]}"


def _line_of_end(source: Source, token: Token) -> int:
    return source.position(token_span(token).end).line


def _statement_list() -> str:
    return "statements start with " + ", ".join(f"`{word}`" for word in STATEMENTS)


def _error(code: str, source: Source, span: Span, message: str, help: str, label: str = "") -> Diagnostic:
    return Diagnostic(code, Severity.ERROR, message, Label(source, span, label), help=help)
