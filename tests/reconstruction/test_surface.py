"""The attack in a release file and on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from divulge import InvalidInput, Release
from divulge.cli.main import app
from divulge.reconstruction.settings import (
    PriorSettings,
    ReconstructionSettings,
    TotalsSettings,
    TruthSettings,
)

EXAMPLE = Path(__file__).parents[2] / "examples" / "reconstruction"


def written(tmp_path: Path, **changes: str) -> Path:
    text = (EXAMPLE / "release.toml").read_text()
    for old, new in changes.items():
        wanted = {"rule": 'rounding = "sum_then_round"', "unit": 'freight = "0.01"'}[old]
        text = text.replace(wanted, new, 1)
    for path in EXAMPLE.glob("*.csv"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "release.toml").write_text(text)
    return tmp_path / "release.toml"


def test_what_is_wrong_in_a_release_is_said_before_a_record_is_read(tmp_path: Path) -> None:
    path = written(tmp_path, rule='rounding = "sum_than_round"', unit='fright = "0.01"')
    with pytest.raises(InvalidInput) as error:
        Release.load(path)
    assert 'Did you mean "sum_then_round"' in str(error.value)
    assert 'give the unit of "freight"' in str(error.value)


def test_a_unit_is_a_number_with_or_without_quotation_marks(tmp_path: Path) -> None:
    release = Release.load(written(tmp_path, unit="freight = 0.01"))
    [adversary] = release.adversaries
    assert isinstance(adversary.settings, ReconstructionSettings)
    units = adversary.settings.units
    assert units is not None
    assert units["freight"] == units["value"] == "0.01"


def test_the_command_line_shows_phases_and_one_target_without_names(tmp_path: Path) -> None:
    run = CliRunner()
    done = run.invoke(
        app,
        [
            "reconstruct",
            str(EXAMPLE / "release.toml"),
            "--target",
            "0",
            "--json",
            "--seconds",
            "0.05",
            "--out",
            str(tmp_path / "kept"),
        ],
    )
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    names = {one["adversary"] for one in (told, *told["assessments"])}
    assert names == {"reader of the totals"}
    assert told["phases"][0]["phase"] == "prior"
    assert told["target"][0]["parties"] == pytest.approx(60)
    assert told["deterministic"]["count"]["posterior"] == told["phases"][-1]["identified"] > 100
    assert "company" not in done.stdout
    assert not (tmp_path / "kept" / ".divulge-checkpoints").exists()
    shown = run.invoke(app, ["reconstruct", str(EXAMPLE / "release.toml"), "--seconds", "0.05"])
    assert "names the party behind" in shown.stdout
    assert "all tables" in shown.stdout
    assert "company" not in shown.stdout
    missing = run.invoke(
        app, ["reconstruct", str(EXAMPLE / "release.toml"), "--adversary", "reader"]
    )
    assert "reader of the totals" in str(missing.exception)


def test_every_setting_of_the_attack_is_in_the_documents() -> None:
    page = (EXAMPLE.parents[1] / "docs" / "reconstruction.md").read_text()
    for settings in (ReconstructionSettings, TotalsSettings, PriorSettings, TruthSettings):
        for name in settings.model_fields:
            assert f"`{name}`" in page, f"docs/reconstruction.md does not speak of {name}"
