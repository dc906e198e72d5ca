"""Load the function behind a metric or an estimate: `msl.evaluate:ber`, or `package.module:function`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from msl.diagnostics.user_error import UserError


class CannotLoad(UserError):
    """A function that is declared and cannot be imported, as its package is installed here."""


@cache
def load_function(kind: str, name: str, target: str) -> Callable[..., Any]:
    """The function of a metric or an estimate (`kind`) with this name. Raises CannotLoad.

    Targets come from declarations of installed packages only, which the checker has read.
    """
    module, _, attribute = target.partition(":")
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as trouble:
        raise CannotLoad(f"the {kind} `{name}` cannot be loaded: {trouble}") from trouble
    if not callable(found):
        raise CannotLoad(f"the {kind} `{name}` is not a function but {type(found).__name__}")
    return found  # type: ignore[no-any-return]
