"""Chains: which chain of a file is searched."""

from __future__ import annotations

from msl.check.library import Declaration, Module
from msl.check.report import Report
from msl.syntax import ast
from msl.text.record import record
from msl.text.source import Span
from msl.text.suggest import did_you_mean, listing


@record
class Chains:
    """The chains of one file and of the files that it uses."""

    module: Module
    report: Report

    def chosen(self, wanted: str | None) -> Declaration | None:
        """What is searched: this file's only chain, or the only chain of the files it uses."""
        own = self.module.chains()
        used = [chain for module in self.module.uses.values() for chain in module.chains()]
        candidates = own or used
        source = self.module.source
        start = Span(0, min(1, len(source.text)))
        if wanted is not None:
            return self._wanted(wanted, own + used, start)
        if len(candidates) == 1:
            self._meet(candidates[0])
            return candidates[0]
        broken = self.module.unknowable or bool(self.module.file.broken)
        if not candidates and not broken and self._is_spec():
            help = "add `chain model = …`, or use a file that has one"
            self.report.error("MSL072", source, start, "there is no chain: nothing to search", "", help)
        if len(candidates) > 1:
            span = candidates[-1].node.name.span if own else start
            self._several(candidates, span)
        return None

    def _wanted(self, wanted: str, known: list[Declaration], start: Span) -> Declaration | None:
        """The chain that `--chain` names: alone, or with its file where two files have one of that name."""
        chosen = [chain for chain in known if wanted in (chain.name, self._qualified(chain))]
        if len(chosen) == 1:
            self._meet(chosen[0])
            return chosen[0]
        if chosen:
            self._several(chosen, start)
            return None
        names = [chain.name for chain in known]
        help = did_you_mean(wanted, names) or (f"chains are {listing(names)}" if names else "declare one")
        self.report.error("MSL073", self.module.source, start, f"there is no chain `{wanted}`", "", help)
        return None

    def _several(self, chains: list[Declaration], span: Span) -> None:
        names = [chain.name for chain in chains]
        shown = names if len(set(names)) == len(names) else [self._qualified(chain) for chain in chains]
        message = f"there are several chains: {listing(shown)}"
        help = f"pick one, as in `--chain {shown[0]}`"
        also = tuple(chain.label for chain in chains[:4])
        self.report.error("MSL074", self.module.source, span, message, "", help, also)

    def _qualified(self, chain: Declaration) -> str:
        qualifier = next((name for name, module in self.module.uses.items() if module is chain.module), None)
        return chain.name if qualifier is None else f"{qualifier}.{chain.name}"

    def _meet(self, chain: Declaration) -> None:
        for qualifier, module in self.module.uses.items():
            if chain.module is module:
                self.module.qualifiers_met.add(qualifier)

    def _is_spec(self) -> bool:
        """A file of blocks and parts is there to be used; any other wants a chain."""
        statements = self.module.file.statements
        library = (ast.Block, ast.Derive, ast.Part, ast.Use, ast.Edition, ast.Require)
        declares = any(isinstance(s, ast.Block | ast.Derive | ast.Part) for s in statements)
        return not (declares and all(isinstance(s, library) for s in statements))
