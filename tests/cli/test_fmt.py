"""msl fmt: what it writes, what it leaves alone, and its exit codes."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from msl.cli.shared import console

UGLY, TIDY = "seed   7 # lucky\n", "seed 7  # lucky\n"
BROKEN = "part x = = a\n"


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("a.msl")
    path.write_text(UGLY, encoding="utf-8")
    return path


def test_a_file_is_rewritten(msl, spec: Path) -> None:
    outcome = msl("fmt", "a.msl")
    assert outcome.code == 0
    assert spec.read_text(encoding="utf-8") == TIDY
    assert (outcome.out, outcome.err) == ("", "reformatted a.msl\n")


def test_a_tidy_file_is_not_touched(msl, spec: Path) -> None:
    spec.write_text(TIDY, encoding="utf-8")
    os.utime(spec, (1, 1))
    outcome = msl("fmt", "a.msl")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    assert spec.stat().st_mtime == 1


def test_check_changes_nothing_and_says_so(msl, spec: Path) -> None:
    outcome = msl("fmt", "--check", "a.msl")
    assert outcome.code == 1
    assert outcome.err == "would reformat a.msl\n"
    assert spec.read_text(encoding="utf-8") == UGLY
    spec.write_text(TIDY, encoding="utf-8")
    assert msl("fmt", "--check", "a.msl").code == 0


def test_diff_shows_the_change_and_makes_none(msl, spec: Path) -> None:
    outcome = msl("fmt", "--diff", "a.msl")
    assert outcome.code == 0
    assert "-seed   7 # lucky\n+seed 7  # lucky\n" in outcome.out
    assert spec.read_text(encoding="utf-8") == UGLY
    both = msl("fmt", "--check", "--diff", "a.msl")
    assert both.code == 1
    assert "+seed 7" in both.out


def test_diff_is_coloured_when_asked(msl, spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[32m+seed 7  # lucky\x1b[0m" in msl("fmt", "--diff", "a.msl").out


def test_standard_input_goes_to_standard_output(msl) -> None:
    outcome = msl("fmt", "-", stdin=UGLY)
    assert (outcome.code, outcome.out, outcome.err) == (0, TIDY, "")
    assert msl("fmt", "-", stdin=TIDY).out == TIDY
    checked = msl("fmt", "--check", "-", stdin=UGLY)
    assert (checked.code, checked.out) == (1, "")


def test_errors_are_shown_and_nothing_is_written(msl, spec: Path) -> None:
    spec.write_text(BROKEN, encoding="utf-8")
    outcome = msl("fmt", "a.msl")
    assert outcome.code == 1
    assert outcome.out == ""
    assert "error[MSL001]" in outcome.err
    assert "--> a.msl:1:10" in outcome.err
    assert outcome.err.endswith("1 error\n")
    assert spec.read_text(encoding="utf-8") == BROKEN
    piped = msl("fmt", "-", stdin=BROKEN)
    assert (piped.code, piped.out) == (1, "")
    assert "<stdin>:1:10" in piped.err


def test_one_bad_file_does_not_stop_the_others(msl, spec: Path) -> None:
    Path("bad.msl").write_text(BROKEN, encoding="utf-8")
    outcome = msl("fmt", "bad.msl", "missing.msl", "a.msl")
    assert outcome.code == 2
    assert spec.read_text(encoding="utf-8") == TIDY
    assert "error[MSL001]" in outcome.err
    assert "there is no file `missing.msl`" in outcome.err


def test_windows_line_ends_and_the_byte_order_mark_stay(msl, spec: Path) -> None:
    spec.write_bytes(b"\xef\xbb\xbfmsl 1\r\nseed   7\r\n")
    assert msl("fmt", "a.msl").code == 0
    assert spec.read_bytes() == b"\xef\xbb\xbfmsl 1\r\nseed 7\r\n"


def test_the_mode_of_a_file_stays(msl, spec: Path) -> None:
    spec.chmod(0o640)
    assert msl("fmt", "a.msl").code == 0
    assert stat.S_IMODE(spec.stat().st_mode) == 0o640


def test_a_link_stays_a_link(msl, spec: Path) -> None:
    Path("elsewhere").mkdir()
    spec.rename("elsewhere/real.msl")
    spec.symlink_to("elsewhere/real.msl")
    assert msl("fmt", "a.msl").code == 0
    assert spec.is_symlink()
    assert Path("elsewhere/real.msl").read_text(encoding="utf-8") == TIDY


def test_a_failed_write_leaves_the_file_and_no_litter(msl, spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(console.os, "replace", no_room)
    outcome = msl("fmt", "a.msl")
    assert outcome.code == 2
    assert "cannot write `a.msl`: No space left on device" in outcome.err
    assert spec.read_text(encoding="utf-8") == UGLY
    assert os.listdir() == ["a.msl"]


def test_a_file_that_may_not_be_written_stays(msl, spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console.os, "access", lambda *_: False)  # the tests may run as a user who may do anything
    outcome = msl("fmt", "a.msl")
    assert outcome.code == 2
    assert "it may not be written to" in outcome.err
    assert spec.read_text(encoding="utf-8") == UGLY


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"seed 7 # caf\xe9\n", "is not UTF-8 text: byte 0xE9 on line 1"),
        ("seed 7\n".encode("utf-16"), "is not UTF-8 text: UTF-16 on line 1"),
        (b"# " + b"x" * 16_000_000, "is too large"),
    ],
)
def test_what_is_no_text_is_told_in_a_sentence(msl, spec: Path, content: bytes, message: str) -> None:
    spec.write_bytes(content)
    outcome = msl("fmt", "a.msl")
    assert outcome.code == 2
    assert message in outcome.err
    assert spec.read_bytes() == content
    assert msl("fmt", "-", stdin=content).code == 2


def test_what_is_no_file_is_told_in_a_sentence(msl, spec: Path) -> None:
    directory = msl("fmt", ".")
    assert (directory.code, directory.out) == (2, "")
    assert "is a directory" in directory.err
    missing = msl("fmt", "aa.msl")
    assert missing.code == 2
    assert "did you mean `a.msl`?" in missing.err
    assert msl("fmt", "no/such/place.msl").code == 2
    assert msl("fmt", "a\0b").code == 2
    assert msl("fmt", "a.msl/b.msl").code == 2


def test_wrong_use(msl) -> None:
    assert msl("fmt").code == 2
    assert msl("fmt", "--indent", "4", "a.msl").code == 2
