"""What would help: the same audit of weaker tables, until no place is certain, and what each costs.

Each remedy is made stronger until it is enough, or until there is nothing left to make stronger,
which is then said; the cost in utility stands beside it. It is enough only if every record is shown
to have two places: where time ran out or totals contradict the records, nothing is certain either,
and nothing is shown. Then it is made stronger as long as fewer records are undecided.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, overload

import numpy as np

from divulge import work
from divulge.assessment import Chart, Sentence
from divulge.data import Dataset
from divulge.reconstruction.audit import reconstruct
from divulge.reconstruction.auditing.totals import Totals
from divulge.reconstruction.remedies import weaker_tables
from divulge.reconstruction.remedies.deniability import find_deniable_records
from divulge.reconstruction.reporting import charts
from divulge.reconstruction.reporting.result import Reconstruction
from divulge.work import Problems

CATALOGUE = "divulge.reconstruction"

Verdict: TypeAlias = Literal["yes", "not shown", "no"]

_WEAKENINGS: dict[str, weaker_tables.Weakening] = {
    "rounding": weaker_tables.round_totals,
    "random_rounding": weaker_tables.round_at_random,
    "coarser_totals": weaker_tables.coarsen_keys,
    "merged_places": weaker_tables.merge_places,
    "dropped_amount": weaker_tables.drop_amounts,
    "dropped_table": weaker_tables.drop_table,
}

REMEDIES = tuple(_WEAKENINGS)
"""What can be tried: totals rounded to a base, at random up or down, by coarser keys, places put
together, an amount or a table no longer published."""

# What changes amounts only leaves a record alone whose key one place alone has.
_AMOUNT_REMEDIES = ("rounding", "random_rounding", "dropped_amount")


@dataclass(frozen=True, kw_only=True)
class Remedy:
    """One remedy at one strength: what is still given away, and the share of utility it costs.

    For rounding, the cost is the mean relative change of a total; for the others, the share of
    the published rows or figures that is gone. Where places are put together or a table is left
    out, a place counts as certain only if it is one of those that were published before, or if one
    party alone is there. `undecided` are records that are neither certain nor shown to have two
    places; of those that are `waiting`, more time may tell.
    """

    kind: str
    strength: str
    certain: int
    undecided: int
    waiting: int
    identified: int
    records: int
    cost: float

    @property
    def enough(self) -> bool:
        """Whether every record can be denied: each is shown to have two places."""
        return self.certain == 0 and self.undecided == 0

    @property
    def verdict(self) -> Verdict:
        """Whether it is enough: "not shown" if no place is certain, and not all are decided."""
        return "yes" if self.enough else "no" if self.certain else "not shown"

    @property
    def sentences(self) -> list[Sentence]:
        """The remedy in words, and of how many records it is not shown that they can be denied."""
        values = {
            "strength": self.strength,
            "certain": self.certain,
            "identified": self.identified,
            "cost": self.cost,
            "total": self.records,
        }
        sentences = [Sentence(CATALOGUE, f"remedy.{self.kind}", values)]
        if self.verdict == "not shown":
            sentences.append(Sentence(CATALOGUE, "undecided", {"undecided": self.undecided}))
            silent = self.undecided - self.waiting
            if self.waiting:
                sentences.append(Sentence(CATALOGUE, "waiting", {"waiting": self.waiting}))
            if silent:
                sentences.append(Sentence(CATALOGUE, "silent", {"silent": silent}))
        return sentences

    def to_dict(self) -> dict[str, Any]:
        """The remedy as plain values."""
        judgement = {"enough": self.enough, "verdict": self.verdict, "sentence": str(self)}
        return {**vars(self), **judgement}

    def __str__(self) -> str:
        return " ".join(map(str, self.sentences))


@dataclass(frozen=True, eq=False)
class Remedies(Sequence[Remedy]):
    """All that was tried, in the order in which it was: first the release as it is."""

    tried: tuple[Remedy, ...]
    by_chance: bool = False
    """Whether totals are read by what rounding does 99 times of 100."""

    @overload
    def __getitem__(self, place: int) -> Remedy: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Remedy]: ...
    def __getitem__(self, place: int | slice) -> Remedy | Sequence[Remedy]:
        return self.tried[place]

    def __len__(self) -> int:
        return len(self.tried)

    @property
    def strongest(self) -> dict[str, Remedy]:
        """By kind, the first that is enough, or the last that was tried: none would be."""
        strongest: dict[str, Remedy] = {}
        for one in self.tried[1:]:
            if one.kind not in strongest or not strongest[one.kind].enough:
                strongest[one.kind] = one
        return strongest

    @property
    def enough(self) -> list[Remedy]:
        """Of each kind that helps, the weakest that is enough; the cheapest first."""
        return sorted(self._list_by_verdict("yes"), key=lambda r: r.cost)

    @property
    def not_shown(self) -> list[Remedy]:
        """Those that leave no place certain and records undecided; the fewest of these first."""
        return sorted(self._list_by_verdict("not shown"), key=lambda r: (r.undecided, r.cost))

    def _list_by_verdict(self, verdict: Verdict) -> list[Remedy]:
        return [one for one in self._best.values() if one.verdict == verdict]

    @property
    def _best(self) -> dict[str, Remedy]:
        """By kind, the last that was tried; if it is not enough, where fewest are undecided."""
        best = self.strongest
        for one in self.tried[1:]:
            if one.verdict == "not shown" and not best[one.kind].enough:
                before = best[one.kind]
                if before.certain or one.undecided < before.undecided:
                    best[one.kind] = one
        return best

    @property
    def sentences(self) -> list[Sentence]:
        """What was tried, and whether it was enough."""
        return [sentence for one in self.tried for sentence in one.sentences] + self.notes

    @property
    def notes(self) -> list[Sentence]:
        """What is to be said of all that was tried together."""
        notes = []
        if self.by_chance:
            notes.append(Sentence(CATALOGUE, "remedies.by_chance.text"))
        if self.tried[0].certain == 0:
            return notes
        short = [one.kind.replace("_", " ") for one in self._list_by_verdict("no")]
        if short:
            values = {"kinds": short, "count": len(short)}
            notes.append(Sentence(CATALOGUE, "remedies.not_reached", values))
        if self.enough:
            notes.append(
                Sentence(
                    CATALOGUE, "remedies.cheapest.text", _build_sentence_values(self.enough[0])
                )
            )
            return notes
        key = "remedies.not_shown"
        return notes + [
            Sentence(CATALOGUE, key, _build_sentence_values(one)) for one in self.not_shown
        ]

    def explain(self) -> list[str]:
        """What was tried, in sentences."""
        return [str(sentence) for sentence in self.sentences]

    def rows(self) -> list[tuple[str, ...]]:
        """For people: remedy, strength, places certain, undecided, named, cost, whether enough."""
        from divulge.assessment.sentence import format_number, format_percent

        return [
            (
                one.kind.replace("_", " "),
                one.strength,
                format_number(one.certain),
                format_number(one.undecided),
                format_number(one.identified),
                format_percent(one.cost),
                one.verdict,
            )
            for one in self.tried
        ]

    def chart(self) -> Chart:
        """What stays certain, by what it costs."""
        return charts.draw_remedies(self.tried)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {
            "by_chance": self.by_chance,
            "tried": [one.to_dict() for one in self.tried],
            "enough": [one.kind for one in self.enough],
            "not_shown": [one.kind for one in self.not_shown],
            "sentences": self.explain(),
        }

    def __str__(self) -> str:
        return "\n".join(self.explain())


def what_would_help(
    transactions: Dataset,
    totals: Sequence[Totals],
    parties: Dataset,
    *,
    remedies: Sequence[str] = REMEDIES,
    seed: int = 0,
    found: Reconstruction | None = None,
    **settings: Any,
) -> Remedies:
    """Audit the release under each remedy, ever stronger, until no place is certain.

    Any rule of rounding will do. A rule that is to be diagnosed is so once, on the totals as they
    are.

    Args:
        transactions: the records without identities.
        totals: the tables as they would be published.
        parties: the list of parties by place.
        remedies: which to try (see `REMEDIES`).
        seed: for rounding at random.
        found: the audit of the release as it is, if it was made already.
        settings: what `reconstruct` takes besides.

    >>> import divulge as dv
    >>> month = dv.datasets.trade_month(transactions=120, importers=30, products=9, countries=2,
    ...     customs_units=0)
    >>> by_state = Totals(month.by_state, {"product": "product", "country": "country"}, "state",
    ...     ["value", "weight"])
    >>> tried = what_would_help(month.transactions, [by_state], month.importers, workers=1,
    ...     remedies=["dropped_amount"], units={"value": "0.01", "weight": "0.00001"}, seconds=0.1)
    >>> [remedy.strength for remedy in tried]
    ['none', 'weight']
    """
    problems = Problems("what would help")
    for kind in remedies:
        if kind not in REMEDIES:
            problems.add("remedies", f'"{kind}" is no remedy.', kind, REMEDIES)
    problems.raise_any()
    before = found or reconstruct(transactions, totals, parties, **settings)
    # What was diagnosed is not diagnosed again, and is as doubtful as it was.
    diagnosed_totals = _apply_diagnosis(totals, before)
    published = weaker_tables.PublishedTotals(
        diagnosed_totals, parties, transactions, np.random.default_rng(seed)
    )
    if any(table.rounding == "diagnose" for table in totals):
        settings = {"rule_is_known": False, **settings}
    evaluations = [_evaluate_remedy("none", "none", before, 0.0, {})]
    with work.step("Trying remedies", len(remedies)) as step:
        for kind in remedies if evaluations[0].certain else []:
            evaluations += _strengthen_remedy(kind, published, settings)
            step.advance()
    return Remedies(tuple(evaluations), before.levels[0].rule == "unknown_clt")


def _apply_diagnosis(totals: Sequence[Totals], reconstruction: Reconstruction) -> list[Totals]:
    """The tables with what the audit found out of them: their rules, and the amounts they share."""
    # Levels are in this order, the finest first; names of tables may be the same.
    ranked = sorted(range(len(totals)), key=lambda number: -len(totals[number].places))
    of = dict(zip(ranked, reconstruction.levels, strict=True))
    return [
        replace(table, rounding=of[number].rule, amounts=of[number].totals_match.totals.summed)
        for number, table in enumerate(totals)
    ]


def _strengthen_remedy(
    kind: str, published: weaker_tables.PublishedTotals, settings: Mapping[str, Any]
) -> Iterator[Remedy]:
    """One remedy, ever stronger, until it is enough or no stronger one would do better.

    Tables to be left out are alternatives: each is tried.
    """
    undecided = published.records.rows + 1
    complete = settings.get("premise", "any") == "complete"
    for change in _WEAKENINGS[kind](published):
        reconstruction = reconstruct(published.records, change.totals, change.parties, **settings)
        yield (
            one := _evaluate_remedy(
                kind, change.strength, reconstruction, change.cost, change.merged_places
            )
        )
        if kind == "dropped_table":
            continue
        if one.certain == 0:
            if one.enough or one.undecided >= undecided:
                return
            undecided = one.undecided
        # Who is alone at a glance stays so, however coarse amounts are: unless it may be missing.
        alone = int((reconstruction.phases[1].certain & reconstruction.phases[-1].certain).sum())
        if complete and one.certain and kind in _AMOUNT_REMEDIES and one.certain == alone:
            return


def _evaluate_remedy(
    kind: str, strength: str, reconstruction: Reconstruction, cost: float, holds: Mapping[str, int]
) -> Remedy:
    last, names = reconstruction.phases[-1], reconstruction.levels[0].totals_match.names
    of_one = np.array([holds.get(name, 1) == 1 for name in names])
    # Whose party is named can deny nothing, of however many places it is made.
    certain = last.certain & (of_one[last.place] | last.identified)
    deniability = find_deniable_records(reconstruction, holds)
    undecided = ~certain & ~deniability.two_places
    return Remedy(
        kind=kind,
        strength=strength,
        certain=int(certain.sum()),
        undecided=int(undecided.sum()),
        waiting=int((undecided & deniability.pending).sum()),
        identified=int(last.identified.sum()),
        records=len(certain),
        cost=cost,
    )


def _build_sentence_values(one: Remedy) -> dict[str, Any]:
    """A remedy as sentences name it."""
    return {**vars(one), "kind": one.kind.replace("_", " ")}
