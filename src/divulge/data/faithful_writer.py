"""Writing records that were judged, to a file that tells them apart as they were judged."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from divulge.data.faithfulness import find_writing_differences
from divulge.data.formats.names import describe_column
from divulge.work import Problems, whole_file, writing_at_once

if TYPE_CHECKING:
    from divulge.data.dataset import Dataset


def write_faithfully(
    dataset: Dataset, path: Path | str, overwrite: bool = False, guard_formulas: bool = True
) -> None:
    """Write records that were judged, and see that the file tells them apart as they were judged.

    Raises:
        InvalidInput: with the columns that the format cannot hold as they are; nothing is written.

    >>> import tempfile
    >>> import divulge as dv
    >>> path = Path(tempfile.mkdtemp()) / "companies.csv"
    >>> write_faithfully(dv.datasets.local_suppression_example(), path)
    >>> dv.read(path).rows
    7
    """
    with whole_file(path, overwrite) as part:
        with writing_at_once():
            dataset.write(part, guard_formulas=guard_formulas, with_ids=True)
        differing = find_writing_differences(dataset.as_written(part), part)
        problems = Problems(str(path))
        numbers = {name: number for number, name in enumerate(dataset.names, start=1)}
        for name in differing:
            message = "the file would not distinguish its records as they were judged."
            place = describe_column(name, numbers.get(name, 0))
            problems.add(place, f"{message} Write another format (.parquet).")
        problems.raise_any()
