"""From five files of different kinds to releases: the session in the docs is run, word by word.

`DIVULGE_RECORD=1 .venv/bin/pytest tests/cli/test_recorded_session.py` writes the page's outputs
again. What was published is then attacked from the written files, without a word of the draft edited.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.release import made_up_sources as sources
from typer.testing import CliRunner

import divulge as dv
from divulge.cli.main import app
from divulge.data import Experience
from divulge.release.release_file.draft_file import draft

PAGE = Path(__file__).parents[2] / "docs" / "five-files.md"
BLOCK = re.compile(r"```console\n(.*?)```", re.S)
WIDTH = "100"

FILES: dict[str, tuple[Callable[[Path], Path], tuple[int, ...]]] = {
    "survey.sav": (sources.write_households, (0, 1, 0)),
    "firms.csv": (sources.write_companies, (0, 1, 0)),
    "waves.parquet": (sources.write_panel, (0, 1, 0)),
    "till.xlsx": (sources.write_purchases, (0, 1, 0)),
    "census.csv": (sources.write_table, (0, 0, 0)),
}


def bring(name: str, folder: Path) -> Path:
    """The file as a stranger has it, in the format that its name says."""
    made = FILES[name][0](folder)
    head, rows = made.read_text(encoding="utf-8").split("\n", 1)
    made.write_text(f"{head.replace(' ', '_')}\n{rows}", encoding="utf-8")
    if made.name != name:
        dv.read(made).write(folder / name)
        made.unlink()
    return folder / name


def find_commands(name: str, text: str) -> list[tuple[str, str]]:
    """The commands of the section of a file, and what the page says that they print."""
    section = text.split(f"## `{name}`")[1].split("\n## ")[0]
    return [
        (said.split("\n", 1)[0].strip(), said.split("\n", 1)[1].rstrip("\n"))
        for block in BLOCK.findall(section)
        for said in block.split("$ ")[1:]
    ]


def run_command(line: str) -> tuple[int, str]:
    program, *arguments = line.split()
    assert program == "divulge"
    result = CliRunner().invoke(app, arguments)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    lines = [each.rstrip() for each in result.output.splitlines()]
    return result.exit_code, "\n".join(lines).strip("\n")


def select_lasting(output: str) -> list[str]:
    """What stays where cells are suppressed at random, by a secret of each protection."""
    lasting = ("The table that reader sees", "PASS", "Every limit", "pass ", "Only the files")
    return [re.sub(r"\d+", "#", each) for each in output.splitlines() if each.startswith(lasting)]


def record(name: str, outputs: Sequence[str]) -> None:
    text = PAGE.read_text(encoding="utf-8")
    start = text.index(f"## `{name}`")
    for (command, before), after in zip(find_commands(name, text), outputs, strict=True):
        place = text.index(f"$ {command}\n{before}", start)
        text = (
            text[:place] + f"$ {command}\n{after}" + text[place + len(command) + 3 + len(before) :]
        )
        start = place + len(command)
    PAGE.write_text(text, encoding="utf-8")


def count_company(table: pd.DataFrame, among: Sequence[str]) -> int:
    """The fewest records that could be the one somebody looks for: hidden cells fit anything."""
    keys = table[list(among)].astype(object)
    hidden = keys.isna().to_numpy()
    values = keys.astype(str).to_numpy()
    return min(
        int((hidden | hidden[row] | (values == values[row])).all(axis=1).sum())
        for row in range(len(values))
    )


def read_published(folder: Path) -> pd.DataFrame:
    [path] = [p for p in folder.iterdir() if p.suffix in (".sav", ".csv", ".parquet", ".xlsx")]
    readers: dict[str, Callable[[Path], pd.DataFrame]] = {
        ".sav": pd.read_spss,
        ".csv": pd.read_csv,
        ".parquet": pd.read_parquet,
        ".xlsx": lambda path: pd.read_excel(path, engine="openpyxl"),
    }
    return readers[path.suffix](path)


@pytest.mark.parametrize("name", FILES)
def test_the_session_in_the_docs_is_what_a_terminal_shows(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = bring(name, tmp_path)
    original = source.read_bytes()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", WIDTH)
    monkeypatch.setenv("DIVULGE_EXPERIENCE", str(tmp_path / "nothing-decided-yet.csv"))
    commands = find_commands(name, PAGE.read_text(encoding="utf-8"))
    assert len(commands) <= 3
    ended = [run_command(command) for command, _ in commands]
    if os.environ.get("DIVULGE_RECORD"):
        record(name, [output for _, output in ended])
        commands = find_commands(name, PAGE.read_text(encoding="utf-8"))
    for (_, output), (command, said) in zip(ended, commands, strict=True):
        is_drawn = name == "census.csv" and "protect" in command
        assert select_lasting(output) == select_lasting(said) if is_drawn else output == said
    assert tuple(code for code, _ in ended) == FILES[name][1]
    assert source.read_bytes() == original
    drafted = draft([source], tmp_path, experience=Experience.shipped())
    assert (tmp_path / "release.toml").read_text(encoding="utf-8") == drafted.text
    attack_published(tmp_path / "protected" / "release", tmp_path / "release.toml", source)


def attack_published(folder: Path, release: Path, source: Path) -> None:
    """What the limits of the draft promise, counted on the published file alone, and its refilling."""
    limits: list[dict[str, Any]] = tomllib.loads(release.read_text(encoding="utf-8"))["limit"]
    if source.name == "census.csv":
        [table] = folder.glob("*.csv")
        assert_no_small_cell_is_known(table, source)
        return
    published = read_published(folder)
    of_classes = [limit for limit in limits if limit["measure"] == "k_anonymity"]
    for limit in of_classes:
        assert count_company(published, limit["among"]) >= limit["at_least"] == 3
    if source.name == "till.xlsx":
        assert not of_classes
        customers = set(pd.read_excel(source, engine="openpyxl")["customer_id"])
        assert customers.isdisjoint(published["customer_id"])
        return
    assert of_classes
    # Written records are in a secret order; to see whether what is refilled is right, the same
    # protection is run again and must be the one that was written.
    protected = dv.Release.load(release).protect()
    [again] = protected.datasets.values()
    [path] = [p for p in folder.iterdir() if p.suffix == source.suffix]
    names = [name for name in dv.read(path).names if name in again.names]
    assert list_rows(dv.read(path).select(names)) == list_rows(again.select(names))
    [original] = protected.kept_sources.values()
    refilled = dv.protection.refill(again, original=original.select(again.names))
    assert not refilled.verified


def list_rows(dataset: dv.Dataset) -> list[tuple[str, ...]]:
    """The records as sorted texts; a file of texts says of a hidden cell that it is suppressed."""
    rows = dataset.to_arrow().to_pylist()
    texts = [["" if v in (None, "suppressed") else str(v) for v in row.values()] for row in rows]
    return sorted(map(tuple, texts))


def assert_no_small_cell_is_known(table: Path, source: Path) -> None:
    bounds = dv.tables.intervals(dv.tables.read_crosstab(table))
    cells = pd.read_csv(source)
    inner = cells[~cells.isin(["Total"]).any(axis=1)]
    regions, sizes = (sorted(set(inner[name])) for name in ("region", "settlement"))
    small = inner[inner["people"] < 3]
    assert len(small)
    for cell in small.itertuples():
        low, high = bounds[regions.index(cell.region), sizes.index(cell.settlement)]
        assert high - low >= 3
