"""A Dask cluster of real processes, for the tests of executors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from executor_processes import wait_until


@dataclass
class DaskCluster:
    """A scheduler and workers, each a process of its own on a free port of the loopback."""

    folder: Path
    #: For the scheduler and its workers alike.
    options: str = ""
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def address(self) -> str:
        found: str = json.loads(self._scheduler_file.read_text())["address"]
        return found.replace("tcp://", "dask://")

    @property
    def _scheduler_file(self) -> Path:
        return self.folder / "scheduler.json"

    def start(self, workers: int) -> None:
        self._run("scheduler --host 127.0.0.1 --port 0 --no-dashboard")
        wait_until(self._scheduler_file.exists, 60)
        for _ in range(workers):
            self.add_worker()

    def add_worker(self) -> subprocess.Popen[bytes]:
        return self._run("worker --no-nanny --nthreads 1 --no-dashboard --host 127.0.0.1 --death-timeout 60")

    def stop(self) -> None:
        for process in reversed(self.processes):
            process.kill()
            process.wait()

    def _run(self, command: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "dask",
                *command.split(),
                *self.options.split(),
                "--scheduler-file",
                str(self._scheduler_file),
            ],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)},
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.processes.append(process)
        return process
