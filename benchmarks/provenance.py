"""Provenance: by what a figure was made — versions, a digest of the code, the day, the machine."""

from __future__ import annotations

import hashlib
import os
import platform
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import msl

PACKAGES = ("numpy", "scipy", "scikit-learn", "polars")


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


def versions(packages: tuple[str, ...] = PACKAGES) -> dict[str, str]:
    """The versions of Python, of msl and of those packages that are installed."""
    found = {"python": platform.python_version(), "msl": msl.__version__}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def machine() -> str:
    return f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}"
