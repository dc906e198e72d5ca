"""msl doctor: check a store, and repair it."""

from __future__ import annotations

import json as json_text
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from msl.cli.shared.console import Exit, write, write_exactly
from msl.cli.shared.load_run import STORE_HELP

if TYPE_CHECKING:
    from msl.store.doctor import Finding

#: The group and the place of this verb in `msl --help`.
PLACE = ("Look back", 6)


def doctor(
    repair: Annotated[
        bool, typer.Option("--repair", help="Repair what can be repaired; the damaged file is kept.")
    ] = False,
    store: Annotated[Path | None, typer.Option(metavar="FOLDER", help=STORE_HELP)] = None,
    json: Annotated[bool, typer.Option("--json", help="As JSON: a list of findings.")] = False,
) -> Exit:
    """Check a store: damage, incomplete files, runs whose process has died. Exit 1 while anything is broken."""
    from msl.store.doctor import examine
    from msl.store.doctor import repair as mend
    from msl.store.store import find_store

    folder = find_store(store)
    findings = mend(folder) if repair else examine(folder)
    if json:
        write_exactly(json_text.dumps([asdict(finding) for finding in findings], indent=2, ensure_ascii=False) + "\n")
    else:
        write(_as_text(findings, folder))
    broken = any(finding.severity == "error" and not finding.repaired for finding in findings)
    return Exit.FAILED if broken else Exit.FINE


def _as_text(findings: list[Finding], folder: Path) -> str:
    if not findings:
        return f"{folder} is in order\n"
    lines = []
    for finding in findings:
        lines.append(f"{'repaired' if finding.repaired else finding.severity}: {finding.message}")
        if finding.help:
            lines.append(f"  help: {finding.help}")
    return "\n".join(lines) + "\n"
