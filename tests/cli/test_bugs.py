"""An exception that nobody raised on purpose is reported as a bug, in whichever package it arises."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from run_store import Ran

from msl.diagnostics.user_error import UserError

Run = Callable[..., Any]

SPEC = "use clop\nchain m = standardize? >> (zarbi | naive)\nminimize ber by cv(folds = 3)\nsearch grid\n"
RUN = ["run", "m.msl", "train.csv", "--on", "inprocess", "--quiet"]
LATER = ["--store", "STORE"]
#: For each package a function that a command reaches. Some are deep inside, below handlers of other errors.
PLANTED = [
    ("msl.diagnostics.render.render", ["check", "wrong.msl"]),
    ("msl.space.enumerate.count.count", ["plan", "m.msl", "train.csv"]),
    ("msl.check.check_spec.check_source", ["check", "m.msl"]),
    ("msl.check.structure.step_order.misplaced", ["check", "m.msl"]),
    ("msl.language.parser.text_to_ast", ["check", "m.msl"]),
    ("msl.language.formatter.format_source", ["fmt", "--check", "m.msl"]),
    ("msl.encode.compile.compile_space", ["sample", "m.msl"]),
    ("msl.encode.scale.scale_of", ["sample", "range.msl"]),
    ("msl.blocks.base.load.load_class", ["plan", "m.msl", "train.csv"]),
    ("msl.blocks.base.build.adapt_model", RUN),
    ("msl.blocks.base.recipes.recipe_of", RUN),
    ("msl.search.strategies.grid.grid", RUN),
    ("msl.data.read.read_table", ["check", "m.msl", "--data", "train.csv"]),
    ("msl.data.infer_types.type_column", ["data", "train.csv"]),
    ("msl.evaluate.resampling.score", RUN),
    ("msl.evaluate.splits.fold_splits", RUN),
    ("msl.evaluate.fit.identity_of", RUN),
    ("msl.workers.in_process.TaskRunner.run", RUN),
    ("msl.workers.task.Limits.of", RUN),
    ("msl.store.run_table.RunTable.start", RUN),
    ("msl.store.store.locate_run", ["show", "@", *LATER]),
    ("msl.store.lock.text_to_lock", ["lock", "m.msl", "train.csv", "--check"]),
    ("msl.runner.plan.make_plan", ["plan", "m.msl", "train.csv"]),
    ("msl.runner.summary.summarize", RUN),
    ("msl.runner.trained_model.Trained._outputs", ["predict", "LEAN", "wine.csv", *LATER]),
    ("msl.blocks.base.chain.checked_outputs", ["predict", "LEAN", "wine.csv", *LATER]),
    ("msl.report.run_account.account_of", ["show", "@", *LATER]),
    ("msl.report.html.page.record_to_html", ["report", "@", "-o", "page.html", *LATER]),
    ("msl.export.python_file.export_python", ["export", "LEAN", *LATER]),
    ("msl.export.verify.table_to_check", ["export", "LEAN", *LATER]),
    ("msl.cli.shared.load_spec.load", ["sample", "m.msl"]),
    ("msl.cli.shared.load_spec.read_source", ["check", "m.msl"]),
]
PACKAGES = "diagnostics space check language encode blocks search data evaluate workers store runner report export cli"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ran: Ran) -> Path:
    monkeypatch.chdir(tmp_path)
    lines = [f"{place % 7},{(place * 3) % 5},{'ab'[place % 2]}" for place in range(30)]
    (tmp_path / "train.csv").write_text("\n".join(["f1,f2,class", *lines]) + "\n", encoding="utf-8")
    (tmp_path / "wine.csv").write_bytes((ran.folder / "wine.csv").read_bytes())
    (tmp_path / "m.msl").write_text(SPEC, encoding="utf-8")
    (tmp_path / "m.lock").write_text("", encoding="utf-8")
    (tmp_path / "wrong.msl").write_text("chain m = nothing_like_this\n", encoding="utf-8")
    (tmp_path / "range.msl").write_text("use sbm\nchain m = knn(k: int 1..9, rest = default)\n", encoding="utf-8")
    return tmp_path


def _holders(target: str) -> Iterator[tuple[Any, str]]:
    """Every module or class of msl that has the function under its name: importers have references of their own."""
    import sys
    from pkgutil import resolve_name

    owner, _, name = target.rpartition(".")
    holder = resolve_name(owner)
    planted = getattr(holder, name)
    yield holder, name
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith("msl.") and vars(module).get(name) is planted:
            yield module, name


def _oops(*arguments: object, **options: object) -> None:
    int("oops")


def test_every_package_is_planted_in() -> None:
    assert {target.split(".")[1] for target, _ in PLANTED} == set(PACKAGES.split())


@pytest.mark.slow
@pytest.mark.parametrize(("target", "arguments"), PLANTED, ids=[target for target, _ in PLANTED])
def test_an_accident_is_reported_as_a_bug(
    msl: Run, here: Path, ran: Ran, monkeypatch: pytest.MonkeyPatch, target: str, arguments: list[str]
) -> None:
    named = {"STORE": str(ran.store), "LEAN": ran.runs["lean", 0]}
    for holder, name in list(_holders(target)):
        monkeypatch.setattr(holder, name, _oops)
    shown = msl(*[named.get(each, each) for each in arguments])
    assert shown.code == 70, shown.err
    assert "Traceback" in shown.err
    assert "invalid literal for int() with base 10: 'oops'" in shown.err
    assert "This is a bug in msl" in shown.err


@pytest.mark.slow
def test_the_same_place_may_refuse_on_purpose(msl: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise UserError("the table is upside down", "turn it round")

    for holder, name in list(_holders("msl.runner.plan.make_plan")):
        monkeypatch.setattr(holder, name, refuse)
    shown = msl("plan", "m.msl", "train.csv")
    assert (shown.code, shown.out) == (2, "")
    assert shown.err.endswith("error: the table is upside down\nhelp: turn it round\n")
