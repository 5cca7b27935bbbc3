"""How a verb shows its result: as it is, with no letter of it taken for markup."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def tolerate_closed_pipe() -> Iterator[None]:
    """Print inside this: whoever reads may go away, and the exit code stays what it is."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        # Python would complain once more when it closes the stream at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        error.filename = error.filename or "standard output"
        raise


def print_text(content: object) -> None:
    """Print text or a result on standard output."""
    from rich.console import Console

    class Screen(Console):
        """A console that leaves a closed pipe to `tolerate_closed_pipe`: Rich would exit with 1."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    Screen(markup=False, emoji=False).print(
        content, soft_wrap=isinstance(content, str), highlight=False
    )


def print_sentence(key: str, **values: Any) -> None:
    """Print a sentence of the command line's own."""
    print_text(build_sentence(key, **values))


def build_sentence(key: str, **values: Any) -> str:
    """A sentence of the command line's own, in words."""
    from divulge.assessment import Sentence

    return str(Sentence("divulge.cli", key, values))


def print_pdf(folder: Path) -> None:
    """Write the pages of a set of results as PDF too; what could not be written is said."""
    from divulge.report.pdf_pages import print_pages

    for sentence in print_pages(folder):
        sys.stderr.write(f"{sentence}\n")


def print_json(content: object) -> None:
    """Print plain values as JSON."""
    sys.stdout.write(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
