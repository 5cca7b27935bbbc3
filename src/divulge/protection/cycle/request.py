"""The request of a protection cycle (methods, orders, options, checked at once), and its state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

import numpy as np

from divulge.assessment import Sentence
from divulge.data import Dataset
from divulge.data.dictionary import as_names, find_name_problems
from divulge.protection.changes.changes import select_records
from divulge.protection.changes.decision_log import Change
from divulge.protection.directives.settlement import SettledDirectives
from divulge.protection.limits.per_record import Goal, Standing
from divulge.protection.recoding.utilities import RecodingUtility, find_utility
from divulge.protection.suppression.request import ORDERS, Order, OutOfReachError, Search
from divulge.records.risk.links.clusters import Clusters
from divulge.work import Problems, checks
from divulge.work.arrays import Bools, Ints

Method: TypeAlias = Literal["recode", "suppress"]
METHODS: tuple[Method, ...] = ("recode", "suppress")

LocalSearch: TypeAlias = Literal["nested", "clusters"]
LOCAL_SEARCHES: tuple[LocalSearch, ...] = get_args(LocalSearch)


@dataclass(frozen=True, kw_only=True)
class CycleRequest:
    """How the cycle may go about it."""

    methods: tuple[Method, ...]
    never: frozenset[str]
    importance: Mapping[str, float]
    order: Order
    local: bool
    suppression_limit: float
    out_of_reach: Literal["raise", "remove"]
    search: Search
    seed: int | None
    never_hidden: frozenset[str] = frozenset()
    """Attributes that may be made coarser for all records, and not hidden cell by cell."""
    heights: Mapping[str, int] = field(default_factory=dict)
    """By attribute that has a hierarchy, how many levels it has."""
    local_search: LocalSearch = "nested"
    """How single records become coarser, where they do."""
    tie_seed: int = 0
    """What ties are drawn with then: a secret of the release, or derived from the data."""
    withstands_refill: bool = False
    """Whether nobody may look rare in the file as it is, since relations might complete it so."""
    utility: RecodingUtility = "loss"
    """By what ways to recode and to suppress are compared."""
    directives: SettledDirectives = field(default_factory=SettledDirectives)
    """What somebody's rules say must be done or left, whatever the risk."""

    @property
    def never_recoded(self) -> frozenset[str]:
        """Attributes that may not be made coarser for all records."""
        return self.never | self.directives.kept_attributes

    def rank_preference(self, name: str) -> int:
        """The place of an attribute among those that are to be changed first."""
        preferences = self.directives.preferences
        return preferences.get(name, len(preferences))


@dataclass(kw_only=True)
class CycleState:
    """Where the cycle stands: the data, the original of the same records, and the log."""

    original: Dataset
    current: Dataset
    alive: Ints
    changes: list[Change]
    levels: dict[str, int]
    known: Dataset | None = None
    """The records as an adversary knows them, if they were protected before."""
    notes: list[Sentence] = field(default_factory=list)
    """What is to be told of how it was done."""

    def measure(self, goal: Goal, dataset: Dataset | None = None) -> Standing:
        """How the records that are left stand to a limit, as they are or changed."""
        current = self.current if dataset is None else dataset
        return goal.measure_standing(current, self.select_originals(), self.alive)

    def select_clusters(self, goal: Goal) -> Clusters:
        """Which of the records that are left are linked for a limit."""
        if goal.clusters is None:
            return Clusters(np.arange(self.current.rows))
        return goal.clusters.select(self.alive)

    def mark_kept(self, plan: CycleRequest, names: Sequence[str]) -> Bools | None:
        """Which cells of the records that are left must not change; None if all may."""
        return plan.directives.mark_kept(names, self.alive)

    def select_originals(self) -> Dataset:
        """The original of the records that are left, as an adversary knows it."""
        return self._select_alive(self.original if self.known is None else self.known)

    def select_inputs(self) -> Dataset:
        """The records that are left, as they were before the cycle."""
        return self._select_alive(self.original)

    def _select_alive(self, dataset: Dataset) -> Dataset:
        return dataset if self.alive.size == dataset.rows else select_records(dataset, self.alive)


def check_cycle_request(
    dataset: Dataset,
    methods: Sequence[Method],
    never: str | Iterable[str],
    *,
    importance: Mapping[str, float] | None,
    order: Order,
    local: bool | LocalSearch,
    suppression_limit: float,
    out_of_reach: Literal["raise", "remove"],
    search: Search,
    seed: int | None,
    utility: RecodingUtility | str = "loss",
) -> CycleRequest:
    """The plan that was asked for; all that is wrong with it at once."""
    problems = Problems(f'protection of "{dataset.name}"')
    if not methods:
        problems.add("methods", "names none.", "", METHODS)
    for method in methods:
        if method not in METHODS:
            problems.add("methods", f'"{method}" is not a method.', str(method), METHODS)
    if order not in ORDERS:
        problems.add("order", f'"{order}" is not an order.', str(order), ORDERS)
    if search not in ("fewest", "cycle"):
        problems.add("search", f'"{search}" is not a search.', str(search), ["fewest", "cycle"])
    if out_of_reach not in ("raise", "remove"):
        problems.add("out_of_reach", "is neither.", str(out_of_reach), ["raise", "remove"])
    if not isinstance(local, bool):
        problems.extend("", checks.one_of("local", local, LOCAL_SEARCHES))
    problems.extend("", checks.share("suppression_limit", suppression_limit))
    problems.extend("", find_name_problems("never", as_names(never), dataset.names))
    problems.extend("", find_name_problems("importance", importance or {}, dataset.names))
    if any(not checks.is_number(f) or not f > 0 for f in (importance or {}).values()):
        problems.add("importance", "contains a figure that is not above 0.")
    problems.raise_any()
    return CycleRequest(
        methods=tuple(dict.fromkeys(methods)),
        never=frozenset(as_names(never)),
        importance=importance or {},
        order=order,
        local=bool(local),
        local_search="nested" if isinstance(local, bool) else local,
        suppression_limit=suppression_limit,
        out_of_reach=out_of_reach,
        search=search,
        seed=seed,
        utility=find_utility(utility),
        heights={
            name: attribute.hierarchy.height
            for name, attribute in dataset.dictionary.attributes.items()
            if attribute.hierarchy is not None
        },
    )


def build_cycle_error(
    state: CycleState, goal: Goal, count: int, plan: CycleRequest
) -> OutOfReachError:
    """Say for how many a limit is out of reach, and what would be needed."""
    untouchable = [name for name in goal.among if name in plan.never]
    ways = []
    kept = plan.directives.describe_kept(goal.among)
    if kept:
        ways.append(f"let go of {kept}")
    if untouchable:
        quoted = ", ".join(f'"{name}"' for name in untouchable)
        ways.append(f"allow {quoted} to be changed")
    if "suppress" not in plan.methods:
        ways.append('add "suppress" to the methods')
    lacking = [n for n in goal.among if state.original.dictionary[n].hierarchy is None]
    if "recode" in plan.methods and lacking:
        ways.append("give hierarchies for " + ", ".join(f'"{name}"' for name in lacking))
    if plan.out_of_reach == "raise":
        ways.append('let out_of_reach="remove" remove them')
    ways.append(f"{'or ' if ways else ''}ask for less than {goal.rule}")
    return OutOfReachError(
        f'dataset "{state.original.name}": {goal.rule} is out of reach for {int(count):,} of '
        f"{state.original.rows:,} {state.original.subjects}: {', '.join(ways)}."
    )
