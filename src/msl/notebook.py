"""The cell magic `%%msl`: check the spec in a cell, or run it on a table of the notebook."""

from __future__ import annotations

import argparse
import shlex
from typing import Any

from msl.api import check_spec, run
from msl.diagnostics.render import render
from msl.diagnostics.user_error import UserError


class _Arguments(argparse.ArgumentParser):
    """Raises an exception, which a notebook shows, instead of ending the process."""

    def error(self, message: str) -> Any:
        raise UserError(f"{message}\n{self.format_usage()}")


def _arguments() -> argparse.ArgumentParser:
    parser = _Arguments(prog="%%msl", description="Check the spec in this cell, or run it on a table.", add_help=False)
    parser.add_argument("table", nargs="?", help="a variable of the notebook, or a path; without it, check only")
    parser.add_argument("-o", "--output", default="result", help="the variable that the result goes to")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--store", help="the folder of the store, by default .msl")
    parser.add_argument("--trust", action="append", default=[])
    return parser


def msl_magic(line: str, cell: str, variables: dict[str, Any]) -> None:
    """What `%%msl` does: with a table it searches, and puts the result among the variables."""
    given = _arguments().parse_args(shlex.split(line))
    if given.table is None:
        told = check_spec(cell)
        print(render(told).rstrip() if told else "no problems")
        return
    table = variables.get(given.table, given.table)
    try:
        result = run(cell, table, seed=given.seed, jobs=given.jobs, store=given.store, trusted=given.trust)
    except UserError as wrong:  # printed as the command does, without a traceback
        print(wrong)
        return
    variables[given.output] = result
    print(result.best)
    print(", ".join(f"{name} = {value:.4g}" for name, value in result.objectives.items()))


def load_ipython_extension(ipython: Any) -> None:
    """`%load_ext msl` comes here."""

    def msl(line: str, cell: str) -> None:
        """%%msl [TABLE] [-o NAME] [--seed N] [--jobs N] [--store FOLDER] [--trust PACKAGE]"""
        msl_magic(line, cell, ipython.user_ns)

    ipython.register_magic_function(msl, "cell", "msl")
