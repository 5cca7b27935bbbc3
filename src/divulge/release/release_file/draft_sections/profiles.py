"""Profiles of limits: named sets of figures, each with its source or marked as our choice."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib import resources
from typing import Literal, TypeAlias, get_args

from divulge.release.release_file.draft_sections.comments import say
from divulge.work import InvalidInput, Problem

ProfileName: TypeAlias = Literal["scientific-use", "public-use", "hipaa-expert", "acro", "strict"]
PROFILES: tuple[ProfileName, ...] = get_args(ProfileName)
DEFAULT_PROFILE: ProfileName = "scientific-use"


@dataclass(frozen=True, kw_only=True)
class Profile:
    """Figures for the limits of a draft, and where each is from."""

    name: str
    title: str
    k: int
    k_source: str
    certain: float
    certain_source: str
    cell: int
    cell_source: str
    guess: float
    guess_source: str

    def cite_source(self, figure: str) -> str:
        """Where a figure is from, in words.

        >>> load_profile("acro").cite_source("certain")
        'our choice'
        """
        return str(getattr(self, f"{figure}_source")) or say("our_choice")


def load_profile(name: str = DEFAULT_PROFILE) -> Profile:
    """A profile by its name.

    Raises:
        InvalidInput: if there is none of this name, with the nearest.

    >>> load_profile("acro").k
    10
    """
    profiles = _read_profiles()
    if name not in profiles:
        message = f'"{name}" is not a profile of limits.'
        raise InvalidInput("divulge init", [Problem("--profile", message, name, PROFILES)])
    return profiles[name]


@cache
def _read_profiles() -> Mapping[str, Profile]:
    text = (resources.files(__package__) / "profiles.toml").read_text(encoding="utf-8")
    names = {field.name for field in fields(Profile)} - {"name"}
    tables = tomllib.loads(text)
    return {
        name: Profile(name=name, **{key: table[key] for key in names})
        for name, table in tables.items()
    }
