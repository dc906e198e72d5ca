"""Foreign steps: pipelines as lists of named steps, and lists with dashes."""

from __future__ import annotations

from msl.syntax.tokens import token_span
from msl.syntax.trouble import Trouble
from msl.text.diagnostic import Diagnostic

#: What joins steps elsewhere, and the operator that does here.
JOINS = {
    **dict.fromkeys(("Pipeline", "make_pipeline", "pipeline", "sequential", "Sequential", "make_imb_pipeline"), ">>"),
    **dict.fromkeys(("FeatureUnion", "make_union", "ColumnTransformer", "make_column_transformer", "union"), "&"),
}


def pipeline_of_pairs(trouble: Trouble) -> Diagnostic | None:
    """`Pipeline([("scale", StandardScaler()), ("svc", SVC())])`: steps have no names of their own."""
    if trouble.tokens[0].type not in {"PART", "CHAIN"} or trouble.token.type != "COMMA":
        return None
    before = range(-1, -trouble.failure.index - 1, -1)
    opened = next((i for i in before if _joins(trouble, i)), None)
    end = trouble.closing(opened) if opened is not None else None
    if opened is None or end is None:
        return None
    at = opened + (2 if str(trouble.near(opened + 1)) == "[" else 1)
    steps = []
    while at < end and str(trouble.near(at)) == "(":
        closed, first_end = trouble.closing(at), trouble.item_end(at + 1)
        if closed is None or first_end + 2 > closed - 1:
            return None
        steps.append(trouble.text(first_end + 2, trouble.item_end(first_end + 2)))
        at = closed + 2
    if not steps:
        return None
    name = str(trouble.near(opened - 1))
    joined = f" {JOINS[name]} ".join(steps)
    message = f"steps are joined by `{JOINS[name]}`, and have no names of their own"
    return trouble.error("MSL035", message, f"write `{joined}`", trouble.span(opened - 1, end))


def _joins(trouble: Trouble, offset: int) -> bool:
    token, name = trouble.near(offset), trouble.near(offset - 1)
    return token is not None and token.type == "CALL" and str(name) in JOINS


def dashed_list(trouble: Trouble) -> Diagnostic | None:
    """`chain m:` and a list with dashes: a list in YAML."""
    keyword = trouble.tokens[0]
    if keyword.type not in {"PART", "CHAIN", "USE", "MINIMIZE", "MAXIMIZE"} or trouble.token.type not in {
        "COLON",
        "MINUS",
    }:
        return None
    first = 1 if trouble.token.type == "COLON" else 0
    items = dashed_items(trouble, first)
    if not items:
        return None
    whole = token_span(keyword).to(token_span(trouble.tokens[-1]))
    if keyword.type not in {"PART", "CHAIN"}:
        help = f"write `{keyword} {', '.join(items)}`"
        return trouble.error("MSL035", f"what `{keyword}` lists is separated by commas", help, whole)
    name = str(trouble.before) if trouble.failure.index > 1 else "model"
    steps, options = " >> ".join(items), " | ".join(items)
    help = f"for one step after another write `{keyword} {name} = {steps}`, for a choice `{keyword} {name} = {options}`"
    return trouble.error("MSL001", "steps are joined by `>>` or `|`, not listed", help, whole)


def dashed_items(trouble: Trouble, first: int) -> list[str]:
    """The items of a list with dashes, one a line, from a token on; none if it is no such list."""
    items: list[list[int]] = []
    for offset in range(first, trouble.rest + 1):
        token = trouble.near(offset)
        assert token is not None
        if token.type == "MINUS" and _begins_line(trouble, offset):
            items.append([])
        elif not items:
            return []
        else:
            items[-1].append(offset)
    return [trouble.text(item[0], item[-1]) for item in items if item]


def _begins_line(trouble: Trouble, offset: int) -> bool:
    token, before = trouble.near(offset), trouble.near(offset - 1)
    if token is None or before is None:
        return True
    return "\n" in trouble.source.text[token_span(before).end : token_span(token).start]
