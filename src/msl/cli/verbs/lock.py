"""msl lock: write the digests, bounds and versions of a plan to a lock file, or compare with one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from msl.cli.shared.console import Exit, tell
from msl.cli.shared.load_plan import (
    ChainOption,
    DataArgument,
    SeedOption,
    SetOption,
    SpecArgument,
    StartOption,
    TargetOption,
    TrustOption,
    load_planned,
)
from msl.diagnostics.user_error import UserError

if TYPE_CHECKING:
    from msl.runner.plan import Plan
    from msl.store.lock import Difference, Lock

#: The group and the place of this verb in `msl --help`.
PLACE = ("Search", 3)


def lock(
    spec: SpecArgument,
    data: DataArgument,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit 1 if the lock file differs.")] = False,
    target: TargetOption = None,
    seed: SeedOption = None,
    set_: SetOption = None,
    start: StartOption = None,
    chain: ChainOption = None,
    trust: TrustOption = None,
) -> Exit:
    """Write SPEC.lock: digests, resolved bounds, versions and the seed, to be committed with the spec."""
    from msl.store.lock import lock_path, write_lock
    from msl.store.store import store_folder

    _, plan = load_planned(spec, data, changes=set_, target=target, seed=seed, chain=chain, trust=trust, start=start)
    path = lock_path(Path(spec))
    if check:
        found = _differences(plan, path)
        tell(_listed(path, found) if found else f"{path} is up to date")
        return Exit.FAILED if found else Exit.FINE
    is_same = path.exists() and not _known_differences(plan, path)
    if not is_same:
        write_lock(_with_parent(plan, store_folder(Path(spec))), path)
    tell(f"{path} is up to date already" if is_same else f"wrote {path}")
    return Exit.FINE


def _with_parent(plan: Plan, folder: Path) -> Lock:
    """The lock, with the earlier version of the table that the store of the spec knows."""
    from msl.runner.plan import plan_to_lock
    from msl.runner.table_versions import find_earlier_table
    from msl.store.store import Store, has_store

    lock = plan_to_lock(plan)
    if not has_store(folder):
        return lock
    with Store.open(folder, read_only=True) as store:
        earlier = find_earlier_table(store, plan)
    if earlier is None:
        return lock
    tell(f"parent table: {earlier.difference} since run {earlier.run}")
    return replace(lock, parent=earlier.parent())


def refuse_differences(plan: Plan, spec: Path) -> None:
    """Ends the command where a plan differs from the lock file of its spec."""
    from msl.store.lock import lock_path

    path = lock_path(spec)
    found = _differences(plan, path)
    if found:
        tell(_listed(path, found))
        help = f"write it anew with `msl lock {spec} DATA` if this is meant, or run without `--locked`"
        raise UserError(f"nothing was run: the plan differs from {path}", help)


def _differences(plan: Plan, path: Path) -> list[Difference]:
    """The differences between a plan and its lock file."""
    from msl.runner.plan import plan_to_lock
    from msl.store.lock import differences, read_lock

    return differences(read_lock(path), plan_to_lock(plan))


def _known_differences(plan: Plan, path: Path) -> bool:
    """Whether a lock file that is about to be written differs or cannot be read."""
    from msl.runner.plan import plan_to_lock
    from msl.store.lock import lock_to_text, read_lock
    from msl.store.store_error import StoreError

    try:
        known = read_lock(path)
    except StoreError:
        return True
    lock = replace(plan_to_lock(plan), parent=known.parent)
    return path.read_bytes() != lock_to_text(lock).encode()


def _listed(path: Path, found: list[Difference]) -> str:
    return "\n".join([f"{path} is out of date:", *(f"  {each}" for each in found)])
