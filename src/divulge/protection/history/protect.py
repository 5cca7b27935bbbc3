"""Histories: coarser times and items, rare items and long baskets cut, fewer users.

A history is protected step by step, each a change of all records: what happened is told by the
week, the month, the quarter, the year; items by a level of their hierarchy; then items that few
users had are left out, baskets capped, users sampled. After every step the attacks are run again
(`history.attacks`); in the end every method is taken back as far as the limits hold without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from divulge import work
from divulge.assessment import Assessment, Limit, Outcome, Sentence
from divulge.data import Dataset
from divulge.events import Attacker
from divulge.events.history.calendar import UNITS, read_times
from divulge.protection import tuning
from divulge.protection.history.attacks import HistoryAttacks, Setting
from divulge.protection.suppression.request import OutOfReachError
from divulge.work import DivulgeError, Interruption, InvalidInput, Problem
from divulge.work.arrays import Ints

HistoryMethod: TypeAlias = Literal["time", "item", "rare", "basket", "sample"]
HISTORY_METHODS: tuple[HistoryMethod, ...] = ("time", "item", "rare", "basket", "sample")
COARSENING_METHODS: tuple[HistoryMethod, ...] = ("time", "item")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
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
    kept: Ints

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
    *,
    item: str,
    methods: Sequence[HistoryMethod] = HISTORY_METHODS,
    seed: int = 0,
    members_known: bool = True,
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
        members_known: whether an attacker knows that their victim is in the release. If they do
            not, leaving users out protects them; a check of the release alone does not see that.
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
    _check_types(dataset, limits, attackers, seed)
    _check_arguments(dataset, methods, limits, attackers=attackers, user=user, time=time, item=item)
    attacks = HistoryAttacks(
        dataset=dataset,
        attackers=dict(attackers),
        limits=tuple(limits),
        user=user,
        time=time,
        item=item,
        seed=seed,
        members_known=members_known,
        reading_options=read,
    )
    setting = Setting()
    steps: list[Setting] = []
    first, before = attacks.judge_limits(setting)
    with work.step("Protecting a history") as step:
        while not attacks.is_within_limits(setting):
            best = _find_best_step(attacks, setting, methods)
            if best is None:
                raise _build_out_of_reach_error(
                    dataset, _judge_last_setting(attacks, setting), methods
                )
            setting = best
            steps.append(setting)
            step.advance()
        relaxed = _relax_setting(attacks, setting)
    if relaxed != setting:
        setting = relaxed
        steps.append(setting)
    released, kept = attacks.build_release(setting)
    last, after = attacks.judge_limits(setting, in_full=True)
    sentences = tuple(_describe_changes(dataset, attacks, setting))
    return ProtectedHistory(
        original=dataset,
        dataset=released,
        steps=tuple(steps),
        sentences=sentences,
        before=before,
        after=after,
        outcomes=last,
        outcomes_before=first,
        kept=kept,
    )


def _judge_last_setting(attacks: HistoryAttacks, setting: Setting) -> tuple[Outcome, ...]:
    """What every limit comes to when nothing more can be done."""
    for in_full in (True, False):
        try:
            return attacks.judge_limits(setting, in_full)[0]
        except Interruption:
            raise
        except DivulgeError:
            continue  # it cannot be asked what they would find
    return attacks.judge_limits(Setting())[0]


def _relax_setting(attacks: HistoryAttacks, setting: Setting) -> Setting:
    """The same with every method taken back as far as the limits hold without it."""
    for method in HISTORY_METHODS:
        target = getattr(setting, method)
        trial: Setting | None = replace(setting, **{method: None})
        while trial is not None and getattr(trial, method) != target:
            if attacks.is_within_limits(trial):
                setting = trial
                break
            trial = _advance_method(attacks, trial, method)
    return setting


def _find_best_step(
    attacks: HistoryAttacks, setting: Setting, methods: Sequence[HistoryMethod]
) -> Setting | None:
    """One level more of the method that helps most; coarser first, then fewer records."""
    for kind in (
        COARSENING_METHODS,
        tuple(m for m in HISTORY_METHODS if m not in COARSENING_METHODS),
    ):
        trials = []
        for place, method in enumerate(m for m in methods if m in kind):
            candidate = _advance_method(attacks, setting, method)
            if candidate is not None:
                try:
                    trials.append((attacks.sum_excess(candidate), place, candidate))
                except Interruption:
                    raise
                except DivulgeError:
                    continue
        if trials:
            return min(trials, key=lambda trial: trial[:2])[2]
    return None


def _advance_method(
    attacks: HistoryAttacks, setting: Setting, method: HistoryMethod
) -> Setting | None:
    """The setting with one method a level further; None if it can go no further."""
    if method == "time":
        times = read_times(attacks.dataset.columns[attacks.time])
        finest = "hour" if times is not None and times.has_hours else "day"
        # A week can lie in two months: from weeks one goes on to months of the original.
        units = UNITS[UNITS.index(finest) + 1 :]
        position = -1 if setting.time is None else units.index(setting.time)
        return replace(setting, time=units[position + 1]) if position + 1 < len(units) else None
    if method == "item":
        hierarchy = attacks.dataset.dictionary[attacks.item].hierarchy
        level = (setting.item or 0) + 1
        if hierarchy is None or level > hierarchy.height:
            return None
        return replace(setting, item=level)
    ladder: Mapping[str, tuple[Any, ...]] = {
        "rare": tuning.RARE_ITEM_USERS,
        "basket": tuning.BASKET_CAPS,
        "sample": tuning.SAMPLE_SHARES,
    }
    current = getattr(setting, method)
    position = -1 if current is None else ladder[method].index(current)
    if position + 1 >= len(ladder[method]):
        return None
    return replace(setting, **{method: ladder[method][position + 1]})


def _describe_changes(
    dataset: Dataset, attacks: HistoryAttacks, setting: Setting
) -> Iterator[Sentence]:
    def build_sentence(key: str, **values: Any) -> Sentence:
        return Sentence("divulge.protection", f"history.{key}", values)

    if setting.time is not None:
        yield build_sentence("time", unit=setting.time)
    if setting.item is not None:
        yield build_sentence("item", level=setting.item)
    rows, kept = dataset.rows, np.arange(dataset.rows)
    for kind in ("rare", "basket", "sample"):
        levels = {name: getattr(setting, name) for name in ("rare", "basket", "sample")}
        if levels[kind] is None:
            continue
        later = ("rare", "basket", "sample")
        upto = {n: v for n, v in levels.items() if later.index(n) <= later.index(kind)}
        places = attacks.build_release(replace(setting, **{**dict.fromkeys(later), **upto}))[1]
        after = places.size
        if kind == "rare":
            yield build_sentence("rare", removed=rows - after, users=setting.rare)
        elif kind == "basket":
            yield build_sentence("basket", removed=rows - after, cap=setting.basket)
        else:
            user_codes = dataset.columns[attacks.user].codes
            users = [len(np.unique(user_codes[each])) for each in (kept, places)]
            yield build_sentence("sample", kept=users[1], users=users[0])
        rows, kept = after, places


def _build_out_of_reach_error(
    dataset: Dataset, outcomes: Sequence[Outcome], methods: Sequence[HistoryMethod]
) -> OutOfReachError:
    failing = [outcome for outcome in outcomes if not outcome.held]
    reasons = "; ".join(outcome.in_short for outcome in failing)
    unused = [method for method in HISTORY_METHODS if method not in methods]
    more = f" allow the methods {', '.join(unused)}," if unused else ""
    return OutOfReachError(
        f'dataset "{dataset.name}": coarser and fewer records do not reach the limits ({reasons}):'
        f"{more} give the items a hierarchy, or release counts instead of histories."
    )


def _check_types(dataset: Dataset, limits: Any, attackers: Any, seed: Any) -> None:
    """Refuse what is not what it should be, before anything is asked of it."""
    problems = []
    if not isinstance(attackers, Mapping):
        problems.append(Problem("attackers", "must be given by name."))
    elif any(not isinstance(each, Attacker) for each in attackers.values()):
        problems.append(Problem("attackers", "must be of dv.events.Attacker."))
    if isinstance(limits, Limit):
        problems.append(Problem("limits", "must be a list."))
    if not isinstance(seed, int) or seed < 0:
        problems.append(Problem("seed", f"{seed} is no whole number from 0."))
    if problems:
        raise InvalidInput(f'protection of "{dataset.name}"', problems)


def _check_arguments(
    dataset: Dataset,
    methods: Sequence[HistoryMethod],
    limits: Sequence[Limit],
    *,
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
        if limit.adversary is not None and limit.adversary not in attackers:
            message = f'there is no attacker "{limit.adversary}".'
            problems.append(Problem(f"limit {place}", message, limit.adversary, list(attackers)))
    if not limits:
        problems.append(Problem("limits", "contains none; say what must hold."))
    if problems:
        raise InvalidInput(f'protection of "{dataset.name}"', problems)
