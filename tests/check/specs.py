"""Short ways to check a text in tests."""

from __future__ import annotations

from collections.abc import Mapping

from msl.check.check_spec import Checked, check_source
from msl.diagnostics.diagnostic import Diagnostic
from msl.diagnostics.source import Source
from msl.space.formulas import Facts
from msl.space.spec import Spec

TABLE = Facts(n_samples=150, n_features=8, n_classes=3, task="classification")


def checked(
    text: str, files: Mapping[str, str] | None = None, facts: Facts | None = None, chain: str | None = None
) -> Checked:
    """The check of a text whose file is `spec.msl`, beside the given files."""
    known = {"spec.msl": text, **(files or {})}

    def read_file(path: str) -> str:
        if path not in known:
            raise FileNotFoundError(2, "No such file or directory", path)
        return known[path]

    return check_source(Source("spec.msl", text, "spec.msl"), facts, chain, read_file)


def sound(text: str, files: Mapping[str, str] | None = None, facts: Facts | None = None) -> Spec:
    """The spec of a text that has no error."""
    result = checked(text, files, facts)
    assert result.spec is not None, [d.message for d in result.diagnostics]
    return result.spec


def errors(text: str, files: Mapping[str, str] | None = None, facts: Facts | None = None) -> list[Diagnostic]:
    return [d for d in checked(text, files, facts).diagnostics if d.is_error]


def only_error(text: str, files: Mapping[str, str] | None = None, facts: Facts | None = None) -> Diagnostic:
    found = errors(text, files, facts)
    assert len(found) == 1, [(d.code, d.message) for d in found]
    return found[0]


def underlined(diagnostic: Diagnostic) -> str:
    """The text that the diagnostic points at."""
    return diagnostic.primary.source.slice(diagnostic.primary.span)


def codes(text: str, files: Mapping[str, str] | None = None, facts: Facts | None = None) -> list[str]:
    return [d.code for d in checked(text, files, facts).diagnostics]
