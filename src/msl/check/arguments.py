"""Arguments: which parameter each argument of a use means, by its name or by its place."""

from __future__ import annotations

from msl.check.commas import cut_number, listed_alternatives
from msl.check.foreign import argument_meant, option_meant
from msl.check.outside import Owner
from msl.check.report import Report
from msl.syntax import ast
from msl.syntax.names import name_text
from msl.text.diagnostic import Label
from msl.text.record import record
from msl.text.source import Source
from msl.text.suggest import did_you_mean, listing

_LIMITS = ("evaluations", "time", "each", "fit", "memory", "until")


def is_rest(argument: ast.Argument) -> bool:
    """Whether this is `rest = default`, which closes every parameter that is not mentioned."""
    named = argument.key is not None and argument.key.text == "rest"
    return named and isinstance(argument.value, ast.Default) and not argument.opens


@record
class Naming:
    """Gives the arguments of uses in one file their parameters."""

    source: Source
    report: Report

    def by_name(
        self, names: list[str], arguments: tuple[ast.Argument, ...], owner: Owner
    ) -> dict[str, ast.Argument] | None:
        """The arguments by the parameters that they mean, `rest` among them; None if one of them is wrong."""
        given: dict[str, ast.Argument] = {}
        sound = True
        named_before = False
        for position, argument in enumerate(arguments):
            closes_rest = self._closes_rest(argument)
            name = "rest" if closes_rest else self._name(names, arguments, position, owner, given, named_before)
            named_before = named_before or argument.key is not None
            if name is None:
                sound = False
            elif name in given:
                message = f"`{name}` is given twice"
                first = Label(self.source, given[name].span, "first given here")
                self.report.error("MSL092", self.source, argument.span, message, "again", "remove one", (first,))
                sound = False
            else:
                given[name] = argument
        return given if sound else None

    def _name(
        self,
        names: list[str],
        arguments: tuple[ast.Argument, ...],
        position: int,
        owner: Owner,
        given: dict[str, ast.Argument],
        named_before: bool,
    ) -> str | None:
        """The parameter that an argument means."""
        argument = arguments[position]
        if argument.key is not None:
            name = argument.key.text
            if name in names:
                return name
            message = f"`{owner.name}` has no {owner.what} `{name}`"
            span = argument.key.span
            meant = option_meant(owner.name, name) if owner.closed else None
            help = did_you_mean(name, names) or _takes(owner, names)
            if meant is not None:
                help = f"did you mean `{meant}`?"
            elif owner.what == "parameter" and (without := argument_meant(name)) is not None:
                help, span = without, argument.span
            if owner.closed and name in _LIMITS:
                help = f"limits stand in a statement of their own: `budget({name} = …)`"
            self.report.error("MSL096", self.source, span, message, "", help)
            return None
        if cut_number(arguments, position, self.source, self.report, decimals=named_before):
            return None
        if listed_alternatives(arguments, position, self.source, self.report):
            return None
        if named_before:
            text = self.source.slice(argument.span)
            message = f"`{text}` has no name, and stands after arguments that have one"
            name = next((name_text(name) for name in names if name not in given), "name")
            self.report.error("MSL094", self.source, argument.span, message, "", f"write `{name} = {text}`")
            return None
        if position >= len(names):
            message = f"`{owner.name}` takes {len(names)} {owner.what}{'s' if len(names) != 1 else ''} at most"
            help = _takes(owner, names)
            self.report.error("MSL097", self.source, argument.span, message, "one too many", help)
            return None
        return names[position]

    def _closes_rest(self, argument: ast.Argument) -> bool:
        if argument.key is None or argument.key.text != "rest":
            return False
        if not is_rest(argument):
            message = "`rest` only takes `default`"
            self.report.error("MSL098", self.source, argument.span, message, "", "write `rest = default`")
        return True


def _takes(owner: Owner, names: list[str]) -> str:
    return f"it takes {listing(names)}" if names else f"`{owner.name}` takes none"
