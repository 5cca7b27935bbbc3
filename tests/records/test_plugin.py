"""The attacks of this part in a release file."""

from __future__ import annotations

from pathlib import Path

import pytest

import divulge as dv

EXAMPLE = Path(__file__).parents[2] / "examples" / "records"


def test_the_example_release_shows_the_figures_of_the_paper() -> None:
    verdict = dv.Release.load(EXAMPLE / "release.toml").check()
    found = {a.adversary: a for a in verdict.assessments}
    assert found["classmate"].deterministic.posterior == 0.6
    assert found["classmate, a year later"].probabilistic.posterior == 0.9
    assert found["archivist"].deterministic.posterior == 0.6
    assert found["neighbour"].deterministic.posterior == 1
    assert found["register holder"].probabilistic.posterior == 0.7
    assert [o.held for o in verdict.outcomes] == [True, False]


def test_what_is_wrong_with_adversaries_is_said_before_anything_is_read(tmp_path: Path) -> None:
    text = (EXAMPLE / "release.toml").read_text()
    for name in ("year_1.csv", "year_2.csv"):
        (tmp_path / name).write_bytes((EXAMPLE / name).read_bytes())
    text = text.replace('seeks = "disability"', 'seeks = "disabilty"', 1)
    text = text.replace('on = "id"', 'on = "idd"').replace('block = "gender"', 'block = "gendre"')
    (tmp_path / "release.toml").write_text(text)
    with pytest.raises(dv.InvalidInput) as error:
        dv.Release.load(tmp_path / "release.toml")
    said = str(error.value)
    for hint in ('"disability"?', '"id"?', '"gender"?'):
        assert f"Did you mean {hint}" in said
