"""For the docs site: examples in docstrings are shown as code, not as quotations."""

from __future__ import annotations

from typing import Any

import griffe


class FenceDoctests(griffe.Extension):
    """Puts a fence around every run of `>>>` lines and what they print."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite one object's docstring."""
        if obj.docstring is not None:
            obj.docstring.value = "\n".join(_fenced(obj.docstring.value.splitlines()))


def _fenced(lines: list[str]) -> list[str]:
    fenced: list[str] = []
    inside = False
    for number, line in enumerate(lines):
        begins = line.lstrip().startswith(">>>")
        if begins and not inside:
            fenced.append("```pycon")
            inside = True
        elif inside and not line.strip() and not _goes_on(lines[number + 1 :]):
            fenced.append("```")
            inside = False
        fenced.append(line)
    return [*fenced, "```"] if inside else fenced


def _goes_on(rest: list[str]) -> bool:
    following = next((line for line in rest if line.strip()), "")
    return following.lstrip().startswith(">>>")
