"""Diff requirements: which requirements one space has and another has not, told by what they forbid."""

from __future__ import annotations

from collections.abc import Iterator

from msl.space.change import Change, Kind
from msl.space.entries import Entries, Key
from msl.space.node import Marked, bottom_up
from msl.space.normal import Speaker, naming_of, survey_of
from msl.space.normal_condition import Conditions, Ground
from msl.space.normal_node import Nodes
from msl.space.space import Space
from msl.space.spell import spell_requirement


def requirement_changes(old: Space, new: Space) -> Iterator[Change]:
    """The requirements that went and those that came; a part that is only called otherwise is the same part."""
    before, after = survey_of(old), survey_of(new)
    # What either space holds can be spoken of: a requirement does not vanish with the block that it is about.
    ground = Ground(before.ground.blocks | after.ground.blocks, before.ground.marks | after.ground.marks)
    names: dict[Speaker, str] = {mark: mark for mark in ground.marks}
    names |= {key: ":".join(key) for key in (*before.speakers, *after.speakers) if not isinstance(key, str)}
    entries = Entries()
    forbidden_before = _forbidden(old, Conditions(entries, naming_of(names), ground))
    forbidden_after = _forbidden(new, Conditions(entries, naming_of(names | _same_parts(old, new)), ground))
    all_before, all_after = frozenset().union(*forbidden_before), frozenset().union(*forbidden_after)
    for requirement, keys in zip(old.requirements, forbidden_before, strict=True):
        if not keys <= all_after:
            yield Change(Kind.REQUIREMENT_REMOVED, (), old_text=spell_requirement(requirement))
    for requirement, keys in zip(new.requirements, forbidden_after, strict=True):
        if not keys <= all_before:
            yield Change(Kind.REQUIREMENT_ADDED, (), new_text=spell_requirement(requirement))


def _forbidden(space: Space, conditions: Conditions) -> list[frozenset[Key]]:
    return [conditions.forbidden(requirement) for requirement in space.requirements]


def _same_parts(old: Space, new: Space) -> dict[Speaker, str]:
    """The old names of parts that have another one now and the same content."""
    entries = Entries()
    ours, theirs = _parts(old, Nodes(entries)), _parts(new, Nodes(entries))
    gone = {key: mark for mark, key in ours.items() if mark not in theirs}
    return {mark: gone[key] for mark, key in theirs.items() if mark not in ours and key in gone}


def _parts(space: Space, nodes: Nodes) -> dict[str, Key]:
    nodes.key(space.root)
    return {node.mark: nodes.key(node) for node in bottom_up(space.root) if isinstance(node, Marked)}
