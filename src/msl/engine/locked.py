"""Locked: what a plan came to on its table, as a lock — so that version control can tell when any of it changes."""

from __future__ import annotations

from msl.engine.plan import Plan, written_space
from msl.engine.versions import versions_of_packages, versions_of_space
from msl.runs.lock import Lock, Plain
from msl.space.digest import run_digest

#: Kinds of dimensions whose values a table may bound; which blocks there are is in the digest of the space.
_NUMBERS = ("int", "real", "bool", "ordered", "count", "unit", "place")


def plan_to_lock(plan: Plan) -> Lock:
    """The digests of a plan, every open domain with the numbers that the table gave it, versions and the seed."""
    digests = plan.digests
    return Lock(
        seed=plan.seed,
        digests={
            "space": digests.space,
            "encoding": run_digest({"written": written_space(plan.spec)}),
            "evaluation": digests.evaluation,
            "search": digests.search,
            "data": digests.data,
        },
        bounds=_bounds(plan),
        versions={**versions_of_packages(frozenset({"msl"})), **versions_of_space(plan.spec.space)},
    )


def _bounds(plan: Plan) -> dict[str, Plain]:
    """Each open domain of numbers by its path; one that stands at several places may have several domains."""
    found: dict[str, dict[str, None]] = {}
    for meaning in plan.terrains[0].codec.layout.meanings:
        if meaning.kind in _NUMBERS:
            size = "" if meaning.width == 1 else f"{meaning.width} of "
            found.setdefault(meaning.path, {})[f"{size}{meaning.range}"] = None
    return {path: "; ".join(domains) for path, domains in found.items()}
