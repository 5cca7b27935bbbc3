"""Values as TOML text: the standard library reads TOML and does not write it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_BARE_KEY = re.compile(r"^[A-Za-z0-9_-]+$")
_CONTROL_CHARACTER = re.compile(r"[\x00-\x1f\x7f]")
_MAX_WIDTH = 96


def format_value(content: Any) -> str:
    """A value as TOML writes it.

    >>> format_value("Residential Rev."), format_value(["a", "b"])
    ('"Residential Rev."', '["a", "b"]')
    >>> format_value({"1": "male"}), format_value(True)
    ('{ 1 = "male" }', 'true')
    """
    if isinstance(content, bool):
        return "true" if content else "false"
    if isinstance(content, int):
        return str(content)
    if isinstance(content, float):
        return repr(content) if math.isfinite(content) else str(content)
    if isinstance(content, Mapping):
        inside = ", ".join(f"{format_key(str(k))} = {format_value(v)}" for k, v in content.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(content, Sequence) and not isinstance(content, str):
        return f"[{', '.join(format_value(item) for item in content)}]"
    # JSON's text is TOML's, but for one character that TOML wants escaped too.
    return json.dumps(str(content), ensure_ascii=False).replace("\x7f", "\\u007f")


def format_key(name: str) -> str:
    """A name as a key.

    >>> format_key("age"), format_key("Export Rev.")
    ('age', '"Export Rev."')
    """
    return name if _BARE_KEY.match(name) else format_value(name)


def format_comment(text: str) -> str:
    r"""Text as comment lines: a name out of the data must not end the comment.

    >>> format_comment("age: a sum\nof = 1")
    '# age: a sum of = 1'
    """
    words = _CONTROL_CHARACTER.sub(" ", text).split(" ")
    lines, line = [], "#"
    for word in words:
        if len(line) + len(word) >= _MAX_WIDTH and line != "#":
            lines.append(line)
            line = "#    "
        line += f" {word}"
    return "\n".join([*lines, line])


def format_table(table: str, entries: Mapping[str, Any]) -> Iterator[str]:
    """One table with a line a setting; nothing where nothing is said."""
    filled = {name: setting for name, setting in entries.items() if setting}
    if filled:
        yield ""
        yield f"[{table}]"
        for name, setting in filled.items():
            yield f"{format_key(name)} = {format_value(setting)}"
