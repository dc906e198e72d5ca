"""Provenance: by what a figure was made — a digest of the code, the day, the machine and the versions on it."""

from __future__ import annotations

import hashlib
import os
import platform
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import msl

MACHINE = "machine"
PACKAGES = ("numpy", "scipy", "scikit-learn", "polars")
#: What some benchmarks compare with.
PEERS = ("optuna", "smac", "flaml", "tpot", "ConfigSpace", "pyswarms", "pymoo")


@cache
def code_digest() -> str:
    """Twelve characters that change with any file of the package, for records that outlive a commit."""
    root = Path(msl.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        if path.suffix in {".py", ".msl"}:
            digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


def today() -> str:
    return datetime.now(UTC).date().isoformat()


def environment() -> dict[str, str]:
    """The machine, and the versions of Python, of msl and of all packages that matter here and are installed."""
    found = {
        MACHINE: f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}",
        "python": platform.python_version(),
        "msl": msl.__version__,
    }
    for package in (*PACKAGES, *PEERS):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
