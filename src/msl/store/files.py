"""Models and reports beside the database: named after their run, and written atomically."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from msl.store.store_error import StoreError, translated
from msl.store.stored_run import Process, is_alive, is_run_id, this_process

#: A file that is being written, by the process with this number.
_PART = re.compile(r".+\.(\d+)\.part")


class Files:
    """The folders `models` and `reports` of a store."""

    def __init__(self, folder: Path) -> None:
        self.models, self.reports = folder / "models", folder / "reports"

    def create(self) -> None:
        for folder in (self.models, self.reports):
            make_folder(folder)

    def model(self, run: str, suffix: str = ".skops") -> Path:
        """The path of a model of a run; `suffix` distinguishes several, as in `.best.skops`."""
        return self.models / f"{_named(run)}{suffix}"

    def report(self, run: str, suffix: str = ".html") -> Path:
        """The path of a report of a run."""
        return self.reports / f"{_named(run)}{suffix}"

    def of_run(self, run: str) -> list[Path]:
        """The models and reports of a run, by name."""
        return [file for file in self.everything() if run_of_file(file) == run]

    def everything(self) -> list[Path]:
        """All models and reports, and parts of those that are being written."""
        # Files behind a link do not belong to the store, and must not be removed as files of no run.
        folders = [folder for folder in (self.models, self.reports) if folder.is_dir() and not folder.is_symlink()]
        return [file for folder in folders for file in sorted(folder.iterdir()) if file.is_file()]

    def orphans(self, runs: Collection[str]) -> list[Path]:
        """Files of none of these runs, and those that a process left half written."""
        return [file for file in self.everything() if is_orphan(file, runs)]


def make_folder(folder: Path) -> None:
    """Makes a folder for models or reports; a link, which may lead anywhere, is refused."""
    folder.mkdir(exist_ok=True)
    if folder.is_symlink():
        raise StoreError(
            "MSL501",
            f"{folder} is a link to another folder, and a store keeps its files in its own",
            "remove the link, or name another folder with `--store FOLDER`",
        )


def _named(run: str) -> str:
    """The id of a run, checked so that it cannot lead to another folder."""
    if not is_run_id(run):
        raise StoreError("MSL506", f"there is no run `{run}`", "`msl log` lists the runs of the store")
    return run


def is_orphan(file: Path, runs: Collection[str]) -> bool:
    """Whether a file belongs to none of these runs; a part belongs to the process that writes it."""
    if found := _PART.fullmatch(file.name):
        return is_alive(Process(this_process().host, int(found[1]))) is False
    return run_of_file(file) not in runs


def run_of_file(file: Path) -> str:
    """The id in a file's name: all before the first dot."""
    return file.name.partition(".")[0]


def write_whole(path: Path, content: bytes | str) -> None:
    """Writes a file atomically: it has the old or the new content at any time, even if power is lost."""
    data = content.encode() if isinstance(content, str) else content
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    with translated(path):
        try:
            part.unlink(missing_ok=True)
            with part.open("xb") as stream:  # a new file, never one that a link leads to
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            part.replace(path)
            _clear_halves(path)
        except BaseException:
            with suppress(OSError):
                part.unlink(missing_ok=True)
            raise


def _clear_halves(path: Path) -> None:
    """Removes parts of this file that killed processes have left."""
    for part in path.parent.glob(f"{glob.escape(path.name)}.*.part"):
        if is_orphan(part, ()):
            part.unlink(missing_ok=True)
