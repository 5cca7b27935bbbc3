"""The command line. It parses arguments, calls the library, and shows what comes back."""

from divulge.cli.main import main

__all__ = ["main"]
