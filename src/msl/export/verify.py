"""Check an export: run exported code in its own process on the table of the run, or reload a saved model."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msl.diagnostics.user_error import UserError

if TYPE_CHECKING:
    from msl.runner.trained_model import Trained
    from msl.store.stored_run import Run

SECONDS = 600
_UNVERIFIED = "`--skops FILE` writes the fitted model, `--no-verify` the code as it is"
#: One thread, as the models of a run are fitted with: on a busy machine more of them only wait for each other.
_ENVIRONMENT = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)
#: Of modules beside the file or in the current folder, only trusted packages are imported. Folders that only this
#: process knows come last: a module of the user never replaces an installed one.
_PROGRAM = """
import json, runpy, sys
from importlib.machinery import PathFinder
given = json.loads(sys.argv[1])
sys.path += [each for each in given["path"] if each not in sys.path]
class Beside:
    @staticmethod
    def find_spec(name, path=None, target=None):
        return PathFinder.find_spec(name, [given["beside"]]) if path is None and name in given["trusted"] else None
sys.meta_path.append(Beside)
sys.argv = given["command"]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


class CheckFailed(UserError):
    """An export that does not predict what the model predicts, or does not run."""


def table_to_check(trained: Trained, run: Run, given: str | None) -> tuple[str | None, str]:
    """The path of the table of a run, checked by its fingerprint; or None and why there is none.

    A table that is `given` has to be the one of the run; raises UserError where it is not.
    """
    from msl.data.data_errors import DataError
    from msl.data.read import read_table

    path = given or run.options.get("data")
    if not isinstance(path, str):
        return None, "the table of the run was not read from a file"
    try:
        table = read_table(path, options=trained.schema.options)
    except DataError as wrong:
        reason = wrong.problems[0].message
    else:
        if table.fingerprint == run.digests.data:
            return str(Path(path).absolute()), ""
        reason = f"`{path}` is not the table of the run: its content has another fingerprint"
    if given is not None:
        raise UserError(reason, "name the table that the run was on")
    return None, reason


def check_python(text: str, table: str, beside: Path, trusted: tuple[str, ...], seconds: float = SECONDS) -> None:
    """Runs the self-test of exported code on a table; raises CheckFailed unless it predicts what the run did.

    Packages that are trusted may also stand in the folder `beside` the spec.
    """
    with tempfile.TemporaryDirectory(prefix="msl-export-") as folder:
        file = Path(folder, "model.py")
        file.write_text(text, encoding="utf-8")
        given = {
            "path": [each for each in sys.path if each and each != str(beside)],
            "beside": str(beside),
            "trusted": list(trusted),
            "command": [str(file), table],
        }
        # Its own group, so that processes that it starts end with it.
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", _PROGRAM, json.dumps(given)],
            cwd=folder,
            env={**os.environ, **_ENVIRONMENT},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            _, told = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise CheckFailed(f"the exported code was not done after {seconds:g} s", _UNVERIFIED) from None
        finally:
            if process.poll() is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
    words = told.decode(errors="replace").strip().splitlines() or [f"it ended with {process.returncode}"]
    if process.returncode == 0:
        return
    if any("NOT the predictions of the run" in line for line in words):
        raise CheckFailed("the exported code does not predict what the model of the run predicts", _UNVERIFIED)
    raise CheckFailed(f"the exported code does not run: {words[-1]}", _UNVERIFIED)


def check_skops(content: bytes, trained: Trained, trusted: Collection[str]) -> None:
    """Loads what was saved, and raises CheckFailed unless it predicts the same for generated rows."""
    import numpy as np

    from msl.export.python_file import probe_rows
    from msl.runner.safe_load import ModelFileError, load_estimator

    rows = probe_rows(trained.ranges, [name in trained.schema.symbols for name in trained.schema.names], 256)
    try:
        said = load_estimator(content, "the saved model", trusted).outputs(rows)
    except ModelFileError as problem:
        raise CheckFailed(problem.message, problem.help) from None
    if not np.allclose(said, trained.estimator.outputs(rows), rtol=1e-9, atol=1e-12, equal_nan=True):
        message = "the model, saved and read again, does not predict what it predicts here"
        raise CheckFailed(message, "export it as Python code with `-o FILE`")
