"""A process that may not make files larger than a limit, for one limit after another: FOLDER FIRST LAST STEP.

For each it prints a line of JSON: the limit, the batches that were stored, the code of the problem, and what a store
without the limit finds afterwards.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

from run_examples import asked, evaluation, is_whole, order

from msl.store.store import DATABASE, Store
from msl.store.store_error import StoreError


def limit_files(size: int | None) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard if size is None else size, hard))


def fill(folder: Path, batches: int) -> tuple[int, str]:
    """How many batches could be stored, and why no more."""
    stored = 0
    try:
        with Store.open(folder) as store:
            run = store.runs.start(order()).id
            for batch in range(batches):
                positions = range(batch * 5, batch * 5 + 5)
                store.record(run, map(evaluation, positions), list(map(asked, positions)))
                stored += 1
    except StoreError as problem:
        return stored, problem.code
    return stored, ""


def main(folder: Path, first: int, last: int, step: int) -> None:
    for limit in range(first, last, step):
        limit_files(limit)
        stored, code = fill(folder / str(limit), batches=8)
        limit_files(None)
        with Store.open(folder / str(limit)) as store:
            found = len(store.evaluations)
            store.evaluations.write([evaluation(999)])
        whole = is_whole(folder / str(limit) / DATABASE)
        print(json.dumps({"limit": limit, "stored": stored, "code": code, "found": found, "whole": whole}), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:5]))
