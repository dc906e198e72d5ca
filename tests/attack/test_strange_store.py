"""A store that somebody else has made: whatever is in it, nothing is run, written elsewhere or sent to the terminal."""

from __future__ import annotations

import ast
import json
import os
import shutil
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from winner_cases import write_table

from msl import run as msl_run
from msl.cli.main import main
from msl.store.doctor import examine, repair
from msl.store.run_table import run_checksum
from msl.store.schema import TABLES, checksum, selection
from msl.store.store import DATABASE, Files, Store, write_atomically
from msl.store.store_error import StoreError
from msl.store.stored_run import is_run_id, make_run_id

CODE = 'x"""\nimport pathlib; pathlib.Path("run").touch()\n"""'
STRANGE = [
    CODE,
    "../../outside",
    "/tmp/outside",
    "..",
    "",
    "a/b",
    "\x1b]0;owned\x07",
    "20251116-025301-lusab\n",
    "nobody",
]
VERBS = [
    ["log"],
    ["show", "@"],
    ["show", "@", "--failures"],
    ["report", "@"],
    ["export", "@"],
    ["predict", "@", "table.csv"],
    ["compare", "@", "@1"],
    ["diff", "@", "@1"],
    ["replay", "@"],
    ["gc", "--keep", "0"],
    ["doctor"],
]

SPEC = """\
use clop
chain m = standardize >> (zarbi | naive | kridge)
minimize error by cv(folds = 2)
search random(evaluations = 6)
ensemble vote(top = 3)
"""


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str


Msl = Callable[..., Said]


@pytest.fixture
def msl(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Msl:
    """The command in this process."""
    monkeypatch.delenv("FORCE_COLOR", raising=False)

    def run(*arguments: str) -> Said:
        monkeypatch.setattr(sys, "argv", ["msl", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        captured = capsys.readouterr()
        return Said(left.value.code if isinstance(left.value.code, int) else 0, captured.out, captured.err)

    return run


@pytest.fixture(scope="module")
def sent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a spec, a table and a store in which it was run."""
    here = tmp_path_factory.mktemp("sent")
    (here / "spec.msl").write_text(SPEC, encoding="utf-8")
    write_table("wine", here).rename(here / "table.csv")
    msl_run(here / "spec.msl", here / "table.csv", store=here / ".msl")
    return here


@pytest.fixture
def store(sent: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the store, in a folder that is the current one."""
    here = tmp_path / "deep" / "here"
    shutil.copytree(sent, here)
    monkeypatch.chdir(here)
    return here / ".msl"


def tamper(store: Path, table: str, **changes: Any) -> None:
    """Changes all rows of a table and makes their checksums fit: these protect from accidents, not from people."""
    with closing(sqlite3.connect(store / DATABASE, isolation_level=None)) as connection:
        for rowid, *row in connection.execute(selection(table).replace("SELECT ", "SELECT rowid, ")).fetchall():
            named = dict(zip(TABLES[table], row, strict=True)) | changes
            if "checksum" in named:
                values = list(named.values())
                named["checksum"] = run_checksum(values) if table == "runs" else checksum(values[:-1])
            sets = ", ".join(f"{name} = ?" for name in named)
            connection.execute(f"UPDATE {table} SET {sets} WHERE rowid = ?", (*named.values(), rowid))


def rename_run(store: Path, identity: str) -> None:
    for table, column in (
        ("runs", "id"),
        ("asks", "run"),
        ("events", "run"),
        ("sources", "run"),
        ("evaluations", "run"),
    ):
        tamper(store, table, **{column: identity})
    for file in Files(store).everything():
        target = file.parent / f"{identity}.{file.name.partition('.')[2]}"
        if "\0" not in identity and target.parent.is_dir():
            file.rename(target)


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_ids_have_one_form() -> None:
    for number in range(300):
        assert is_run_id(make_run_id(str(number), datetime(2026, 11, 17, 1, 2, number % 60, tzinfo=UTC), number))
    assert not any(is_run_id(strange) for strange in [*STRANGE, None, 7, b"20251116-025301-lusab"])


@pytest.mark.parametrize("identity", STRANGE)
def test_a_run_with_a_strange_name_is_damage(store: Path, msl: Msl, identity: str, tmp_path: Path) -> None:
    rename_run(store, identity)
    before = {path for path in everything(tmp_path) if ".msl/" not in path}
    for verb in VERBS:
        found = msl(*verb)
        assert found.code in (1, 2), (verb, found)
        assert "Traceback" not in found.err
        assert "\x1b" not in found.out + found.err
        assert "\x07" not in found.out + found.err
        assert "damaged" in found.out + found.err, verb
    assert {path for path in everything(tmp_path) if ".msl/" not in path} == before
    mended = msl("doctor", "--repair")
    assert mended.code == 0, mended
    assert msl("doctor").code == 0
    assert "no runs yet" in msl("log").err


def test_no_file_of_a_strange_name_is_written(tmp_path: Path) -> None:
    files = Files(tmp_path / "store")
    for strange in STRANGE:
        for path in (files.model, files.report):
            with pytest.raises(StoreError):
                path(strange)


def test_links_in_a_store_lead_nowhere(store: Path, msl: Msl, tmp_path: Path) -> None:
    """What they lead to is neither written nor taken for files of no run, which would be removed."""
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "letter.txt").write_text("mine", encoding="utf-8")
    for name in ("models", "reports"):
        shutil.rmtree(store / name)
        (store / name).symlink_to(precious)
    msl("gc", "--keep", "0")
    assert msl("report", "@").code == 2
    assert msl("run", "spec.msl", "table.csv", "--on", "inprocess").code == 2
    with pytest.raises(StoreError, match="is a link to another folder"):
        Store.open(store)
    assert everything(precious) == {str(precious / "letter.txt"): b"mine"}


def test_a_half_written_file_is_never_a_link(tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.write_text("mine", encoding="utf-8")
    (tmp_path / f"m.skops.{os.getpid()}.part").symlink_to(target)
    write_atomically(tmp_path / "m.skops", b"model")
    assert (target.read_text(), (tmp_path / "m.skops").read_bytes()) == ("mine", b"model")


STEERING = "\x1b]0;owned\x07\x1b[8mhidden\x9b2J\u202e[red]x[/red]"


def test_nothing_stored_steers_a_terminal(store: Path, msl: Msl) -> None:
    with Store.open(store, read_only=True) as opened:
        (run,) = opened.runs.all()
    result = json.loads(json.dumps(dict(run.result))) | {"best": STEERING, "ending": STEERING}
    result |= {"objectives": {STEERING: 0.5}, "ensemble": [STEERING]}
    tamper(store, "runs", name=STEERING, spec=STEERING, versions=json.dumps({STEERING: STEERING}))
    tamper(store, "runs", result=json.dumps(result), options=json.dumps({"data": STEERING, "trusted": [STEERING]}))
    tamper(store, "sources", path=STEERING)
    tamper(store, "evaluations", cause=STEERING, message=STEERING, step=STEERING, text=STEERING, grade=1)
    tamper(store, "events", kind="batch")
    told = ""
    for verb in (["log"], ["show", "@"], ["show", "@", "--failures"], ["show", "@", "--trace"], ["doctor"]):
        found = msl(*verb)
        told += found.out + found.err
        assert "Traceback" not in found.err, (verb, found.err)
    assert "owned" in told
    assert not set(told) & set("\x1b\x07\x9b\u202e")


def test_words_of_a_model_are_no_code(store: Path, msl: Msl) -> None:
    with Store.open(store, read_only=True) as opened:
        run = opened.runs.ids()[0]
    file = Files(store).model(run, ".msl")
    for words in (
        CODE,
        "a\\",
        '"""',
        '""""""',
        "\\" * 3 + '"""',
        "x\0y\x0cz",
        "\u2028\n# coding: utf-7\n",
        '\\"""\nimport os',
    ):
        file.write_text(words, encoding="utf-8")
        exported = msl("export", "@")
        assert exported.code == 0, exported.err
        tree = ast.parse(exported.out)
        assert not [node for node in ast.walk(tree) if isinstance(node, ast.Import) and node.names[0].name == "pathlib"]
        assert isinstance(tree.body[0], ast.Expr)
        assert (ast.get_docstring(tree) or "").startswith("The winner of ")


@pytest.mark.parametrize("program", ["CREATE TRIGGER t AFTER INSERT ON asks BEGIN DELETE FROM runs; END", "VIEW"])
def test_a_store_that_brings_programs_is_damaged(store: Path, msl: Msl, program: str) -> None:
    with closing(sqlite3.connect(store / DATABASE)) as connection:
        if program == "VIEW":
            connection.executescript("ALTER TABLE texts RENAME TO t; CREATE VIEW texts AS SELECT digest, text FROM t")
        else:
            connection.execute(program)
    assert any(finding.kind == "damage" for finding in examine(store))
    assert msl("log").code == 2
    repair(store)
    assert not [finding for finding in examine(store) if finding.kind == "damage"]
    assert msl("log").code == 0


DEEP = "[" * 200_000 + "]" * 200_000


@pytest.mark.parametrize(
    ("table", "changes"),
    [
        ("runs", {"result": "[]"}),
        ("runs", {"result": f'{{"best": {DEEP}}}'}),
        ("runs", {"options": "7"}),
        ("runs", {"seed": "many"}),
        ("runs", {"name": b"\xff"}),
        ("runs", {"started": "tomorrow"}),
        ("asks", {"losses": "{}"}),
        ("asks", {"losses": '["x"]'}),
        ("asks", {"vector": b"123"}),
        ("events", {"figures": DEEP}),
        ("events", {"figures": "[1]"}),
        ("evaluations", {"losses": "[]"}),
        ("evaluations", {"measures": "[1]"}),
        ("evaluations", {"question": "{}"}),
        ("evaluations", {"warnings": "[7]"}),
        ("evaluations", {"text": 7}),
        ("sources", {"path": b"\xff"}),
    ],
)
def test_rows_of_other_kinds_are_damage(store: Path, msl: Msl, table: str, changes: dict[str, Any]) -> None:
    tamper(store, table, **changes)
    assert any(finding.kind == "damage" for finding in examine(store)), changes
    for verb in VERBS:
        found = msl(*verb)
        assert found.code in (0, 1, 2), (verb, found)
        assert "Traceback" not in found.err, (verb, found.err[-500:])
    assert msl("doctor", "--repair").code in (0, 1)
    assert not [finding for finding in examine(store) if finding.kind == "damage"]
