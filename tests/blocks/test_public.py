"""Classes of blocks have public names, and revisions that follow their source and not their file."""

from __future__ import annotations

import ast
import json
import pickle
import subprocess
import sys
import zipfile
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import msl.blocks
from msl.blocks.public import HOMES, PACKAGE, current_name, public_names, target_modules
from msl.blocks.revision import read_source, revision_of_symbols

SOURCES = Path(msl.blocks.__file__).parent
WINE = Path(__file__).parents[2] / "specs" / "wine.csv"
SPEC = """
use clop
chain m = standardize >> (naive | zarbi)
minimize ber by cv(folds = 2)
search grid
"""


@pytest.mark.parametrize("name", sorted(HOMES))
def test_a_public_class_is_known_by_its_public_name(name: str) -> None:
    found = getattr(msl.blocks, name)
    assert found is getattr(import_module(HOMES[name]), name)
    assert (found.__module__, found.__qualname__) == (PACKAGE, name)
    assert pickle.loads(pickle.dumps(found)) is found


def test_the_table_lists_what_is_decorated() -> None:
    decorated = {
        node.name
        for path in SOURCES.rglob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
        and any(isinstance(each, ast.Name) and each.id == "public" for each in node.decorator_list)
    }
    assert decorated == set(HOMES)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute `Nothing`"):
        _ = msl.blocks.Nothing


def test_targets_lead_to_modules() -> None:
    assert target_modules("sklearn.svm:SVC") == {"sklearn.svm"}
    assert public_names("msl.blocks:GKRidge*") == ["GKRidgeClassifier", "GKRidgeRegressor"]
    assert target_modules("msl.blocks:NaiveBayes") == {HOMES["NaiveBayes"]}


def test_names_in_old_models_lead_to_the_names_of_today() -> None:
    assert current_name("msl.blocks.weighting", "Gaussian") == (PACKAGE, "GaussianWeighting")
    assert current_name("msl.blocks.kernel_map", "Gaussian") == (PACKAGE, "GaussianKernel")
    assert current_name("msl.blocks.linear", "Zarbi") == (PACKAGE, "Zarbi")
    assert current_name("sklearn.svm", "SVC") == ("sklearn.svm", "SVC")


# --- revisions --------------------------------------------------------------------------------------

FIRST = '''
"""A module."""
from msl.blocks.other import far
SCALE = 2.0

def near(x: int) -> int:
    """Words."""
    return x * SCALE

def unrelated(x):
    return x

class Block:
    # a comment
    def fit(self, x):
        return near(far(x))
'''
EDITS = {
    "the class": ("near(far(x))", "-near(far(x))"),
    "a function that it calls": ("x * SCALE", "x + SCALE"),
    "a constant behind that": ("SCALE = 2.0", "SCALE = 3.0"),
}
NO_EDITS = {
    "a comment": ("# a comment", "# another"),
    "a docstring": ("Words.", "Other words."),
    "an annotation": ("x: int", "x: float"),
    "layout": ("near(far(x))", "near(\n            far(x),\n        )"),
    "what it does not use": ("return x\n", "return x + 1\n"),
}


def definitions(source: str) -> dict[str, tuple[str, tuple[tuple[str, str], ...]]]:
    """What a revision is made of: the text of each definition that `Block` reaches."""
    module = read_source("msl.blocks.here", source)
    pending, reached = ["Block"], {}
    while pending:
        name = pending.pop()
        if name in module.definitions and name not in reached:
            reached[name] = (module.definitions[name].text, module.definitions[name].uses)
            pending += [symbol for _, symbol in module.definitions[name].uses]
    return reached


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_counts(edit: str) -> None:
    assert definitions(FIRST) != definitions(FIRST.replace(*EDITS[edit]))


@pytest.mark.parametrize("edit", NO_EDITS)
def test_what_changes_no_result_does_not_count(edit: str) -> None:
    assert definitions(FIRST) == definitions(FIRST.replace(*NO_EDITS[edit]))


def test_a_revision_follows_imports() -> None:
    uses = definitions(FIRST)
    assert ("msl.blocks.other", "far") in uses["Block"][1]
    assert revision_of_symbols([(HOMES["NaiveBayes"], "NaiveBayes")]) != revision_of_symbols(
        [(HOMES["Zarbi"], "Zarbi")]
    )


# --- an edited and a moved block, on a store that knows it ------------------------------------------


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package that a test may edit."""
    root = Path(msl.__file__).parents[1]
    for path in root.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts and ".egg-info" not in str(path):
            copy = tmp_path / "src" / path.relative_to(root)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    grammar = root.parent / "grammar"
    (tmp_path / "grammar").mkdir()
    for path in grammar.iterdir():
        (tmp_path / "grammar" / path.name).write_bytes(path.read_bytes())
    (tmp_path / "spec.msl").write_text(SPEC, encoding="utf-8")
    return tmp_path


def command(package: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "msl", *words],
        cwd=package,
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(package / "src")},
    )
    return done.stdout + done.stderr


def run(package: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        command(package, "run", "spec.msl", str(WINE), "--on", "inprocess", "--json").splitlines()[0]
    )
    return found


def source_of(package: Path, module: str) -> Path:
    return package / "src" / Path(*module.split(".")).with_suffix(".py")


def move_module(package: Path, old: str, new: str) -> None:
    source_of(package, old).rename(source_of(package, new))
    for path in (package / "src").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.slow
def test_an_edited_block_is_evaluated_again_and_a_moved_one_is_not(package: Path) -> None:
    first = run(package)
    assert (first["new"], first["reused"]) == (4, 0)

    home = HOMES["PooledBayes"]
    moved = f"{home.rpartition('.')[0]}.a_new_home"
    move_module(package, home, moved)
    second = run(package)
    assert (second["new"], second["reused"]) == (0, 4)
    assert second["digest"] == first["digest"]
    with zipfile.ZipFile(package / ".msl" / "models" / f"{second['run']}.skops") as archive:
        assert "msl.blocks." not in archive.read("schema.json").decode()

    source = source_of(package, moved)
    text = source.read_text(encoding="utf-8")
    negated = text.replace("return 2.0 * scale * centroids.T", "return -2.0 * scale * centroids.T")
    assert negated != text
    source.write_text(negated, encoding="utf-8")
    told = "2 not reused, because `naive` has changed since"
    assert f"kept 2, outside 0, {told}" in command(package, "plan", "spec.msl", str(WINE))
    assert told in command(package, "run", "spec.msl", str(WINE), "--on", "inprocess")
    third = run(package)
    assert third["digest"] != first["digest"]
    assert "zarbi" in third["best"]
