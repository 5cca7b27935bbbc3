"""Whom knowledge fits in the data themselves."""
