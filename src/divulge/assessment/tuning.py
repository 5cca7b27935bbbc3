"""Limits of the process that draws charts: how long, how much memory, how it is waited for."""

from __future__ import annotations

CPU_SECONDS = 60.0
"""Seconds of computing for one chart. Ours take tenths of a second, and a loaded machine does not
count: more time would only wait longer for a chart gone wrong. Chosen by hand; no benchmark
isolates it."""

WALL_SECONDS = 600.0
"""Seconds of the clock, for a child that waits for something that does not come: so long that no
loaded machine meets it. Chosen by hand; no benchmark isolates it."""

MOST_MEMORY = 2 << 30
"""Bytes, resident, of the child. Ours take 200 MB; more than this is a chart gone wrong. Chosen by
hand; no benchmark isolates it."""

LEAST_MEMORY = 512 << 20
"""Bytes that are granted however little is free, as a plain chart needs some; no child that is
larger is kept for the next chart. Chosen by hand; no benchmark isolates it."""

POLL_MILLISECONDS = 50
"""Milliseconds between two looks at a child that draws: how soon a limit is noticed, against how
often its memory is read. Chosen by hand; no benchmark isolates it."""

ANSWER_CHUNK_BYTES = 1 << 20
"""Bytes of an answer that are read at once. Chosen by hand; no benchmark isolates it."""
