"""The docstring of each folder's `__init__` is the map of the folder, so it has to name every module in it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "msl"
#: Folders in which each file is one thing of the same kind, which the name of the file says.
LISTS = {"cli/verbs", "data/formats", "search/strategies"}
FOLDERS = sorted(
    folder.parent.relative_to(SOURCE).as_posix()
    for folder in SOURCE.rglob("__init__.py")
    if folder.parent != SOURCE and any(file.name != "__init__.py" for file in folder.parent.glob("*.py"))
)


@pytest.mark.parametrize("folder", [folder for folder in FOLDERS if folder not in LISTS])
def test_a_folder_names_its_modules(folder: str) -> None:
    place = SOURCE / folder
    words = set(re.findall(r"\w+", ast.get_docstring(ast.parse((place / "__init__.py").read_text("utf-8"))) or ""))
    modules = {file.stem for file in place.glob("*.py")} - {"__init__"}
    assert not modules - words, "modules that the docstring of `__init__` does not name"
