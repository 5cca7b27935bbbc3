"""Where results may go: never onto an input, a device, or a file that may not be replaced."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from divulge.work.context import current
from divulge.work.problems import InvalidInput, Problem, Problems
from divulge.work.storage.inputs import Inputs, usable_path


def check_places(
    subject: str, places: Mapping[str, Path | None], inputs: Inputs, overwrite: bool
) -> None:
    """Refuse, before any work is done, places where results may not go.

    Args:
        subject: what asks for it, for messages.
        places: the files to write, by the names of the options that give them.
        inputs: what is read.
        overwrite: whether files that exist may be replaced.

    Raises:
        InvalidInput: with every place that will not do.
    """
    problems = Problems(subject)
    option_by_path: dict[Path, str] = {}
    for name, place in places.items():
        if place is None:
            continue
        message = describe_place_problem(place, inputs, overwrite)
        if message is not None:
            problems.add(name, message)
            continue
        first = option_by_path.setdefault(place.resolve(), name)
        if first != name:
            problems.add(name, f"names the same file as {first}.")
    problems.raise_any()


def describe_place_problem(place: Path, inputs: Inputs | None, overwrite: bool) -> str | None:
    """Why a file may not be written there; None if it may."""
    try:
        usable_path(place)
        status = os.stat(place)  # noqa: PTH116  # follows links, as writing does
    except InvalidInput as error:
        return error.problems[0].message
    except NotADirectoryError:
        return "lies in a file, not in a folder."
    except OSError:
        status = None
    if status is not None and stat.S_ISDIR(status.st_mode):
        return "is a folder; name a file."
    if status is not None and not stat.S_ISREG(status.st_mode):
        return "is a device or a pipe; results are written to plain files only."
    if inputs is not None and place in inputs:
        return "is an input of this run; it is never overwritten. Give another name."
    if inputs is not None and (input_folder := inputs.folder_around(place)) is not None:
        return f'lies in "{input_folder.name}", a folder that is an input of this run.'
    if not overwrite and (status is not None or place.is_symlink()):
        return "exists already; give another name, or allow it to be overwritten (--overwrite)."
    return None


def require_place(place: Path, overwrite: bool) -> Path:
    """The place of a file to be written, links followed.

    Raises:
        InvalidInput: if nothing may be written there.
    """
    message = describe_place_problem(place, current().inputs, overwrite)
    if message is not None:
        raise InvalidInput(str(place), [Problem("", message)])
    return place.resolve() if place.is_symlink() else place
