"""The release file of the documentation, written with changes in one place each."""

from __future__ import annotations

from pathlib import Path

from divulge import datasets

# The release file of API.md, on the ten pupils of Alvim et al. 2022, Table 3a.
RELEASE = """
[[dataset]]
name = "pupils"
subjects = "pupils"
source = "pupils.csv"
unlisted = "non_identifying"
roles = { identifier = ["id"], quasi_identifier = ["gender", "grade"], sensitive = ["disability"] }

[[adversary]]
name = "neighbour"
attack = "records"
dataset = "pupils"
model = "CRS"
knows = ["gender", "grade"]

[[limit]]
adversary = "neighbour"
measure = "deterministic.posterior"
at_most = 0.10

[[limit]]
dataset = "pupils"
measure = "k_anonymity"
at_least = 1

[protection]
methods = ["recode", "suppress"]

[rules]
files = ["groups.rules"]
"""


def write_release(folder: Path, *replaced: tuple[str, str], extra: str = "") -> Path:
    """Write the release with some text replaced, beside its data."""
    datasets.school_year_example().write(folder / "pupils.csv")
    (folder / "groups.rules").write_text("")
    text = RELEASE
    for old, new in replaced:
        assert old in text, f"the release has no {old}"
        text = text.replace(old, new)
    path = folder / "release.toml"
    path.write_text(text + extra)
    return path
