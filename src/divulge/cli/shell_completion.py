"""Completion of commands and options by the shell: a script to install, and what it asks for."""

from __future__ import annotations

import os

VARIABLE = "_DIVULGE_COMPLETE"
"""Set by the script: it asks for what may follow, and nothing else is run then."""


def write_completion_script(shell: str) -> str:
    """The script for a shell, which asks `divulge` for what may follow.

    >>> "_DIVULGE_COMPLETE" in write_completion_script("bash")
    True
    """
    from typer._completion_shared import get_completion_script

    return get_completion_script(prog_name="divulge", complete_var=VARIABLE, shell=shell)


def answer_completion() -> None:
    """Make the shells known to Typer, which then answers instead of running a verb."""
    if VARIABLE in os.environ:
        from typer._completion_classes import completion_init

        completion_init()
