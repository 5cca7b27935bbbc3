"""How a draft is made: how much its adversaries know, and what it writes."""

from __future__ import annotations

MOST_KEYS = 8
"""Attributes that a drafted adversary knows of everybody, at most: more are known of few people,
and no data withstand it. Chosen by hand; no benchmark isolates it."""

MOST_BROKERS = 3
"""Drafted adversaries who know what is left over, at most: attributes beyond them are left out.
Chosen by hand; no benchmark isolates it."""

BASE_KEYS = 3
"""Attributes that those who know what is left over know beside it. Chosen by hand; no benchmark
isolates it."""

MOST_LISTED = 300
"""Attributes of the adversary who knows everything that are still listed in a draft: a reader
cannot look through more. Chosen by hand; no benchmark isolates it."""

MOST_LEVEL_ROWS = 20_000
"""Different values of an attribute up to which its hierarchy is a file: longer ones nobody edits,
and a rule says the same. Chosen by hand; no benchmark isolates it."""
