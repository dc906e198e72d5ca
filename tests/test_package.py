"""The package as a whole: what commands load, which way imports go, and that the wheel works where nothing else is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[1]
HEAVY = ("numpy", "scipy", "pandas", "polars", "sklearn")


def loaded_by(*arguments: str) -> set[str]:
    """The top-level packages that a command loads."""
    code = (
        "import sys\nfrom msl.cli.main import main\n"
        f"sys.argv = ['msl', *{list(arguments)!r}]\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print('LOADED', *{name.split('.')[0] for name in sys.modules})\n"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    return set(shown.rsplit("LOADED", 1)[1].split())


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("check", "specs/psms.msl"),
        ("fmt", "--check", "specs/psms.msl"),
        ("explain", "MSL021"),
        ("blocks",),
    ],
)
def test_light_commands_load_nothing_heavy(arguments: tuple[str, ...]) -> None:
    assert not loaded_by(*arguments) & set(HEAVY)


def test_a_difference_loads_no_estimator() -> None:
    assert "sklearn" not in loaded_by("diff", "specs/psms.msl", "specs/psms.msl")


def test_the_import_contract_catches_a_planted_violation(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    linter = Path(sys.executable).with_name("lint-imports")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "src")}
    command = [str(linter), "--no-cache"]
    sound = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert sound.returncode == 0, sound.stdout
    planted = tmp_path / "src" / "msl" / "search" / "planted.py"
    planted.write_text('"""A strategy that looks at estimators."""\n\nimport msl.blocks.base.block\n', encoding="utf-8")
    broken = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert broken.returncode == 1
    assert "msl.search.planted" in broken.stdout


def test_the_wheel_works_in_a_clean_environment(tmp_path: Path) -> None:
    """Built, installed apart from this checkout, and asked to check a spec: grammar and catalogues are inside."""
    checkout = tmp_path / "checkout"
    for folder in ("src", "grammar", "specs"):
        shutil.copytree(ROOT / folder, checkout / folder, ignore=shutil.ignore_patterns("__pycache__", ".msl"))
    for name in ("pyproject.toml", "README.md", "LICENSE", ".gitignore"):
        shutil.copy(ROOT / name, checkout)
    (checkout / "specs" / ".msl").mkdir()
    (checkout / "specs" / ".msl" / "store.sqlite").write_text("what a run leaves here is not shipped")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(checkout)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = ZipFile(wheel).namelist()
    assert "msl/specs/psms.msl" in names
    assert not [name for name in names if "store.sqlite" in name]
    home = tmp_path / "clean"
    venv.create(home, with_pip=True)
    python = home / "bin" / "python"
    packages = [f"{name}=={_version(name)}" for name in ("lark", "typer", "rich")]
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", str(wheel)], check=True, capture_output=True)
    subprocess.run([python, "-m", "pip", "install", "-q", *packages], check=True, capture_output=True)
    spec = tmp_path / "spec.msl"
    spec.write_text("use clop\nchain model = standardize >> svcc\n", encoding="utf-8")
    command = [str(home / "bin" / "msl"), "check", str(spec)]
    shown = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert shown.returncode == 1, shown.stderr
    assert "did you mean `svc`?" in shown.stdout


def _version(distribution: str) -> str:
    from importlib.metadata import version

    return version(distribution)
