"""Adversaries and limits as tables of a drafted release file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from divulge.release.release_file.draft_sections.comments import comment_on
from divulge.release.release_file.toml_text import format_value


def format_adversary(name: str, settings: Mapping[str, Any], *comments: str) -> Iterator[str]:
    """An adversary, after what is said of them.

    >>> list(format_adversary("guest", {"attack": "records"}, "# Somebody who comes by."))[2:4]
    ['[[adversary]]', 'name = "guest"']
    """
    yield ""
    yield from comments
    yield "[[adversary]]"
    yield f"name = {format_value(name)}"
    for setting, content in settings.items():
        yield f"{setting} = {format_value(content)}"


def format_limit(limit: Mapping[str, Any], *comments: str, active: bool = True) -> Iterator[str]:
    """A limit, after what is said of it; one that does not hold yet is a comment.

    >>> list(format_limit({"measure": "k_anonymity", "at_least": 3}, active=False))[1:3]
    ['# [[limit]]', '# measure = "k_anonymity"']
    """
    mark = "" if active else "# "
    yield ""
    yield from comments
    yield f"{mark}[[limit]]"
    for setting, content in limit.items():
        yield f"{mark}{setting} = {format_value(content)}"


def format_unlimited(limit: Mapping[str, Any]) -> Iterator[str]:
    """A limit that few data keep to, to be taken up by who wants it."""
    yield from format_limit(limit, comment_on("unlimited"), active=False)
