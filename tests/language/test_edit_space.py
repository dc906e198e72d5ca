"""Edits of the text of a spec: one place changes, comments and layout stay."""

from __future__ import annotations

import pytest

from msl.diagnostics.source import Source
from msl.diagnostics.user_error import UserError
from msl.language.edit_space import Edit, edit_source, patch_text

TEXT = """use sklearn
# what grows
block boosted: learner "sklearn.ensemble:HistGradientBoostingClassifier" {
  learning_rate: real 0.02..0.3 log default 0.1,  # slow is good
  max_iter = 100,
}
part learn = boosted weight 3 | lda  # linear
  | qda
chain m = learn  # the end
search random(evaluations = 20)
"""


def edited(*edits: Edit) -> str:
    return edit_source(Source("m.msl", TEXT), edits).text


@pytest.mark.parametrize(
    ("edit", "before", "after"),
    [
        (Edit("declare", "boosted.learning_rate=real 0.02..1 log"), "real 0.02..0.3 log", "real 0.02..1 log"),
        (Edit("set", "search.evaluations=40"), "evaluations = 20", "evaluations = 40"),
        (Edit("drop", "qda", ("boosted", "lda", "qda")), "  # linear\n  | qda", "  # linear\n"),
        (Edit("drop", "boosted", ("boosted", "lda", "qda")), "boosted weight 3 | lda", "lda"),
        (Edit("require", "not qda"), "# the end\n", "# the end\nrequire not qda\n"),
    ],
)
def test_one_place_changes(edit: Edit, before: str, after: str) -> None:
    assert edited(edit) == TEXT.replace(before, after, 1)


@pytest.mark.parametrize(
    "edit",
    [
        Edit("declare", "boosted.max_iter=int 5..9"),  # it is closed
        Edit("declare", "lda.shrinkage=real 0..1"),  # declared elsewhere
        Edit("drop", "qda", ("lda", "qda")),  # no such choice
    ],
)
def test_what_is_not_there_is_not_edited(edit: Edit) -> None:
    with pytest.raises(UserError):
        edited(edit)


def test_a_patch_names_the_file_as_it_was_named_but_never_from_the_root() -> None:
    for name, shown in (("specs/m.msl", "specs/m.msl"), ("/home/me/m.msl", "m.msl")):
        patch = patch_text(Source(name, TEXT), Source(name, TEXT.replace("20", "40")))
        assert patch.startswith(f"--- a/{shown}\n+++ b/{shown}\n")
