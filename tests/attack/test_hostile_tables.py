"""Tables that nobody means well with: each is read, or refused in words; never a traceback, never a wait."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from msl.cli.main import main
from msl.data.data_errors import DataError
from msl.data.read import read_table

ROWS = "".join(f"{place}.5,{'ab'[place % 2]}\n" for place in range(30))
LONG = "z" * 2_000_000

HOSTILE: dict[str, tuple[bytes, str | None]] = {
    "a cell of megabytes": (f"x,t,class\n{ROWS.replace(',', ',a,')}1.5,{LONG},a\n".encode(), None),
    "a quoted cell of megabytes first": (f'x,t,class\n1.5,"{LONG}",a\n{ROWS.replace(",", ",a,")}'.encode(), None),
    "a ragged row after a cell of megabytes": (f'x,t,class\n1.5,"{LONG}",a\n1,2\n'.encode(), "line 3"),
    "a label of megabytes": (f"x,class\n{ROWS}1.5,{LONG}\n2.5,{LONG}\n".encode(), None),
    "a symbol of megabytes among numbers": (f"x,class\n{ROWS}{LONG},a\n".encode(), None),
    "a name of megabytes": (f"{LONG},class\n{ROWS}".encode(), "2,000,000 characters"),
    "a line without an end": (LONG.encode(), "2,000,000 characters"),
    "a million columns in a row": (b"1," * 1_000_000 + b"1\n", "1,000,001 columns"),
    "a million columns with tabs": (b"a\t" * 1_000_000 + b"a\n" + b"1\t" * 1_000_000 + b"1\n", "1,000,001 columns"),
    "a NUL": (b"x,class\n1,a\n2,\0\n", "the first NUL is in line 3"),
    "a NUL far below": (b"x,class\n" + b"1,a\n2,b\n" * 20_000 + b"3\0,a\n", None),
    "a header alone": (b"x,class\n", "no rows"),
    "one column": (b"x\n1\n2\n3\n", "only the column `x`"),
    "one row": (b"x,class\n1,a\n", "nothing to learn"),
    "ragged rows": (b"x,y,class\n1,2,a\n1,2\n", "line 3"),
    "two encodings": ("x,n,class\n1,Ä,a\n".encode() + "2,Ä,b\n".encode("latin1"), None),
    "a byte-order mark": (b"\xef\xbb\xbfx,class\n" + ROWS.encode(), None),
    "very many labels": (b"x,class\n" + b"".join(b"%d.25,l%d\n" % (i, i % 10_000) for i in range(20_000)), None),
    "nothing": (b"", "is empty"),
    "blanks": (b"\n \n\n", "is empty"),
    "control characters in names": (f'x\x1b[31m,"a\nb",class\n{ROWS.replace(",", ",1,")}'.encode(), None),
    "equal names, very many": (
        b"x," * 3_000 + b"class\n" + (b"1," * 3_000 + b"a\n" + b"2," * 3_000 + b"b\n") * 2,
        None,
    ),
}


def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["msl", *arguments])
    with pytest.raises(SystemExit) as left:
        main()
    shown = capsys.readouterr()
    return int(left.value.code or 0), shown.out, shown.err


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_table_is_read_or_refused_in_words(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    content, refusal = HOSTILE[name]
    Path("t.csv").write_bytes(content)
    code, out, err = run(monkeypatch, capsys, "init", "t.csv")
    assert (code, out) == (0 if refusal is None else 2, "")
    assert "Traceback" not in err
    assert len(err) < 3_000, "words, not the table itself"
    assert "\x1b" not in err
    if refusal is not None:
        assert refusal in err
        assert "help: " in err
        return
    assert len(Path("t.msl").read_text(encoding="utf-8")) < 30_000
    code, out, err = run(monkeypatch, capsys, "check", "t.msl", "--data", "t.csv")
    assert code == 0, out + err
    assert "\x1b" not in out + err
    code, out, err = run(monkeypatch, capsys, "data", "t.csv")
    assert code == 0, err
    assert "\x1b" not in out
    assert len(out) < 60_000
    code, out, _ = run(monkeypatch, capsys, "data", "t.csv", "--json")
    assert code == 0
    assert json.loads(out)["rows"] > 1


def test_a_folder_and_what_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for verb in ("init", "data"):
        code, _, err = run(monkeypatch, capsys, verb, str(tmp_path))
        assert (code, "is a folder" in err) == (2, True)
        code, _, err = run(monkeypatch, capsys, verb, str(tmp_path / "nowhere.csv"))
        assert (code, "there is no file" in err) == (2, True)


def test_a_wide_frame_is_refused_as_a_wide_file_is() -> None:
    import numpy as np

    with pytest.raises(DataError, match="200,001 columns"):
        read_table(np.zeros((2, 200_000)), np.array([0, 1]))
