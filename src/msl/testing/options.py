"""Options: those of a strategy as a spec gives them, with the defaults of its declaration."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from msl.check.spec import check_source
from msl.text.source import Source

#: A spec that any strategy can search; some take one objective, some several.
_SPEC = "msl 1\nuse sbm\nchain model = knn\nminimize {objectives}\nsearch {call}\n"
_OBJECTIVES = ("error by cv(folds = 2)", "error by cv(folds = 2), features")


@cache
def options_of(call: str) -> Mapping[str, Any]:
    """The options of a call such as `pso(swarm = 3)`; a strategy of an installed package is known too."""
    search = f"random then {call}" if call.split("(")[0] == "confirm" else call
    for objectives in _OBJECTIVES:
        checked = check_source(Source("spec.msl", _SPEC.format(objectives=objectives, call=search)))
        if checked.spec is not None:
            return dict(checked.spec.search[-1].call.options)
    raise ValueError("; ".join(diagnostic.message for diagnostic in checked.diagnostics))
