"""Space: a set of models — its structure, and the requirements that its models meet."""

from __future__ import annotations

from msl.space.condition import Requirement
from msl.space.facts import Facts
from msl.space.node import Node
from msl.text.record import record


@record
class Space:
    """`facts` is None while bounds may still depend on a table; `resolve` gives the space for one."""

    root: Node
    requirements: tuple[Requirement, ...] = ()
    facts: Facts | None = None
