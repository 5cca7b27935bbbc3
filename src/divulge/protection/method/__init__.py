"""Somebody who knows the method: what minimal suppression tells of what it hides, and decoys."""
