"""What was tuned in checking a release, each with what it trades off and how it was found."""

MOST_TRIED_RECORDS = 10_000_000
"""Records that are looked at, change by change and attack by attack, to say what would help: about
3 s of one core, of a check that takes as long for as many records. Beyond it nothing is tried, and
the report says so. Chosen by hand; no benchmark isolates it."""

SETS_PER_RUN = 16
"""Sets of attributes that a sweep counts in the time of one attack: the walk shares its work.
Measured on 20,000 pupils and 231 sets; benchmarks/sweep.py shows the walk."""

LEAST_HELP = 0.01
"""The least part of what is beyond a limit that a change must take away to be worth telling. Chosen
by hand; no benchmark isolates it."""
