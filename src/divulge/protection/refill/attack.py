"""The refill attack: hidden cells read from other columns and other records of the release.

Suppression hides a cell where its record stood out. If another column still tells it, or another
record of the same household, nothing was hidden. The attacker looks for such relations in what is
shown, and uses those that hold there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy.typing as npt

from divulge.data import Dataset
from divulge.data.dictionary import as_names, find_name_problems
from divulge.protection.refill.cells import HiddenCells, gather_groups, read_cells, select_rows
from divulge.protection.refill.result import Refill
from divulge.protection.refill.search.discovery import complete_columns
from divulge.protection.result.protected import Protected
from divulge.work import DivulgeError, Problems, checks


def refill(
    released: Dataset | Protected,
    original: Dataset | None = None,
    *,
    keys: str | Iterable[str] | None = None,
    columns: str | Iterable[str] | None = None,
    links: str | Iterable[str] = (),
    known_groups: Mapping[str, npt.ArrayLike] | None = None,
    hidden: HiddenCells = "marked",
    ordered: bool = False,
) -> Refill:
    """Fill suppressed cells by relations that the release itself shows.

    Args:
        released: the protected records, or the result of a protection, which knows its original.
        original: the same records in the same order before protection; it tells which cells were
            hidden, and which are filled rightly. Nothing of it is used to fill a cell.
        keys: the quasi-identifiers; those declared if not given.
        columns: the published columns that relations may read from; all if not given.
        links: columns of the original that an attacker knows though they are not published, such
            as the household.
        known_groups: groups known from elsewhere, by name: for each record the number of its
            group, negative if it is not known.
        hidden: which missing values were hidden where no original tells it: those `marked` as
            suppressed, or `all` of the keys.
        ordered: whether the order of the records means something, so that neighbours tell.

    Raises:
        InvalidInput: if names or lengths do not fit.
        DivulgeError: if no cell is known to be hidden.

    >>> import divulge as dv
    >>> import pyarrow as pa
    >>> home = [n // 2 for n in range(400)]
    >>> homes = pa.table({"home": home, "area": [number % 7 for number in home]})
    >>> people = dv.Dataset.from_arrow(homes, roles={"quasi_identifier": ["area"]})
    >>> import numpy as np
    >>> from divulge.protection.changes.changes import hide_cells
    >>> r = refill(hide_cells(people, {"area": np.arange(0, 40, 2)}), people, keys=["area"])
    >>> print(r.relations[0])
    home determines area: 20 cells
    """
    before = original
    if isinstance(released, Protected):
        dataset = released.dataset
        base = released.original if original is None else original
        before = select_rows(base, released.kept) if base.rows != dataset.rows else base
        key_names = list(released.among) if keys is None else as_names(keys)
    else:
        dataset = released
        key_names = dataset.attributes(keys, "keys")
    read_from = None if columns is None else tuple(as_names(columns))
    problems = Problems(f'refill of "{dataset.name}"')
    problems.extend("", find_name_problems("keys", key_names, dataset.names))
    problems.extend("", find_name_problems("columns", read_from or (), dataset.names))
    problems.extend("", checks.one_of("hidden", hidden, ("marked", "all")))
    if before is not None and before.rows != dataset.rows:
        message = f"has {before.rows:,} records, the release {dataset.rows:,}; they must match."
        problems.add("original", message)
    problems.raise_any()
    groups = gather_groups(dataset, before, as_names(links), known_groups or {})
    cells = read_cells(dataset, before, key_names, hidden=hidden, groups=groups)
    if not cells.targets and not cells.finer:
        raise DivulgeError(_describe_nothing_hidden(dataset, before, hidden))
    completion = complete_columns(cells.columns, key_names, ordered=ordered, read_from=read_from)
    return Refill(
        cells=cells,
        completion=completion,
        ordered=ordered,
        read_from=read_from,
        hidden_cells="all" if hidden == "all" and before is None else "marked",
    )


def _describe_nothing_hidden(dataset: Dataset, original: Dataset | None, hidden: str) -> str:
    if original is not None:
        return (
            f'dataset "{dataset.name}" hides no cell of its original and makes none coarser: there '
            "is nothing to refill"
        )
    if hidden == "all":
        return f'dataset "{dataset.name}": no quasi-identifier has a missing value to refill'
    return (
        f'dataset "{dataset.name}" does not say which missing values were suppressed: give the '
        'original, or hidden="all" to take every missing quasi-identifier for a suppressed one'
    )
