"""Datasets whose records stay where they are: made of files and servers, counted by an engine."""
