"""What suppression is asked for: checked at once, before anything is done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from divulge import records
from divulge.classes.keys import FloatArray
from divulge.data import Dataset
from divulge.data.dictionary import as_names, problems_with_names
from divulge.records.risk.frequencies import OF_ORIGINAL, SEMANTICS, Nulls
from divulge.work import DivulgeError, InvalidInput, Problem, Problems, checks

Search: TypeAlias = Literal["fewest", "cycle"]
Order: TypeAlias = Literal["weight", "risk", "given", "random"]
OutOfReach: TypeAlias = Literal["raise", "remove"]
Costs: TypeAlias = Mapping[str, float | npt.ArrayLike]

SEARCHES: tuple[Search, ...] = ("fewest", "cycle")
ORDERS: tuple[Order, ...] = ("weight", "risk", "given", "random")


class OutOfReachError(DivulgeError):
    """A limit that no allowed change can reach; the text says for how many records, and why."""


@dataclass(frozen=True)
class Wish:
    """What suppression is asked for, checked."""

    k: int
    nulls: Nulls
    subsets: tuple[tuple[str, ...], ...]
    never: frozenset[str]
    costs: Mapping[str, FloatArray]
    cells_per_record: int | None
    out_of_reach: OutOfReach
    search: Search
    order: Order
    seed: int | None
    rule: str

    @property
    def names(self) -> tuple[str, ...]:
        """All attributes that some subset holds, in their order."""
        return tuple(dict.fromkeys(name for subset in self.subsets for name in subset))


def out_of_reach_error(dataset: Dataset, wish: Wish, count: int) -> OutOfReachError:
    """Say for how many a limit is out of reach, and what would be needed."""
    held = [name for name in wish.names if name in wish.never]
    if dataset.rows < wish.k:
        needed = f"there are only {dataset.rows:,} records; lower k to {dataset.rows} or less."
    elif held:
        kept = ", ".join(f'"{name}"' for name in held)
        needed = (
            f"too few agree on {kept}, which must not be touched; allow one of them to be "
            'suppressed, make it coarser, or let out_of_reach="remove" remove the records.'
        )
    else:
        needed = (
            f'under "{wish.nulls}" a suppressed record stays unique; let out_of_reach="remove" '
            'remove them, or count with nulls="maybe", "known" or "bayes".'
        )
    return OutOfReachError(
        f'dataset "{dataset.name}": {wish.rule} is out of reach for {count:,} of '
        f"{dataset.rows:,} {dataset.subjects}: {needed}"
    )


def wish_of(
    dataset: Dataset,
    k: int,
    nulls: Nulls,
    among: str | Iterable[str] | None,
    subsets: int | Sequence[Sequence[str]] | None,
    never: str | Iterable[str],
    importance: Mapping[str, float] | None,
    cost: Costs | None,
    cells_per_record: int | None,
    out_of_reach: OutOfReach | None,
    search: Search,
    order: Order,
    seed: int | None,
) -> Wish:
    """All that was asked for, checked at once."""
    names = dataset.attributes(among, "among")
    problems = Problems(f'suppression in "{dataset.name}"')
    problems.extend("", checks.whole_number("k", k, floats=True))
    for place, given, allowed in (
        ("nulls", nulls, SEMANTICS),
        ("search", search, SEARCHES),
        ("order", order, ORDERS),
        ("out_of_reach", out_of_reach or "raise", ("raise", "remove")),
    ):
        problems.extend("", checks.one_of(place, given, allowed))
    if search == "cycle" and nulls in SEMANTICS and nulls != "maybe":
        problems.add("search", f'the cycle counts with nulls="maybe", not "{nulls}".')
    problems.extend("", problems_with_names("never", as_names(never), dataset.names))
    for place, table in (("importance", importance), ("cost", cost)):
        problems.extend("", problems_with_names(place, table or {}, names, "the suppression"))
    if cells_per_record is not None:
        cells = checks.whole_number("cells_per_record", cells_per_record, floats=True)
        problems.extend("", cells)
    chosen = _subsets(names, subsets, problems)
    costs = _costs(dataset, names, importance, cost, problems)
    problems.raise_any()
    kept = frozenset(as_names(never))
    reach: OutOfReach = out_of_reach or ("remove" if nulls == "standard" else "raise")
    stuck = [subset for subset in chosen if set(subset) <= kept]
    # Who is removed is not touched.
    if reach == "raise" and any(_smallest(dataset, subset, nulls) < k - 1e-9 for subset in stuck):
        which = ", ".join(f'"{name}"' for name in stuck[0])
        message = f"{which} must not be touched, and {k}-anonymity on them needs a change of them."
        raise InvalidInput(problems.subject, [Problem("never", message)])
    rule = f"{k}-anonymity ({nulls})"
    if len(chosen) > 1:
        rule = f"{k}-anonymity of {len(chosen)} sets of attributes ({nulls})"
    wish = Wish(
        int(k), nulls, chosen, kept, costs, cells_per_record, reach, search, order, seed, rule
    )  # fmt: skip
    if dataset.rows < k:
        raise out_of_reach_error(dataset, wish, dataset.rows)
    return wish


def _smallest(dataset: Dataset, subset: Sequence[str], nulls: Nulls) -> float:
    original = dataset if nulls in OF_ORIGINAL else None
    return records.frequencies(dataset, nulls, among=subset, original=original).smallest


def _subsets(
    names: list[str], given: int | Sequence[Sequence[str]] | None, problems: Problems
) -> tuple[tuple[str, ...], ...]:
    if given is None:
        return (tuple(names),)
    if isinstance(given, int):
        if not 1 <= given <= len(names):
            problems.add("subsets", f"{given} is not a number of attributes (1 to {len(names)}).")
            return ()
        return tuple(combinations(names, given))
    for subset in given:
        problems.extend("", problems_with_names("subsets", subset, names, "the suppression"))
    if not given or any(not subset for subset in given):
        problems.add("subsets", "holds no attribute.")
    return tuple(tuple(subset) for subset in given)


def _costs(
    dataset: Dataset,
    names: list[str],
    importance: Mapping[str, float] | None,
    cost: Costs | None,
    problems: Problems,
) -> dict[str, FloatArray]:
    found = {}
    for name in names:
        try:
            factor = float((importance or {}).get(name, 1.0))
            figures = np.atleast_1d(np.asarray((cost or {}).get(name, 1.0), np.float64)) * factor
        except (TypeError, ValueError):
            problems.add(f'importance or cost, "{name}"', "holds something that is no number.")
            continue
        if figures.size not in (1, dataset.rows):
            message = f"has {figures.size:,} figures for {dataset.rows:,} records."
            problems.add(f'cost, "{name}"', message)
        if not np.all(np.isfinite(figures)) or np.any(figures <= 0):
            problems.add(f'cost, "{name}"', "holds a figure that is not above 0.")
        found[name] = figures
    return found
