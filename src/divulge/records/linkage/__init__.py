"""Linkage with a register: comparison, weights of agreement (expectation maximisation), matches."""
