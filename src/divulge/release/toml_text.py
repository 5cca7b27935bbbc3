"""Values as TOML text: the standard library reads TOML and does not write it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_BARE = re.compile(r"^[A-Za-z0-9_-]+$")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_WIDE = 96


def value(given: Any) -> str:
    """A value as TOML writes it.

    >>> value("Residential Rev."), value(["a", "b"]), value({"1": "male"}), value(True)
    ('"Residential Rev."', '["a", "b"]', '{ 1 = "male" }', 'true')
    """
    if isinstance(given, bool):
        return "true" if given else "false"
    if isinstance(given, int):
        return str(given)
    if isinstance(given, float):
        return repr(given) if math.isfinite(given) else str(given)
    if isinstance(given, Mapping):
        inside = ", ".join(f"{key(str(k))} = {value(v)}" for k, v in given.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(given, Sequence) and not isinstance(given, str):
        return f"[{', '.join(value(item) for item in given)}]"
    # JSON's text is TOML's, but for one character that TOML wants escaped too.
    return json.dumps(str(given), ensure_ascii=False).replace("\x7f", "\\u007f")


def key(name: str) -> str:
    """A name as a key.

    >>> key("age"), key("Export Rev.")
    ('age', '"Export Rev."')
    """
    return name if _BARE.match(name) else value(name)


def comment(text: str) -> str:
    r"""Text as comment lines: a name out of the data must not end the comment.

    >>> comment("age: a sum\nof = 1")
    '# age: a sum of = 1'
    """
    words = _CONTROL.sub(" ", text).split(" ")
    lines, line = [], "#"
    for word in words:
        if len(line) + len(word) >= _WIDE and line != "#":
            lines.append(line)
            line = "#    "
        line += f" {word}"
    return "\n".join([*lines, line])


def settings(table: str, given: Mapping[str, Any]) -> Iterator[str]:
    """One table with a line a setting; nothing where nothing is said."""
    said = {name: setting for name, setting in given.items() if setting}
    if said:
        yield ""
        yield f"[{table}]"
        for name, setting in said.items():
            yield f"{key(name)} = {value(setting)}"
