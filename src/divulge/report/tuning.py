"""What a page may take to be printed, and what it has room for."""

PRINT_SECONDS = 120.0
"""Seconds of real time that a browser has for one page; the report of the
demonstration takes about 3. Chosen by hand; no benchmark isolates it."""

MOST_CERTIFIED_ROWS = 7
"""Limits, files that may be published and files that were read on the page of a certificate, each:
so many fit on one sheet of A4. The file beside it has all. Chosen by hand; no benchmark isolates
it."""
