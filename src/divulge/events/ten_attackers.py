"""The ten attackers of Ito et al. (2018, Table 7): date, number of kinds, one or all of the goods.

| | date | number of kinds | goods |
|---|---|---|---|
| 0 | - | - | - |
| 1 | - | - | one |
| 2 | - | known | - |
| 3 | - | known | one |
| 4 | - | known | all |
| 5 | known | - | - |
| 6 | known | - | one |
| 7 | known | known | - |
| 8 | known | known | one |
| 9 | known | known | all |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from divulge import work
from divulge.assessment import Breakdown, Chart, Details, Sentence, html
from divulge.assessment.plain_text import align_table
from divulge.assessment.sentence import format_number, read_phrases
from divulge.events import charts
from divulge.events.assess import EventAssessment, describe_drawn, problems_with_release
from divulge.events.attack import attack
from divulge.events.estimates import Marginals, estimate
from divulge.events.history.history import History, require_history
from divulge.events.knowledge.attacker import Attacker, Guess, Weight, problems_with_settings
from divulge.events.matching.matching import KnowledgeMatching
from divulge.events.relation_matches import open_matching
from divulge.work import InvalidInput, Problem, Problems, checks

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.console import RenderableType

Count: TypeAlias = Literal["kinds", "records"]

TEN: tuple[tuple[str, ...], ...] = (
    (),
    ("item",),
    ("kinds",),
    ("kinds", "item"),
    ("kinds", "all items"),
    ("day",),
    ("day", "item"),
    ("day", "kinds"),
    ("day", "kinds", "item"),
    ("day", "kinds", "all items"),
)
"""What each of the ten attackers knows, as facets, by number."""

CATALOGUE = "divulge.events"


@dataclass(frozen=True, eq=False, kw_only=True)
class TenAttackers:
    """The ten attackers' success on a history: exact, estimated, and by the paper's product."""

    history: History
    weight: Weight
    guess: Guess
    count: Count
    exact: tuple[float, ...]
    """The share that each attacker identifies."""
    certain: tuple[float, ...]
    """The share that fits one user only."""
    estimated: tuple[float, ...]
    """The same as `exact`, from totals alone, with the sizes of baskets in mind."""
    marginals: tuple[float, ...]
    """The same from marginals alone."""
    product: tuple[float, ...]
    """The paper's product formula: not a probability."""
    released: tuple[EventAssessment, ...] = ()
    """What each of them finds in a protected release, if there is one."""

    @property
    def ranks(self) -> tuple[int, ...]:
        """The rank of each attacker by exact success; 1 is the most dangerous."""
        return _rank_attackers(self.exact)

    @property
    def estimated_ranks(self) -> tuple[int, ...]:
        """The rank of each attacker by estimated success."""
        return _rank_attackers(self.estimated)

    @property
    def errors(self) -> tuple[float, ...]:
        """How far each estimate is from the exact value."""
        return tuple(e - x for e, x in zip(self.estimated, self.exact, strict=True))

    def attacker(self, number: int) -> Attacker:
        """One of the ten."""
        if number not in range(len(TEN)):
            value = checks.describe_value(number)
            message = f"{value} is none of the ten; they are 0 to {len(TEN) - 1}."
            raise InvalidInput("ten attackers", [Problem("number", message)])
        knows = TEN[number]
        return Attacker(_substitute_count(knows, self.count), weight=self.weight, guess=self.guess)

    def by(self, group: str) -> dict[int, Breakdown]:
        """Who bears the risk: each of the ten for every value of an attribute, by number."""
        return {n: attack(self.history, self.attacker(n)).by(group) for n in range(len(TEN))}

    def assessment(self) -> EventAssessment:
        """The ten in one assessment: its figures are those of the most dangerous."""
        worst = self.ranks.index(1)
        assessment = attack(self.history, self.attacker(worst))
        largest_error = max(abs(error) for error in self.errors)
        values = {
            "number": worst,
            "words": describe_ten()[worst],
            "share": self.exact[worst],
            "many": sum(value >= 0.5 for value in self.exact),
            "near": largest_error,
            "total": len(TEN),
            "drawn": describe_drawn(self.weight),
        }
        keys = ("ten.worst", "ten.many", "ten.estimates")
        sentences = [Sentence("divulge.events", key, values) for key in keys]
        return replace(
            assessment,
            model=f"ten, {assessment.model}",
            sentences=(*sentences, *assessment.sentences),
            figures={
                **assessment.figures,
                "largest_error_of_estimates": largest_error,
                **{f"attacker_{n}": share for n, share in enumerate(self.exact)},
                **{f"attacker_{n}_certain": share for n, share in enumerate(self.certain)},
                **{f"attacker_{n}_estimate": share for n, share in enumerate(self.estimated)},
            },
            _chart=self.chart,
            _details=self.details,
        )

    @property
    def after(self) -> tuple[float, ...]:
        """The share that each attacker identifies in the protected release."""
        return tuple(each.probabilistic.posterior for each in self.released)

    @property
    def certain_after(self) -> tuple[float, ...]:
        """The share of which one user only fits, rightly, in the protected release."""
        return tuple(each.deterministic.posterior for each in self.released)

    def details(self) -> Details:
        """The table of the ten, the distributions behind it, and users against records."""
        pictures = self.charts()
        del pictures["ten"]
        head = self._read_head()
        return Details(head, self.rows(), tuple(range(2, len(head))), tuple(pictures.values()))

    def to_dict(self) -> dict[str, Any]:
        """All figures as plain values."""
        return {
            "dataset": self.history.dataset.name,
            "weight": self.weight,
            "guess": self.guess,
            "count": self.count,
            "claims": {"exact": "exact", "certain": "exact", "estimate": "estimate"},
            "attackers": [
                {
                    "attacker": n,
                    "knows": list(knows),
                    "exact": self.exact[n],
                    "rank": self.ranks[n],
                    "certain": self.certain[n],
                    "estimate": self.estimated[n],
                    "estimate_rank": self.estimated_ranks[n],
                    "error": self.errors[n],
                    "marginals": self.marginals[n],
                    "product": self.product[n],
                    **self._describe_after(n),
                }
                for n, knows in enumerate(TEN)
            ],
            "remarks": [sentence.render() for sentence in self.remarks()],
        }

    def _describe_after(self, number: int) -> dict[str, Any]:
        if not self.released:
            return {}
        found = self.released[number]
        return {
            "after": self.after[number],
            "certain_after": self.certain_after[number],
            "claim_after": found.claim,
        }

    def remarks(self) -> list[Sentence]:
        """What was out of the ordinary in the records, and what figures after a release are."""
        of_release = {
            sentence.key: sentence
            for each in self.released
            for sentence in each.sentences
            if sentence.key.startswith(("maybe", "remark.maybe"))
        }
        return [*self.history.remarks(), *of_release.values()]

    def to_arrow(self) -> pa.Table:
        """One row per attacker."""
        import pyarrow as pa

        return pa.Table.from_pylist(self.to_dict()["attackers"])

    def rows(self) -> list[tuple[str, ...]]:
        """The figures as a table for people."""
        return [
            (
                str(n),
                words,
                f"{self.exact[n]:.4f}",
                str(self.ranks[n]),
                f"{self.certain[n]:.4f}",
                f"{self.estimated[n]:.4f}",
                str(self.estimated_ranks[n]),
                f"{self.marginals[n]:.4f}",
                format_number(self.product[n]),
                *(
                    [f"{self.after[n]:.4f}", f"{self.certain_after[n]:.4f}"]
                    if self.released
                    else []
                ),
            )
            for n, words in enumerate(describe_ten())
        ]

    def chart(self) -> Chart:
        """The ten attackers beside each other."""
        records = [
            {"attacker": f"{n}: {words}", "exact": self.exact[n], "estimate": self.estimated[n]}
            for n, words in enumerate(describe_ten())
        ]
        return charts.draw_ten_attackers_chart(records, self.weight)

    def charts(self) -> dict[str, Chart]:
        """All pictures: the ten, sizes of baskets, goods by rank, users against records.

        Of records that stay where they are, the ten alone.
        """
        if self.history.is_elsewhere:
            return {"ten": self.chart()}
        kinds, _ = self.history.baskets
        pictures = {
            "ten": self.chart(),
            "kinds": charts.draw_kinds_chart(kinds),
            "items": charts.draw_ranks_chart(np.bincount(self.history.item_codes)),
        }
        for words in ("day", "kinds", "item"):
            matching = KnowledgeMatching.from_attacker(self.history, Attacker(words))
            pictures[f"users by {words}"] = charts.draw_users_by_records_chart(
                *matching.list_users_and_weights(), words
            )
        return pictures

    def __str__(self) -> str:
        return f"{align_table(self._read_head(), self.rows())}\n{self._describe_weight()}"

    def _repr_html_(self) -> str:
        table = html.render_table(self._read_head(), self.rows())
        return table + html.render_paragraphs([self._describe_weight()])

    def _read_head(self) -> tuple[str, ...]:
        after = read_phrases(CATALOGUE, "head.ten_after") if self.released else ()
        return (*read_phrases(CATALOGUE, "head.ten_attackers"), *after)

    def _describe_weight(self) -> str:
        return Sentence(CATALOGUE, "drawn.weight", {"drawn": describe_drawn(self.weight)}).render()

    def __rich__(self) -> RenderableType:
        from rich.table import Table

        table = Table(
            *self._read_head(), box=None, header_style="dim", caption=self._describe_weight()
        )
        for row in self.rows():
            table.add_row(*row)
        return table


def describe_ten() -> tuple[str, ...]:
    """What each of the ten attackers knows, in words, by number."""
    return read_phrases(CATALOGUE, "ten_attackers.knows")


def ten_attackers(
    history: History,
    weight: Weight = "record",
    guess: Guess = "uniform",
    count: Count = "kinds",
    *,
    release: History | None = None,
) -> TenAttackers:
    """Run the ten attackers on a history, exactly, and estimate them from its totals.

    Args:
        history: who did what when.
        weight: what is drawn at random: `record`, `event` or `user`.
        guess: `uniform` among the users who match, or the `best`.
        count: `kinds` counts distinct items of an event, `records` its records.
        release: a protected version: what each knows comes from `history`, who may be meant from
            `release`.

    >>> import divulge as dv
    >>> purchases = History(dv.datasets.purchases_example(), "user", "date", "goods")
    >>> [round(value, 4) for value in ten_attackers(purchases, weight="record").exact]
    [0.3333, 0.55, 0.6, 0.8, 1.0, 0.65, 0.9, 1.0, 1.0, 1.0]
    """
    require_history("ten attackers", history)
    problems = Problems("ten attackers")
    problems.extend("", problems_with_release(history, release))
    if isinstance(weight, Mapping):
        message = 'the ten weigh by "record", "event" or "user"; with a prior, attack one by one.'
        problems.add("weight", message)
    else:
        problems.extend("", problems_with_settings(1, weight, guess))
    problems.extend("", checks.one_of("count", count, get_args(Count), "something to count"))
    problems.raise_any()
    attackers = [
        Attacker(_substitute_count(knows, count), weight=weight, guess=guess) for knows in TEN
    ]
    matched = list(_match_all(history, attackers))
    released: list[EventAssessment] = []
    if release is not None:
        with work.step("Running ten attackers on the release", len(TEN)) as step:
            for attacker in attackers:
                released.append(attack(history, attacker, release))
                step.advance()
    totals = Marginals.of(history)
    return TenAttackers(
        history=history,
        weight=weight,
        guess=guess,
        count=count,
        exact=tuple(best if guess == "best" else uniform for uniform, best, _ in matched),
        certain=tuple(certain for _, _, certain in matched),
        estimated=tuple(estimate(totals, knows, weight) for knows in TEN),
        marginals=tuple(estimate(totals, knows, weight, "marginals") for knows in TEN),
        product=tuple(estimate(totals, knows, weight, "product") for knows in TEN),
        released=tuple(released),
    )


def _match_all(
    history: History, attackers: Sequence[Attacker]
) -> Iterator[tuple[float, float, float]]:
    """Of each attacker what a uniform guess and the best get right, and what is certain."""
    with ExitStack() as stack:
        step = stack.enter_context(work.step("Running ten attackers", len(attackers)))
        matching = None
        if history.is_elsewhere:
            matching = stack.enter_context(open_matching(history, attackers))
        for attacker in attackers:
            if matching is None:
                in_memory = KnowledgeMatching.from_attacker(history, attacker)
                yield in_memory.compute_shares(best=attacker.guess == "best")
            else:
                found = matching.match(attacker, at_worst=False)
                right = found.right_uniform, found.right_best, found.certain
                yield right[0] / found.weight, right[1] / found.weight, right[2] / found.weight
            step.advance()


def _substitute_count(knows: Sequence[str], count: Count) -> list[str]:
    """What one of the ten knows, where it is said what is counted."""
    return [count if word == "kinds" else word for word in knows]


def _rank_attackers(values: Sequence[float]) -> tuple[int, ...]:
    """The most dangerous first; who knows more comes first among equals."""
    order = sorted(range(len(values)), key=lambda n: (-round(values[n], 12), -n))
    return tuple(order.index(n) + 1 for n in range(len(values)))
