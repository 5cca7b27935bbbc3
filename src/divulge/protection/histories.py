"""Histories: coarser times and items, rare items and long baskets cut, fewer users.

A history is protected step by step, each a change of all records: what happened is told by the
week, the month, the quarter, the year; items by a level of their hierarchy; then items that few
users had are left out, baskets capped, users sampled. After every step the attacks are run again,
by an adversary who knows the original and tells it as coarsely as the release does; before a step
is the last, also by who tells it as finely as she knows it, where that says more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from divulge import work
from divulge.assessment import Assessment, Limit, Outcome, Sentence
from divulge.data import Dataset
from divulge.data.column import recode as with_values
from divulge.events import Attacker, History, attack
from divulge.events.calendar import COARSER, NOT_A_TIME, UNITS, times_of
from divulge.events.facets import Facet, facet
from divulge.protection.changes import taken
from divulge.protection.recodings import one_coarser, recoded
from divulge.protection.wish import OutOfReachError
from divulge.records.alike import IntArray
from divulge.work import DivulgeError, InvalidInput, Problem

HistoryMethod: TypeAlias = Literal["time", "item", "rare", "basket", "sample"]
HISTORY_METHODS: tuple[HistoryMethod, ...] = ("time", "item", "rare", "basket", "sample")
COARSENING: tuple[HistoryMethod, ...] = ("time", "item")

RARE = (2, 3, 5, 10)
BASKETS = (10, 5, 3, 2, 1)
SAMPLES = (0.5, 0.25, 0.1)


@dataclass(frozen=True)
class Setting:
    """How far each method has gone; None: not used."""

    time: str | None = None
    item: int | None = None
    rare: int | None = None
    basket: int | None = None
    sample: float | None = None


@dataclass(frozen=True, eq=False, repr=False)
class ProtectedHistory:
    """A protected history: what was done to it, and what attacks find before and after."""

    original: Dataset
    dataset: Dataset
    steps: tuple[Setting, ...]
    sentences: tuple[Sentence, ...]
    before: Assessment
    after: Assessment
    outcomes: tuple[Outcome, ...]
    outcomes_before: tuple[Outcome, ...]
    kept: IntArray

    @property
    def setting(self) -> Setting:
        """How far each method has gone."""
        return self.steps[-1] if self.steps else Setting()

    @property
    def removed(self) -> int:
        """How many records were left out."""
        return self.original.rows - self.dataset.rows

    def explain(self) -> list[str]:
        """What was done, in sentences."""
        return [str(sentence) for sentence in self.sentences]

    def to_dict(self) -> dict[str, Any]:
        """All figures as plain values."""
        return {
            "dataset": self.original.name,
            "records": self.original.rows,
            "removed_records": self.removed,
            "time": self.setting.time,
            "item_level": self.setting.item,
            "rare": self.setting.rare,
            "basket": self.setting.basket,
            "sample": self.setting.sample,
            "before": self.before.to_dict(),
            "after": self.after.to_dict(),
            "outcomes": [outcome.to_dict() for outcome in self.outcomes],
            "sentences": self.explain(),
        }

    def __str__(self) -> str:
        return "\n".join(self.explain())

    def __repr__(self) -> str:
        return f'ProtectedHistory("{self.original.name}", {self.setting})'


def protect_history(
    dataset: Dataset,
    attackers: Mapping[str, Attacker],
    limits: Sequence[Limit],
    user: str,
    time: str,
    item: str,
    methods: Sequence[HistoryMethod] = HISTORY_METHODS,
    seed: int = 0,
    **read: Any,
) -> ProtectedHistory:
    """Protect a history until every limit on its attackers holds.

    Args:
        dataset: the records; they stay as they are.
        attackers: by name; a limit that names none is for all of them.
        limits: on figures of their attacks, such as `probabilistic.posterior`.
        user: the attribute that says whose record it is.
        time: the attribute that says when.
        item: the attribute that says what.
        methods: what may be done: coarser `time` and `item` first (one level at a time, the one
            that helps most), then `rare` items, `basket`s and a `sample` of users.
        seed: of what is kept of baskets, and of the sample.
        **read: how the history is read: `event`, `amount`, `returns`, `missing`.

    Raises:
        OutOfReachError: if all methods together do not reach a limit.

    >>> import divulge as dv
    >>> p = protect_history(
    ...     dv.datasets.purchases_example(),
    ...     {"neighbour": dv.events.Attacker(knows=["day", "item"])},
    ...     [dv.Limit("probabilistic.posterior", at_most=0.7)],
    ...     user="user", time="date", item="goods",
    ... )
    >>> p.setting.time, round(p.before.probabilistic.posterior, 2)
    ('week', 0.9)
    """
    _check(dataset, methods, limits, attackers, user, time, item)
    told = _Told(dataset, dict(attackers), tuple(limits), user, time, item, seed, read)
    setting = Setting()
    steps: list[Setting] = []
    with work.step("Protecting a history") as step:
        while True:
            outcomes, _ = told.judged(setting)
            if all(outcome.held for outcome in outcomes):
                outcomes, _ = told.judged(setting, in_full=True)
            if all(outcome.held for outcome in outcomes):
                break
            best = _best_step(told, setting, methods)
            if best is None:
                raise _out_of_reach(dataset, outcomes, methods)
            setting = best
            steps.append(setting)
            step.advance()
    released, kept = told.released(setting)
    first, before = told.judged(Setting())
    last, after = told.judged(setting, in_full=True)
    said = tuple(_said(dataset, told, setting))
    return ProtectedHistory(
        dataset, released, tuple(steps), said, before, after, last, first, kept
    )  # fmt: skip


@dataclass(frozen=True)
class _Told:
    """What is asked of a history."""

    dataset: Dataset
    attackers: dict[str, Attacker]
    limits: tuple[Limit, ...]
    user: str
    time: str
    item: str
    seed: int
    read: dict[str, Any]

    def coarsened(self, setting: Setting) -> Dataset:
        """All records, told as coarsely as a setting says."""
        current = self.dataset
        if setting.time is not None:
            current = coarser_times(current, self.time, setting.time)
        if setting.item is not None:
            current = coarser_items(current, self.item, setting.item)
        return current

    def released(self, setting: Setting) -> tuple[Dataset, IntArray]:
        """What would be released, and which records those are."""
        current = self.coarsened(setting)
        kept = np.arange(current.rows)
        for keep in self._filters(setting):
            places = keep(taken(current, kept))
            kept = kept[places]
        return taken(current, kept) if kept.size < current.rows else current, kept

    def _filters(self, setting: Setting) -> Iterator[Callable[[Dataset], IntArray]]:
        if setting.rare is not None:
            least = setting.rare
            yield lambda seen: common_items(seen, self.user, self.item, least)
        if setting.basket is not None:
            cap = setting.basket
            event = self.read.get("event", "day")
            yield lambda seen: first_of_baskets(seen, self.user, self.time, event, cap, self.seed)
        if setting.sample is not None:
            share = setting.sample
            yield lambda seen: sampled_users(seen, self.user, share, self.seed)

    def judged(
        self, setting: Setting, in_full: bool = False
    ) -> tuple[tuple[Outcome, ...], Assessment]:
        """Every limit, with knowledge from the original; and the worst attacker's assessment.

        With `in_full`, also by who tells what she knows as finely as she knows it.
        """
        released, kept = self.released(setting)
        if kept.size == 0:
            raise OutOfReachError(f'dataset "{self.dataset.name}": no record would be left')
        known = History(self.coarsened(setting), self.user, self.time, self.item, **self.read)
        seen = History(released, self.user, self.time, self.item, **self.read)
        outcomes, worst = [], None
        for name, attacker in self.attackers.items():
            if attacker.points > 1 or kept.size == self.dataset.rows:
                found = attack(seen, attacker).named(name)
            else:
                found = attack(known, attacker, seen).named(name)
            tries = [found]
            if in_full and self._tells_more(setting, attacker):
                tries += [each.named(name) for each in self._as_known(setting, attacker, released)]
            for limit in self.limits:
                if limit.adversary in (None, name):
                    judged = [limit.judge(each) for each in tries]
                    outcomes.append(max(judged, key=lambda o: (not o.held, o.value)))
            worst = max(
                [*([worst] if worst is not None else []), *tries],
                key=lambda each: each.probabilistic.posterior,
            )
        assert worst is not None  # noqa: S101  # there is at least one attacker
        return tuple(outcomes), worst

    def _tells_more(self, setting: Setting, attacker: Attacker) -> bool:
        """Whether what she knows says more of a coarser release than what it looks like there.

        Two days of a month want two records of it, three kinds of goods three; and a week can lie
        in two months. What is known of one record looks in the release as the record does.
        """
        if setting == Setting():
            return False
        read = [facet(words, self.dataset.names) for words in attacker.knows]
        facets = [each for each in read if isinstance(each, Facet)]
        apart = setting.time is not None and any(
            each.kind == "when"
            and setting.time not in COARSER[each.words]
            and each.words not in COARSER[setting.time]
            for each in facets
        )
        of_events = any(each.kind in ("kinds", "basket", "items") for each in facets)
        return attacker.points > 1 or apart or of_events

    def _as_known(
        self, setting: Setting, attacker: Attacker, released: Dataset
    ) -> Iterator[Assessment]:
        """The attack with knowledge as it is, where the release can be asked for it."""
        known = History(self.dataset, self.user, self.time, self.item, **self.read)
        hiding = {**self.read, "missing": "maybe", "rounded": setting.time}
        try:
            yield attack(
                known, attacker, History(released, self.user, self.time, self.item, **hiding)
            )
        except DivulgeError:
            return  # what events hold cannot be asked of events that the release runs together

    def excess(self, setting: Setting) -> float:
        """By how much the limits are passed, all together."""
        outcomes, _ = self.judged(setting)
        passed = [
            (o.value if o.most is None else o.most) - o.limit.bound for o in outcomes if not o.held
        ]
        return sum(max(0.0, each) for each in passed)


def _best_step(told: _Told, setting: Setting, methods: Sequence[HistoryMethod]) -> Setting | None:
    """One level more of the method that helps most; coarser first, then fewer records."""
    for kind in (COARSENING, tuple(m for m in HISTORY_METHODS if m not in COARSENING)):
        trials = []
        for place, method in enumerate(m for m in methods if m in kind):
            further = _further(told, setting, method)
            if further is not None:
                try:
                    trials.append((told.excess(further), place, further))
                except DivulgeError:
                    continue
        if trials:
            return min(trials, key=lambda trial: trial[:2])[2]
    return None


def _further(told: _Told, setting: Setting, method: HistoryMethod) -> Setting | None:
    """The setting with one method a level further; None if it can go no further."""
    if method == "time":
        times = times_of(told.dataset.columns[told.time])
        finest = "hour" if times is not None and times.hours else "day"
        # A week can lie in two months: from weeks one goes on to months of the original.
        units = UNITS[UNITS.index(finest) + 1 :]
        at = -1 if setting.time is None else units.index(setting.time)
        return replace(setting, time=units[at + 1]) if at + 1 < len(units) else None
    if method == "item":
        hierarchy = told.dataset.dictionary[told.item].hierarchy
        level = (setting.item or 0) + 1
        if hierarchy is None or level > hierarchy.height:
            return None
        return replace(setting, item=level)
    ladder: Mapping[str, tuple[Any, ...]] = {"rare": RARE, "basket": BASKETS, "sample": SAMPLES}
    now = getattr(setting, method)
    at = -1 if now is None else ladder[method].index(now)
    if at + 1 >= len(ladder[method]):
        return None
    return replace(setting, **{method: ladder[method][at + 1]})


def coarser_times(dataset: Dataset, time: str, unit: str) -> Dataset:
    """Every time as the first day of its week, month, quarter or year (an hour as its day).

    >>> import divulge as dv
    >>> coarse = coarser_times(dv.datasets.purchases_example(), "date", "month")
    >>> len(coarse.columns["date"].values)
    1
    """
    import pyarrow as pa

    [time] = dataset.attributes(time, "time")
    column = dataset.columns[time]
    times = times_of(column)
    if unit not in UNITS[1:] or times is None:
        problem = Problem("unit", f'"{unit}" is not a unit of time.', unit, UNITS[1:])
        raise InvalidInput("coarser_times", [problem])
    readable = times.moments != NOT_A_TIME
    days = np.where(readable, times.moments, 0) // 86_400_000_000
    first = days.astype("M8[D]")
    if unit == "week":
        first = first - ((days + 3) % 7).astype("m8[D]")
    elif unit != "day":
        months = first.astype("M8[M]").astype(np.int64)
        step = {"month": 1, "quarter": 3, "year": 12}[unit]
        first = (months // step * step).astype("M8[M]").astype("M8[D]")
    values = pa.array(first.astype("M8[D]"), mask=~readable)
    return replace(dataset, columns={**dataset.columns, time: with_values(column, values)})


def coarser_items(dataset: Dataset, item: str, level: int) -> Dataset:
    """Every item at a level of its hierarchy."""
    hierarchy = dataset.dictionary[item].hierarchy
    if hierarchy is None:
        problem = Problem(f'item "{item}"', "has no hierarchy.")
        raise InvalidInput(f'dataset "{dataset.name}"', [problem])
    return recoded(dataset, item, one_coarser(dataset.columns[item], hierarchy, level), level)


def common_items(dataset: Dataset, user: str, item: str, least: int) -> IntArray:
    """The records whose item at least so many users had."""
    who, what = dataset.columns[user].codes, dataset.columns[item].codes
    pairs = np.unique(np.stack([what.astype(np.int64), who.astype(np.int64)]), axis=1)
    users = np.bincount(pairs[0], minlength=int(what.max(initial=0)) + 1)
    return np.flatnonzero(users[what] >= least)


def first_of_baskets(
    dataset: Dataset, user: str, time: str, event: str, cap: int, seed: int
) -> IntArray:
    """At most so many records of each event, drawn at random."""
    if event in UNITS:
        times = times_of(dataset.columns[time])
        assert times is not None  # noqa: S101  # a history has times
        period = np.append(times.period(event), 0)[dataset.columns[time].codes]
    else:
        period = dataset.columns[event].codes.astype(np.int64)
    who = dataset.columns[user].codes.astype(np.int64)
    drawn = np.random.default_rng(seed).random(dataset.rows)
    order = np.lexsort((drawn, period, who))
    new = np.ones(dataset.rows, np.bool_)
    new[1:] = (who[order][1:] != who[order][:-1]) | (period[order][1:] != period[order][:-1])
    starts = np.maximum.accumulate(np.where(new, np.arange(dataset.rows), 0))
    return np.sort(order[np.arange(dataset.rows) - starts < cap])


def sampled_users(dataset: Dataset, user: str, share: float, seed: int) -> IntArray:
    """The records of a share of the users, drawn at random."""
    column = dataset.columns[user]
    users = len(column.values)
    drawn = np.random.default_rng(seed).permutation(users)[: max(1, round(share * users))]
    chosen = np.zeros(users + 1, np.bool_)
    chosen[drawn] = True
    return np.flatnonzero(chosen[column.codes])


def _said(dataset: Dataset, told: _Told, setting: Setting) -> Iterator[Sentence]:
    def sentence(key: str, **values: Any) -> Sentence:
        return Sentence("divulge.protection", f"history.{key}", values)

    if setting.time is not None:
        yield sentence("time", unit=setting.time)
    if setting.item is not None:
        yield sentence("item", level=setting.item)
    rows = dataset.rows
    for kind in ("rare", "basket", "sample"):
        reached = {name: getattr(setting, name) for name in ("rare", "basket", "sample")}
        if reached[kind] is None:
            continue
        later = ("rare", "basket", "sample")
        upto = {n: v for n, v in reached.items() if later.index(n) <= later.index(kind)}
        after = told.released(replace(setting, **{**dict.fromkeys(later), **upto}))[1].size
        if kind == "rare":
            yield sentence("rare", removed=rows - after, users=setting.rare)
        elif kind == "basket":
            yield sentence("basket", removed=rows - after, cap=setting.basket)
        else:
            yield sentence("sample", kept=setting.sample)
        rows = after


def _out_of_reach(
    dataset: Dataset, outcomes: Sequence[Outcome], methods: Sequence[HistoryMethod]
) -> OutOfReachError:
    failing = [outcome for outcome in outcomes if not outcome.held]
    said = "; ".join(outcome.in_short for outcome in failing)
    unused = [method for method in HISTORY_METHODS if method not in methods]
    more = f" allow the methods {', '.join(unused)}," if unused else ""
    return OutOfReachError(
        f'dataset "{dataset.name}": coarser and fewer records do not reach the limits ({said}):'
        f"{more} give the items a hierarchy, or release counts instead of histories."
    )


def _check(
    dataset: Dataset,
    methods: Sequence[HistoryMethod],
    limits: Sequence[Limit],
    attackers: Mapping[str, Attacker],
    user: str,
    time: str,
    item: str,
) -> None:
    dataset.attributes([user, time, item], "history")
    problems = [
        Problem("methods", f'"{method}" is not a method.', str(method), HISTORY_METHODS)
        for method in methods
        if method not in HISTORY_METHODS
    ]
    if not attackers:
        problems.append(Problem("attackers", "names none."))
    for place, limit in enumerate(limits, start=1):
        if not limit.of_assessment or limit.at_least is not None:
            message = f"{limit.measure} does not limit from above what an attacker learns."
            problems.append(Problem(f"limit {place}", message))
    if not limits:
        problems.append(Problem("limits", "holds none; say what must hold."))
    if problems:
        raise InvalidInput(f'protection of "{dataset.name}"', problems)
