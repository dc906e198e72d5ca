"""Files and catalogues: what `use` takes, what names mean where, and what goes wrong."""

from __future__ import annotations

import hashlib
import json
from importlib import resources

import pytest

from msl.check.check_spec import check_source
from msl.check.names import catalogues
from msl.diagnostics.source import Source
from msl.space.nodes import BlockUse, Choice
from specs import codes, errors, only_error, sound

SCALERS = 'block robust: transformer "sklearn.preprocessing:RobustScaler" { with_centering: bool }\n'


def test_a_used_file_gives_its_blocks_parts_and_its_only_chain() -> None:
    spec = sound('use "base.msl"\nsearch pattern', {"base.msl": "use clop\nchain deep = standardize >> svc"})
    assert spec.name == "deep"


def test_use_is_not_transitive() -> None:
    error = only_error('use "base.msl"\nchain m = svc', {"base.msl": "use clop\npart learn = svc"})
    assert error.code == "MSL021"


def test_a_local_name_wins_over_a_used_one() -> None:
    spec = sound('use clop\nblock svc: learner "sklearn.svm:SV*" {}\nchain m = svc')
    assert isinstance(spec.space.root, BlockUse)
    assert spec.space.root.block.target == "sklearn.svm:SV*"


def test_a_file_is_called_by_its_stem_or_by_its_alias() -> None:
    files = {"team/scalers.msl": SCALERS}
    sound('use clop, "team/scalers.msl"\nchain m = scalers.robust >> svc', files)
    sound('use clop, "team/scalers.msl" as team\nchain m = team.robust >> svc', files)


def test_files_are_found_relative_to_the_file_that_uses_them() -> None:
    files = {"a/one.msl": 'use "two.msl"\npart p = robust', "a/two.msl": SCALERS}
    sound('use clop, "a/one.msl"\nchain m = p >> svc', files)


def test_requirements_travel_with_the_parts_they_were_written_for() -> None:
    base = "use clop\npart learn = svc | rf\nrequire svc.gamma < 1\nchain m = learn"
    spec = sound('use "base.msl"\nsearch pattern', {"base.msl": base})
    assert [requirement.text for requirement in spec.space.requirements] == ["require svc.gamma < 1"]


def test_an_error_in_a_used_file_is_shown_in_that_file() -> None:
    error = only_error('use "base.msl"\nsearch pattern', {"base.msl": "use clop\nchain m = svcc"})
    assert error.primary.source.name == "base.msl"


def test_a_warning_in_a_used_file_is_for_its_owner() -> None:
    base = "use clop\nchain m = svc | svc"
    assert codes('use "base.msl"\nsearch pattern', {"base.msl": base}) == []


@pytest.mark.parametrize("target", ["notes.txt", "model.py", "../secret"])
def test_only_msl_files_are_ever_read(target: str) -> None:
    def refuse(path: str) -> str:
        raise AssertionError(f"{path} was read")

    from msl.check.check_spec import check_source
    from msl.diagnostics.source import Source

    text = f'use "{target}"\nchain m = thing'
    result = check_source(Source("spec.msl", text, "spec.msl"), read_file=refuse)
    assert [d.code for d in result.diagnostics] == ["MSL043"]


def test_a_file_that_cannot_be_read_says_why() -> None:
    def undecodable(path: str) -> str:
        return b"\xff".decode()

    from msl.check.check_spec import check_source
    from msl.diagnostics.source import Source

    result = check_source(Source("s", 'use "x.msl"\nchain m = t', "s"), read_file=undecodable)
    assert "cannot read `x.msl`" in result.diagnostics[0].message


def test_derived_blocks_are_left_out_of_any() -> None:
    spec = sound("use clop\nblock wide = svc { gamma: real 1e-6..1 log }\nchain m = standardize >> any learner\n")
    root = spec.space.root
    learners = root.steps[1]  # type: ignore[union-attr]
    assert isinstance(learners, Choice)
    names = [option.block.name for option in learners.options if isinstance(option, BlockUse)]
    assert "wide" not in names
    assert len(names) == 10


def test_catalogues_check_without_a_word() -> None:
    for name in [*catalogues.names(), *catalogues.IMPLIED.values()]:
        found = check_source(Source(f"<{name}>", catalogues.text(name, 1)))
        assert not [d for d in found.diagnostics if d.is_error], name


def test_released_catalogues_have_not_changed() -> None:
    """A released version never changes: whoever wants another block or another range writes the next version."""
    released = json.loads((resources.files("msl.catalogue") / "released.json").read_text(encoding="utf-8"))
    for name, versions in released.items():
        for version, digest in versions.items():
            text = catalogues.text(name, int(version))
            assert hashlib.sha256(text.encode()).hexdigest() == digest, f"{name} {version}"


def test_every_edition_names_versions_that_ship() -> None:
    for edition in catalogues.EDITIONS.values():
        for name, version in edition.items():
            assert version in catalogues.versions(name)


def test_nothing_that_a_spec_names_is_imported() -> None:
    text = 'block evil: learner "os:abort*" {}\nchain m = evil'
    assert not errors(text)
