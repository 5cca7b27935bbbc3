"""Suppression that is drawn at random, and what a draw tells."""
