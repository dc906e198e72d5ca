"""Files that a spec or a command names, and that are no files: pipes, devices, sockets, folders, links that lead away.

Each is refused with words, at its place, and nothing waits for what never comes.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from msl.check.check_spec import Checked, check_source
from msl.data.data_errors import DataError
from msl.data.read import read_table
from msl.diagnostics.source import Source
from msl.runner.spec_source import read_spec

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes, sockets and links")
BLOCK = 'block b: learner "m:B" { p: int 1..5 }\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with specs, and beside it one that they have no business in."""
    for name in ("specs/team", "shared", "elsewhere"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("specs/team/b.msl", "shared/b.msl", "elsewhere/b.msl"):
        (tmp_path / name).write_text(BLOCK)
    return tmp_path


def using(folder: Path, name: str) -> Checked:
    text = f'use "{name}" as other\nchain m = other.b\n'
    spec = folder / "specs" / "spec.msl"
    spec.write_text(text)
    return check_source(Source(str(spec), text, str(spec)))


def refused(folder: Path, name: str) -> str:
    """The one message about a file that is used, which stands at its name."""
    (error,) = using(folder, name).diagnostics
    assert error.code == "MSL043"
    assert error.primary.source.slice(error.primary.span) == f'"{name}"'
    assert error.help is not None
    return error.message


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_socket(path: Path) -> None:
    before = Path.cwd()
    os.chdir(path.parent)  # a socket's path is short
    try:
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(path.name)
    finally:
        os.chdir(before)


def make_huge(path: Path) -> None:
    path.touch()
    os.truncate(path, 1 << 40)


def make_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


ODD = [
    (make_pipe, "it is a pipe"),
    (make_socket, "it is a socket"),
    (Path.mkdir, "it is a folder"),
    (make_huge, "it is too large"),
]


def run_msl(*arguments: str) -> subprocess.CompletedProcess[str]:
    """A command that is stopped when it hangs."""
    command = [sys.executable, "-m", "msl", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL, check=False)


def test_a_spec_that_uses_a_pipe_is_told_so_and_does_not_wait(folder: Path) -> None:
    make_pipe(folder / "specs" / "pipe.msl")
    spec = folder / "specs" / "spec.msl"
    spec.write_text('use "pipe.msl"\nchain m = pipe.b\n')
    done = run_msl("check", str(spec))
    assert "cannot read `pipe.msl`: it is a pipe" in done.stdout
    assert done.returncode == 1


@pytest.mark.parametrize(("make", "why"), ODD[1:])
def test_what_is_used_is_a_file(make: Callable[[Path], None], why: str, folder: Path) -> None:
    make(folder / "specs" / "odd.msl")
    assert why in refused(folder, "odd.msl")


@pytest.mark.parametrize(
    ("link", "leads_to", "name"),
    [
        ("specs/away.msl", "../elsewhere/b.msl", "away.msl"),
        ("specs/team/away", "../../elsewhere", "team/away/b.msl"),
        ("specs/away", "..", "away/elsewhere/b.msl"),
        ("specs/zero.msl", "/dev/zero", "zero.msl"),
        ("shared/away.msl", "../elsewhere/b.msl", "../shared/away.msl"),
        ("specs/twice.msl", "once.msl", "twice.msl"),
    ],
)
def test_a_link_does_not_lead_out_of_the_folder(link: str, leads_to: str, name: str, folder: Path) -> None:
    (folder / "specs" / "once.msl").symlink_to("../elsewhere/b.msl")
    (folder / link).symlink_to(leads_to)
    assert "a link leads elsewhere" in refused(folder, name)


def test_a_link_out_of_a_folder_that_a_path_goes_back_to_is_refused(tmp_path: Path) -> None:
    (tmp_path / "home" / "specs").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "b.msl").write_text(BLOCK)
    (tmp_path / "home" / "shared").symlink_to("../elsewhere")
    assert "a link leads elsewhere" in refused(tmp_path / "home", "../shared/b.msl")


@pytest.mark.parametrize(
    ("link", "leads_to", "name"),
    [
        ("specs/same.msl", "team/b.msl", "same.msl"),
        ("specs/group", "team", "group/b.msl"),
        ("shared/same.msl", "b.msl", "../shared/same.msl"),
        ("specs/unused.msl", "../elsewhere/b.msl", "team/b.msl"),
        ("specs/unused.msl", "../elsewhere/b.msl", "../shared/b.msl"),
    ],
)
def test_links_inside_and_paths_that_leave_in_words_are_fine(link: str, leads_to: str, name: str, folder: Path) -> None:
    (folder / link).symlink_to(leads_to)
    assert not [d.message for d in using(folder, name).diagnostics if d.is_error]


def test_a_link_back_into_the_folder_of_the_spec_is_fine(folder: Path) -> None:
    (folder / "specs" / "common.msl").write_text(BLOCK)
    (folder / "specs" / "team" / "common.msl").symlink_to("../common.msl")
    (folder / "specs" / "team" / "uses.msl").write_text('use "common.msl"\npart b = common.b\n')
    assert not [d.message for d in using(folder, "team/uses.msl").diagnostics if d.is_error]


def test_a_folder_that_is_reached_by_a_link_is_a_folder_like_others(folder: Path) -> None:
    (folder / "short").symlink_to("specs")
    (folder / "specs" / "away.msl").symlink_to("../elsewhere/b.msl")
    spec = folder / "short" / "spec.msl"
    for name, problems in (("team/b.msl", 0), ("../shared/b.msl", 0), ("away.msl", 1)):
        text = f'use "{name}" as other\nchain m = other.b\n'
        found = check_source(Source(str(spec), text, str(spec))).diagnostics
        assert len([d for d in found if d.is_error]) == problems


def test_a_link_that_leads_to_itself_is_told(folder: Path) -> None:
    (folder / "specs" / "loop.msl").symlink_to("loop.msl")
    assert refused(folder, "loop.msl")


def test_a_used_file_may_begin_with_a_byte_order_mark(folder: Path) -> None:
    (folder / "specs" / "marked.msl").write_bytes(b"\xef\xbb\xbf" + BLOCK.encode())
    assert not [d.message for d in using(folder, "marked.msl").diagnostics if d.is_error]


def test_a_used_file_in_another_encoding_is_told_so(folder: Path) -> None:
    (folder / "specs" / "latin.msl").write_bytes(b"# caf\xe9\n" + BLOCK.encode())
    assert "it is not UTF-8 text" in refused(folder, "latin.msl")


@pytest.mark.parametrize(("make", "why"), [ODD[0], ODD[1], ODD[3], (make_device, "it is a device")])
def test_the_spec_of_a_command_is_a_file(make: Callable[[Path], None], why: str, folder: Path) -> None:
    make(folder / "odd.msl")
    done = run_msl("check", str(folder / "odd.msl"))
    assert why in done.stderr
    assert done.returncode == 2


def test_a_spec_may_come_through_a_descriptor(folder: Path) -> None:
    command = f'"{sys.executable}" -m msl check <(cat "{folder / "shared" / "b.msl"}")'
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("make", "why"), [*ODD[1:2], *ODD[3:], (make_device, "it is a device")])
def test_the_spec_of_a_program_is_a_file(make: Callable[[Path], None], why: str, folder: Path) -> None:
    make(folder / "odd.msl")
    with pytest.raises(ValueError, match=why):
        read_spec(folder / "odd.msl")


@pytest.mark.parametrize("make", [make_pipe, make_socket, make_device])
def test_a_table_is_a_file(make: Callable[[Path], None], folder: Path) -> None:
    make(folder / "odd.csv")
    with pytest.raises(DataError, match="it is not a regular file"):
        read_table(str(folder / "odd.csv"))
