"""Numbers of the rules of a release that were chosen: what each trades off, how it was found."""

MOST_KEPT_RISKS = 4_000_000
"""Risks above nought that are kept of states of a dataset, so that a state that comes again need
not be measured: 16 bytes each. Chosen by hand; protection of 15,000 people measures a thousand
states (`benchmarks/protection.py`)."""

MOST_ROUNDS = 10
"""Protections of one release, each for what its rules ask of the last; chosen by hand: whoever
falls below a count when others are gone does so in the second or third."""

MOST_EXPLAINED_CONFLICTS = 5
"""Of how many conflicts of rules a verdict tells what led to either side: as many as a person reads
at once; `divulge rules run --conflicts` has all."""
