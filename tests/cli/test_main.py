"""The command itself: help, version, completion, quick start, and what happens when something goes wrong."""

from __future__ import annotations

import subprocess
import sys

import pytest
import typer

import msl as package
from msl.cli import main
from msl.cli.shared import console
from msl.cli.shared.console import Exit, guarded, wants_colour
from msl.diagnostics.user_error import UserError

_THEN_LIST_MODULES = """
import sys
from msl.cli.main import main
try:
    main()
except SystemExit as left:
    assert not left.code
print("LOADED", *sorted({name.split(".")[0] for name in sys.modules}))
"""
_WRITE_MUCH = """
from msl.cli.shared.console import guarded, write
def verb():
    for _ in range(100_000):
        write("x" * 100)
guarded(verb)()
"""
HEAVY = {"lark", "numpy", "scipy", "pandas", "polars", "sklearn", "joblib", "pyarrow"}


def test_help_groups_the_verbs(msl_process) -> None:
    outcome = msl_process("--help")
    assert outcome.returncode == 0
    for verb in main.all_verbs():
        assert verb.name in outcome.stdout
        assert verb.group in main.GROUPS
        assert verb.group in outcome.stdout
    assert "--version" in outcome.stdout
    assert "--install-completion" in outcome.stdout


def modules_loaded(msl_process, *arguments: str) -> set[str]:
    """The packages in memory after a command that went well."""
    outcome = msl_process(*arguments, code=_THEN_LIST_MODULES)
    assert outcome.returncode == 0, outcome.stderr
    return set(outcome.stdout.rpartition("LOADED")[2].split())


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["explain", "MSL009"], ["fmt", "--help"]])
def test_quick_commands_load_nothing_heavy(msl_process, arguments: list[str]) -> None:
    loaded = modules_loaded(msl_process, *arguments)
    assert "typer" in loaded
    assert not loaded & HEAVY


def test_fmt_loads_the_grammar_and_no_numbers(msl_process, tmp_path) -> None:
    spec = tmp_path / "a.msl"
    spec.write_text("seed 7\n", encoding="utf-8")
    assert modules_loaded(msl_process, "fmt", str(spec)) & HEAVY == {"lark"}


def test_version(msl) -> None:
    outcome = msl("--version")
    assert (outcome.code, outcome.out) == (0, f"msl {package.__version__}\n")


def test_alone_it_shows_its_help_and_is_wrong_use(msl) -> None:
    outcome = msl()
    assert outcome.code == 2
    assert "Usage: msl" in outcome.out + outcome.err


def test_a_misspelt_verb_gets_a_suggestion(msl) -> None:
    outcome = msl("fnt")
    assert outcome.code == 2
    assert "fmt" in outcome.err


@pytest.mark.slow
def test_completion_offers_verbs_and_codes(msl_process) -> None:
    offered = msl_process(_MSL_COMPLETE="complete_zsh", _TYPER_COMPLETE_ARGS="msl ex")
    assert "explain" in offered.stdout
    offered = msl_process(_MSL_COMPLETE="complete_zsh", _TYPER_COMPLETE_ARGS="msl explain MSL00")
    assert "MSL009" in offered.stdout


def test_every_verb_says_what_it_does() -> None:
    for verb in main.all_verbs():
        assert verb.function.__doc__


# --- when something goes wrong ----------------------------------------------------------------------------------------


def run(verb) -> int:
    with pytest.raises(SystemExit) as left:
        guarded(verb)()
    assert isinstance(left.value.code, int)
    return left.value.code


def test_exit_codes_pass_through() -> None:
    assert run(lambda: None) == 0
    assert run(lambda: Exit.FAILED) == 1


def test_wrong_use_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    def verb() -> None:
        raise UserError("there is no \x1b file", "make one")

    assert run(verb) == 2
    assert capsys.readouterr().err == "error: there is no ␛ file\nhelp: make one\n"


def test_a_bug_shows_its_traceback_and_asks_for_a_report(capsys: pytest.CaptureFixture[str]) -> None:
    def verb() -> None:
        raise RuntimeError("the unexpected")

    assert run(verb) == 70
    told = capsys.readouterr().err
    assert "Traceback" in told
    assert "RuntimeError: the unexpected" in told
    assert f"This is a bug in msl {package.__version__}" in told
    assert "report" in told


def test_an_interrupt_is_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    def verb() -> None:
        raise KeyboardInterrupt

    assert run(verb) == 130
    assert capsys.readouterr() == ("", "")


def test_a_verb_may_leave_through_typer() -> None:
    def verb() -> None:
        raise typer.Exit(3)

    with pytest.raises(typer.Exit):
        guarded(verb)()


def test_a_pipe_whose_reader_has_gone_is_quiet() -> None:
    writer = subprocess.Popen([sys.executable, "-c", _WRITE_MUCH], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert writer.stdout is not None
    assert writer.stderr is not None
    writer.stdout.read(10)
    writer.stdout.close()
    assert writer.stderr.read() == b""
    writer.stderr.close()
    assert writer.wait(timeout=30) == 141


def test_a_terminal_that_cannot_show_a_sign_gets_another(msl_process) -> None:
    code = "from msl.cli.shared.console import write\nwrite('a … b 漢\\n')"
    outcome = msl_process(code=code, PYTHONUTF8="0", PYTHONIOENCODING="ascii")
    assert outcome.returncode == 0
    assert outcome.stdout == "a ? b ?\n"


# --- colour -----------------------------------------------------------------------------------------------------------


class Stream:
    def __init__(self, terminal: bool) -> None:
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


@pytest.mark.parametrize(
    ("environment", "terminal", "colour"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": ""}, True, True),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        ({"TERM": "dumb"}, True, False),
    ],
)
def test_colour_on_terminals_only_unless_told(monkeypatch, environment, terminal: bool, colour: bool) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert wants_colour(Stream(terminal)) is colour


def test_a_report_counts_for_people_alone(capsys: pytest.CaptureFixture[str]) -> None:
    from msl.diagnostics.diagnostic import Format
    from msl.diagnostics.source import Source
    from msl.language.parser import text_to_ast

    _, diagnostics = text_to_ast(Source("a.msl", "seed x"))
    assert console.report(diagnostics) is Exit.FAILED
    assert capsys.readouterr().err.endswith("1 error\n")
    assert console.report(diagnostics, Format.GITHUB, sys.stdout) is Exit.FAILED
    captured = capsys.readouterr()
    assert captured.out.startswith("::error file=a.msl")
    assert captured.err == ""
    assert console.report([]) is Exit.FINE
    assert capsys.readouterr() == ("", "")
