"""Usage: the memory of a process, as Linux tells it; None where there is nobody to ask."""

from __future__ import annotations

from pathlib import Path

_PAGE_KB = 1024
SUPPORTED = Path("/proc/self/status").exists()


def held_bytes(pid: int | str = "self") -> int | None:
    """What a process holds by itself: neither programs nor files that it has mapped, such as the table."""
    found = _status(pid, ("RssAnon", "RssShmem"))
    return sum(found.values()) if found else None


def peak_bytes() -> int | None:
    """The most that this process held at once since `forget_peak`, with programs and mapped files."""
    return _status("self", ("VmHWM",)).get("VmHWM")


def forget_peak() -> None:
    """Starts counting the peak anew; where that is not allowed, peaks are those of the whole process so far."""
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        return


def reserved_bytes() -> int | None:
    """What counts against RLIMIT_DATA."""
    return _status("self", ("VmData",)).get("VmData")


def _status(pid: int | str, names: tuple[str, ...]) -> dict[str, int]:
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return {}
    lines = (line.partition(":") for line in text.splitlines())
    return {name: int(value.split()[0]) * _PAGE_KB for name, _, value in lines if name in names}
