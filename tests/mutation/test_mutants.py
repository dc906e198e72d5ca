"""The faults that are planted, and whether it is told right which of them tests notice."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from mutants import Mutant, mutants_of
from mutate import RELATED, SOURCE, TESTS, Copy, Layout, NotSound, campaign, drawn, main, report

ROOT = Path(__file__).parents[2]


def faults(text: str) -> list[str]:
    return [f"{one.before} -> {one.after}" for one in mutants_of("a.py", text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = a < b", ["a < b -> (a <= b)", "a < b -> (a >= b)"]),
        ("x = a is None", ["a is None -> (a is not None)"]),
        ("x = a and b", ["a and b -> (a or b)"]),
        ("x = not a", ["not a -> (a)"]),
        ("x = a + b", ["a + b -> (a - b)"]),
        ("x = b // a", ["b // a -> (b / a)"]),
        ("x = 3", ["3 -> (2)", "3 -> 4"]),
        ("x = 100_000", []),
        ("x = 0.5", ["0.5 -> 1.0"]),
        ("x = True", ["True -> False"]),
        ("x = a if b else c", ["a if b else c -> (a)", "a if b else c -> (c)"]),
        ("x = min(a, b)", ["min(a, b) -> max(a, b)"]),
        ("x = any(a)", ["any(a) -> all(a)"]),
        ("x = f(a, b)", ["f(a, b) -> f(b, a)"]),
        ("x = f(a, a)", []),
        ("x = f(a, *b)", []),
        ("x = isinstance(a, b)", []),
        ("if a: x = b", ["a -> not (a)"]),
        ("if a == b: x = c", ["a == b -> (a != b)"]),
        ("def f():\n    return a", ["a -> None"]),
        ("def f():\n    return None", []),
    ],
)
def test_what_could_be_wrong(text: str, expected: list[str]) -> None:
    assert faults(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        '"""Text, 3."""',
        "import a",
        "assert a < 3",
        "raise ValueError(3)",
        "x: Literal[3]",
        "def f(x: Literal[3]) -> Literal[4]: ...",
        "@dataclass(frozen=True)\nclass A: ...",
        "x = f'{a < b:>3}'",
        "x = zip(a, strict=True)",
    ],
)
def test_what_is_no_behaviour_has_no_faults(text: str) -> None:
    assert faults(text) == []


def test_a_fault_leaves_all_else_as_it_was() -> None:
    text = "# Größe\nx = 'é', a < (\n    b  # why\n)\ny = 1_000\n"
    (moved, _) = mutants_of("a.py", text)
    assert moved.text == "# Größe\nx = 'é', (a <= b)\ny = 1_000\n"
    assert (moved.place, moved.line) == ("a.py:2:11", 2)


def test_every_fault_of_the_source_is_python_and_changes_it() -> None:
    for path in ("runner/loop.py", "search/base.py", "space/membership_of_values.py"):
        text = (ROOT / SOURCE / path).read_text(encoding="utf-8")
        made = mutants_of(path, text)
        assert len(made) > 10
        assert len({mutant.text for mutant in made}) > 0.9 * len(made)
        assert all(ast.dump(ast.parse(mutant.text)) != ast.dump(ast.parse(text)) for mutant in made)


def test_every_package_that_is_named_has_a_folder_and_tests() -> None:
    for package, folders in RELATED.items():
        assert (ROOT / SOURCE / package).is_dir()
        assert all(list((ROOT / TESTS / folder).glob("test_*.py")) for folder in folders)


def test_a_seed_draws_the_same_faults_and_another_seed_others() -> None:
    one, again, other = (drawn(ROOT, Layout(), ["search"], "", 20, seed) for seed in (1, 1, 2))
    assert one == again != other
    assert len(one) == 20
    assert one == sorted(one, key=lambda mutant: (mutant.path, mutant.line, mutant.column))


def test_tests_that_name_the_module_come_first() -> None:
    first, rest, elsewhere = Layout().stages(ROOT, f"{SOURCE}/search/base.py")
    assert {str(Path(file).parent) for file in first + rest} == {f"{TESTS}/search"}
    assert [file for file in first + rest if "msl.search.base" in (ROOT / file).read_text("utf-8")] == first
    assert f"{TESTS}/check/test_searching.py" in elsewhere  # it names the module
    assert f"{TESTS}/runner/test_override.py" in elsewhere  # of a package that uses it
    assert not any(file.startswith((f"{TESTS}/search/", f"{TESTS}/attack/")) for file in elsewhere)


# --- from end to end, on a package of three lines ---


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "src/tiny/core").mkdir(parents=True)
    (tmp_path / "tests/core").mkdir(parents=True)
    (tmp_path / "src/tiny/__init__.py").touch()
    (tmp_path / "src/tiny/core/__init__.py").touch()
    (tmp_path / "src/tiny/core/sign.py").write_text(
        "def is_positive(x):\n    return x > 0\n\n\n"
        "def halves(x):\n    while x > 1:\n        x = x // 2\n    return x\n",
        encoding="utf-8",
    )
    (tmp_path / "tests/core/test_sign.py").write_text(
        "from tiny.core.sign import halves, is_positive\n\n\n"
        "def test_signs():\n    assert is_positive(2)\n    assert not is_positive(-1)\n\n\n"
        "def test_halves():\n    assert halves(8) == 1\n",
        encoding="utf-8",
    )
    return tmp_path


LAYOUT = Layout("src/tiny", "tests", (("core", ("core",)),))


def planted(tree: Path, *afters: str) -> list[Mutant]:
    return [mutant for mutant in drawn(tree, LAYOUT, ["core"], "", 0, 1) if mutant.after in afters]


def test_it_is_told_which_faults_are_noticed_and_which_survive(tree: Path) -> None:
    before = {path: path.read_text(encoding="utf-8") for path in tree.rglob("*.py")}
    lines: list[str] = []
    trials = campaign(tree, planted(tree, "(x >= 0)", "(x <= 0)"), LAYOUT, jobs=2, say=lines.append)
    assert [(trial.mutant.after, trial.verdict) for trial in trials] == [
        ("(x <= 0)", "killed"),
        ("(x >= 0)", "survived"),
    ]
    assert trials[0].by == "tests/core/test_sign.py::test_signs"
    assert report(trials).splitlines() == [
        "1 of 2 faults were noticed (50 %)",
        "survived  src/tiny/core/sign.py:2:12  `x > 0`  →  `(x >= 0)`",
    ]
    assert len(lines) == 3
    assert {path: path.read_text(encoding="utf-8") for path in tree.rglob("*.py")} == before


def test_a_fault_under_which_tests_do_not_end_is_noticed(tree: Path, tmp_path: Path) -> None:
    """Halving by one: for ever."""
    (mutant,) = (one for one in planted(tree, "(1)") if one.before == "2")
    assert Copy(tree, tmp_path / "copy", LAYOUT).tried(mutant, patience=10).verdict == "timeout"


def test_slow_tests_may_notice_what_quick_ones_miss(tree: Path) -> None:
    with (tree / "tests/core/test_sign.py").open("a", encoding="utf-8") as file:
        file.write("\n\n@__import__('pytest').mark.slow\ndef test_zero():\n    assert not is_positive(0)\n")
    missed = planted(tree, "(x >= 0)")
    assert [trial.verdict for trial in campaign(tree, missed, LAYOUT, options=("-m", "not slow"))] == ["survived"]
    assert [trial.verdict for trial in campaign(tree, missed, LAYOUT, options=("-m", "slow"))] == ["killed"]


def test_nothing_is_concluded_from_tests_that_fail_anyway(tree: Path) -> None:
    (tree / "tests/core/test_sign.py").write_text("def test_it():\n    assert False\n", encoding="utf-8")
    with pytest.raises(NotSound, match="without any fault"):
        campaign(tree, drawn(tree, LAYOUT, ["core"], "", 0, 1), LAYOUT)


def test_the_command_lists_faults(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "--only", "search/base", "--sample", "0", "--list"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown
    assert all(line.startswith(f"{SOURCE}/search/base.py:") for line in shown)
    with pytest.raises(SystemExit):
        main(["nonsense"])
