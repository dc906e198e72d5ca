"""How often the rows were looked at: counted, told, and in the interval for whichever run is kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from search_cases import commissioned, write_classes

from msl.cli.shared.summary_text import closing_words
from msl.data.read import read_like
from msl.runner.session import Result, run_plan

ALL = "lda(rest = default) | gaussian_nb(rest = default)"
SPEC = f"use sklearn\nchain m = {ALL}\nminimize error by cv(folds = 4)\nsearch grid\n"


def run_of(folder: Path, text: str = SPEC, tested: bool = False) -> Result:
    request = commissioned(folder, text, write_classes(folder))
    if tested:
        request = replace(request, test=read_like(request.plan.table.schema, str(write_classes(folder, rows=60))))
        request = replace(request, plan=commissioned(folder, text, write_classes(folder)).plan)
    return run_plan(request, folder / ".msl")


def test_other_runs_on_the_rows_are_counted_and_widen_the_interval_of_whichever_is_kept(tmp_path: Path) -> None:
    first = run_of(tmp_path)
    assert "ledger" not in first.summary
    assert "interval_of_runs" not in first.summary["corrected"]
    assert "ledger" not in run_of(tmp_path).summary, "the same run again says the same"
    second = run_of(tmp_path, SPEC.replace("gaussian_nb", "qda"))
    third = run_of(tmp_path, SPEC.replace("error by cv(folds = 4)", "ber by cv(folds = 3)"))
    assert second.summary["ledger"] == {"runs": 1, "protocols": 1, "evaluations": 3}
    assert third.summary["ledger"] == {"runs": 2, "protocols": 2, "evaluations": 5}
    for one, name in ((second, "error"), (third, "ber")):
        low, high = one.summary["corrected"]["interval"][name]
        lowest, highest = one.summary["corrected"]["interval_of_runs"][name]
        assert lowest < low < high < highest
    words = closing_words(third.summary, tmp_path)
    assert "2 other runs of this store looked at these rows before (5 evaluations, with 2 protocols)" in words


def test_the_first_look_at_a_test_table_is_a_test_and_a_later_one_a_look(tmp_path: Path) -> None:
    first, again = run_of(tmp_path, tested=True), run_of(tmp_path, tested=True)
    assert first.summary["test_table"]["look"] == again.summary["test_table"]["look"] == 1
    assert "\ntest  " in closing_words(first.summary, tmp_path)
    later = run_of(tmp_path, SPEC.replace("gaussian_nb", "qda"), tested=True)
    assert later.summary["test_table"]["look"] == 2
    words = closing_words(later.summary, tmp_path)
    assert "\nlook 2  " in words
    assert "no test any more: another run was scored on this table" in words
    assert "look 2" in later._repr_html_()
