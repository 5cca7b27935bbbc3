"""Comments of a drafted release file, out of the catalogue."""

from __future__ import annotations

from typing import Any

from divulge.assessment.sentence import Sentence
from divulge.release.release_file.toml_text import format_comment

CATALOGUE = "divulge.release"


def say(key: str, **values: Any) -> str:
    """A text of the draft, in the language of the run."""
    return str(Sentence(CATALOGUE, f"draft.{key}", values))


def comment_on(key: str, **values: Any) -> str:
    """A text of the draft as comment lines.

    >>> comment_on("doubt", remark="its values are dates")
    '# DOUBT: its values are dates'
    """
    return format_comment(say(key, **values))
