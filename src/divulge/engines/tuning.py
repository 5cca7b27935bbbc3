"""What DuckDB may take of the machine, and how often it is looked after."""

from __future__ import annotations

SHARE_OF_FREE_MEMORY = 0.6
"""Share of the free memory that DuckDB may use before it writes to disk. Its own default is 80% of
the machine; we leave room for the codes that it reads from us. Chosen by hand; no benchmark
isolates it."""

SECONDS_BETWEEN_CHECKS = 0.1
"""Seconds between two looks whether a query is to be stopped: what a person takes for at once.
Chosen by hand; no benchmark isolates it."""

SECONDS_TO_CONNECT = 5
"""Seconds in which a Spark server must take a connection. Chosen by hand: long for a network, short
for a person."""

SECONDS_TO_CANCEL = 10
"""Seconds that a Spark server has to stop a query before we no longer wait for it. Chosen by
hand."""

RETRIES = 3
"""How often a request to a Spark server is tried again, with growing pauses (a second or two in
all), before it counts as away. Chosen by hand; the client's own fifteen take ten minutes."""

ROWS_OF_A_BATCH = 1 << 17
"""Records that are held at once while figures of each are written: some megabytes. Chosen by hand;
no benchmark isolates it."""

LEAST_PARTS = 2
"""Parts, at the least, into which a Spark server cuts rows that its Python workers walk: one for
each of two cores. Chosen by hand."""

ROWS_OF_A_PART = 1 << 20
"""Rows of such a part: some seconds of work, and a few hundred megabytes. Chosen by hand."""
