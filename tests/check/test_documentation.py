"""What `msl blocks` shows of a block: its example is valid as it is."""

from __future__ import annotations

import pytest

from msl.check.check_spec import check_source
from msl.check.names.documentation import Entry, all_entries
from msl.diagnostics.source import Source

#: Spaces for the examples that are statements of their own; `gcv` is for models that are linear in their weights.
SPACE = "use clop\nchain model = naive\n"
NUMBERS = "use clop\nchain model = kridge\n"
#: A model for `start`, which reads it from a file.
MODEL = "use clop\nchain best = naive\n"
WHOLE = ("learner", "transformer", "selector", "post")
STATEMENTS = ("strategy", "estimate", "combiner")


@pytest.mark.slow
@pytest.mark.parametrize(
    "entry", [pytest.param(one, id=f"{one.catalogue}.{one.name}") for one in all_entries() if one.role in WHOLE]
)
def test_the_example_of_a_step_is_a_sound_spec(entry: Entry) -> None:
    found = check_source(Source("<example>", entry.example))
    assert not [one.message for one in found.diagnostics if one.is_error]


@pytest.mark.parametrize(
    "entry", [pytest.param(one, id=f"{one.catalogue}.{one.name}") for one in all_entries() if one.role in STATEMENTS]
)
def test_the_example_of_a_statement_can_be_added_to_a_spec(entry: Entry) -> None:
    text = (NUMBERS if entry.name == "gcv" else SPACE) + entry.example
    found = check_source(Source("<example>", text), read_file=lambda path: MODEL)
    assert not [one.message for one in found.diagnostics if one.is_error]
