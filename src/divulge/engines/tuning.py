"""What DuckDB may take of the machine, and how often it is looked after."""

from __future__ import annotations

SHARE_OF_FREE_MEMORY = 0.6
"""Share of the free memory that DuckDB may use before it writes to disk. Its own default is 80% of
the machine; we leave room for the codes that it reads from us. Chosen by hand; no benchmark
isolates it."""

SECONDS_BETWEEN_CHECKS = 0.1
"""Seconds between two looks whether a query is to be stopped: what a person takes for at once.
Chosen by hand; no benchmark isolates it."""
