"""What a page may take to be printed, and what it has room for."""

PRINT_SECONDS = 120.0
"""Seconds of real time that a browser has for one page; the report of the
demonstration takes about 3. Chosen by hand; no benchmark isolates it."""

MOST_CERTIFIED_ROWS = 7
"""Limits, files that may be published and files that were read on the page of a certificate, each:
so many fit on one sheet of A4. The file beside it has all. Chosen by hand; no benchmark isolates
it."""

MOST_DOWNLOADED_LETTERS = 40_000
"""Letters of the numbers of a chart that a page carries as a file: a page of fifty adversaries is
to stay below 2 MB. Chosen by hand; no benchmark isolates it."""

MOST_NAME_LETTERS = 60
"""Letters of a file name that is made from the title of a chart; file systems take 255 bytes.
Chosen by hand; no benchmark isolates it."""
