"""A process that writes batches to a store until it is told to stop or killed: FOLDER WRITER BATCHES BATCH_SIZE.

It says the number of each batch once it is stored, and `start` before the first.
"""

from __future__ import annotations

import sys
from pathlib import Path

from run_examples import asked, evaluation, order

from msl.store.store import Store
from msl.store.stored_run import Event


def main(folder: str, writer: str, batches: int, size: int) -> None:
    with Store.open(Path(folder)) as store:
        run = store.runs.start(order(writer)).id
        print("start", run, flush=True)
        for batch in range(batches):
            positions = range(batch * size, (batch + 1) * size)
            store.record(
                run,
                [evaluation(position, writer) for position in positions],
                [asked(position, writer, size) for position in positions],
                [Event("iteration", {"batch": batch}, position=batch)],
            )
            print(batch, flush=True)
        store.runs.end(run, "finished")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
