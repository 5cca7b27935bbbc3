"""An assessment: what an adversary knew before and knows after, in the one currency of all attacks.

Every attack ends in a prior and a posterior over secrets, so a re-identification, a cell guessed
and a customer picked out of a history carry the same figures and stand in one table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from divulge.assessment import html
from divulge.assessment.sentence import (
    Sentence,
    format_number,
    format_percent,
    format_points,
    read_phrases,
)
from divulge.qif import PriorPosterior
from divulge.work import DivulgeError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from rich.console import RenderableType

    from divulge.assessment.breakdown import Breakdown
    from divulge.assessment.chart import Chart
    from divulge.assessment.details import Details

Claim: TypeAlias = Literal["exact", "estimate", "bound"]
"""What the figures of an assessment are."""

Finding: TypeAlias = Literal["certain", "ambiguous", "open"]
"""What is known of one secret: its value; that several are possible; neither yet."""

Number: TypeAlias = int | float
"""A figure: a count or a measure."""

T = TypeVar("T")

CATALOGUE = "divulge.assessment"


@dataclass(frozen=True)
class Most:
    """How many secrets an adversary may know for certain, and guess right, at the most.

    Where figures are the least that the adversary knows, this is what could not be excluded.
    """

    certain: float
    right: float


@dataclass(frozen=True, repr=False)
class Assessment:
    """The result of one attack.

    Counts stand beside shares: `certain` counts the secrets known for certain before and after,
    `right` the secrets that best guesses get right on average; `deterministic` and
    `probabilistic` are their shares of all secrets (or, with a gain, what it is worth: then
    `by_gain` is true, and only `right` tells how many are guessed right). If the claim is "bound",
    they are the least that is known after, and `most` is the most, None if it may be everything.
    """

    attack: str
    model: str
    dataset: str
    knows: tuple[str, ...]
    seeks: tuple[str, ...]
    secrets: int
    subjects: str
    claim: Claim
    certain: PriorPosterior
    right: PriorPosterior
    deterministic: PriorPosterior
    probabilistic: PriorPosterior
    sentences: tuple[Sentence, ...]
    figures: Mapping[str, Number] = field(default_factory=dict)
    adversary: str | None = None
    by_gain: bool = False
    most: Most | None = None
    not_judged: Sentence | None = None
    """Why a limit cannot be judged by these figures, unless the least or the most decides it."""
    _chart: Callable[[], Chart] | None = field(default=None, compare=False)
    _breakdown: Callable[[str], Breakdown] | None = field(default=None, compare=False)
    _risk: Callable[[], npt.NDArray[np.float64]] | None = field(default=None, compare=False)
    _highest: Callable[[], Fraction | float] | None = field(default=None, compare=False)
    """The highest risk of a record, where single records are not at hand."""
    _write_risk: Callable[[Path, str | None, bool], None] | None = field(
        default=None, compare=False
    )
    """Write the risk of each record, where these stay elsewhere: to which file, named by what."""
    _details: Callable[[], Details] | None = field(default=None, compare=False)
    _plain: Callable[[], Mapping[str, Any]] | None = field(default=None, compare=False)

    @classmethod
    def from_counts(
        cls, *, secrets: int, certain: PriorPosterior, right: PriorPosterior, **described: Any
    ) -> Assessment:
        """From counts of secrets; the shares follow."""
        return cls(
            secrets=secrets,
            certain=certain,
            right=right,
            deterministic=PriorPosterior(certain.prior / secrets, certain.posterior / secrets),
            probabilistic=PriorPosterior(right.prior / secrets, right.posterior / secrets),
            **described,
        )

    @property
    def multiplicative_leakage(self) -> float:
        """By what factor the release multiplies the chance of a right guess."""
        return self.probabilistic.multiplicative

    @property
    def additive_leakage(self) -> float:
        """What the release adds to the chance of a right guess."""
        return self.probabilistic.additive

    @property
    def at_worst(self) -> Assessment:
        """The same with the most that may be known, if its figures are the least; else itself."""
        if (self.claim != "bound" and self.not_judged is None) or not self.secrets:
            return self
        most = self.most or Most(self.secrets, self.secrets)
        # What a guess is worth to an adversary has no bound that a number of secrets would tell.
        right_share = math.inf if self.by_gain else most.right / self.secrets
        return replace(
            self,
            certain=PriorPosterior(self.certain.prior, most.certain),
            right=PriorPosterior(self.right.prior, most.right),
            deterministic=PriorPosterior(self.deterministic.prior, most.certain / self.secrets),
            probabilistic=PriorPosterior(self.probabilistic.prior, right_share),
        )

    def as_least(self, reason: Sentence) -> Assessment:
        """The same figures as the least that is known; for the reason, no limit holds by them."""
        break_down = self._breakdown

        def break_down_least(group: str) -> Breakdown:
            assert break_down is not None  # noqa: S101  # only called where there is one
            groups = break_down(group)
            return replace(
                groups, assessments={of: each.as_least(reason) for of, each in groups.items()}
            )

        return replace(
            self,
            claim="bound" if self.claim == "exact" else self.claim,
            not_judged=reason,
            _breakdown=None if break_down is None else break_down_least,
        )

    def explain(self, language: str | None = None) -> list[str]:
        """What was found, in sentences of a language or of that of the run."""
        most = self.at_worst
        values = {
            "total": self.secrets,
            "certain": _to_plain(most.certain.posterior),
            "right": _to_plain(most.right.posterior),
        }
        claim = Sentence("divulge.assessment", f"claim.{self.claim}", values)
        return [sentence.render(language) for sentence in (*self.sentences, claim)]

    @property
    def gist(self) -> tuple[Sentence, ...]:
        """What was found, in a sentence or two: all up to the first that counts."""
        for place, sentence in enumerate(self.sentences):
            if "certain" in sentence.values:
                return tuple(self.sentences[: place + 1])
        return tuple(self.sentences[:1])

    @property
    def has_chart(self) -> bool:
        """Whether the attack draws a picture of what it found."""
        return self._chart is not None

    def chart(self) -> Chart:
        """The attack's own picture of what it found."""
        return _require_part(self._chart, "has no chart")()

    def details(self) -> Details | None:
        """The attack's own table and further pictures; None if it has no more to show."""
        return None if self._details is None else self._details()

    def by(self, group: str) -> Breakdown:
        """The same figures for every value of an attribute: who bears the risk."""
        return _require_part(self._breakdown, "cannot be broken down by an attribute")(group)

    def risk(self) -> npt.NDArray[np.float64]:
        """The risk of each record, in the order of the records."""
        return _require_part(self._risk, "gives no risk for single records")()

    @property
    def stays_elsewhere(self) -> bool:
        """Whether single records are not at hand, so that an engine writes the risk of each."""
        return self._write_risk is not None

    def write_risk(self, path: Path | str, id: str, *, overwrite: bool = False) -> None:  # noqa: A002  # as the role
        """Write the risk of each record to a Parquet file, where the records stay elsewhere.

        Args:
            path: the file; it appears whole or not at all.
            id: the attribute that says whose each row is.
            overwrite: whether a file may be replaced.
        """
        write = _require_part(self._write_risk, "writes no risk of single records: see risk()")
        write(Path(path), id, overwrite)

    @property
    def has_highest_risk(self) -> bool:
        """Whether the attack tells the risk of the record that is easiest to find."""
        return self._risk is not None or self._highest is not None

    def find_highest_risk(self) -> Fraction | float:
        """The risk of the record that is easiest to find, a fraction of counts where it is one."""
        if self._highest is not None:
            return self._highest()
        risk = self.risk()
        return as_count_share(float(risk.max(initial=0.0)), int(risk.size))

    @property
    def has_risk(self) -> bool:
        """Whether the attack tells the risk of each record."""
        return self._risk is not None

    def named(self, adversary: str) -> Assessment:
        """The same assessment under the name that a release gives the adversary."""
        return replace(self, adversary=adversary)

    def to_dict(self) -> dict[str, Any]:
        """All figures and sentences as plain values, for JSON."""
        return {
            "adversary": self.adversary,
            "attack": self.attack,
            "model": self.model,
            "dataset": self.dataset,
            "knows": list(self.knows),
            "seeks": list(self.seeks),
            "secrets": self.secrets,
            "claim": self.claim,
            "deterministic": self._pair_to_dict("deterministic", self.certain),
            "probabilistic": self._pair_to_dict("probabilistic", self.right),
            # JSON has no infinity: nothing bounds the figure from above.
            "figures": {k: v if math.isfinite(v) else None for k, v in self.figures.items()},
            "sentences": self.explain(),
            **({} if self._plain is None else {"details": dict(self._plain())}),
        }

    def _pair_to_dict(self, kind: str, counts: PriorPosterior) -> dict[str, Any]:
        shares: PriorPosterior = getattr(self, kind)
        most: float = getattr(self.at_worst, kind).posterior
        factor = shares.multiplicative
        # JSON knows no infinity: something out of nothing has no factor, and what a guess is worth
        # may have no bound.
        figures = {
            "prior": shares.prior,
            "posterior": shares.posterior,
            "additive": shares.additive,
            "multiplicative": factor if math.isfinite(factor) else None,
            "count": {
                "prior": _to_plain(counts.prior),
                "posterior": _to_plain(counts.posterior),
            },
        }
        if self.claim == "bound":
            figures["most"] = most if math.isfinite(most) else None
        return figures

    def __str__(self) -> str:
        return "\n".join(self.explain())

    def rows(self) -> Sequence[tuple[str, str, str, str]]:
        """The figures as a table for people: what, before, after, how much more."""
        worst = self.at_worst
        rows = [
            _format_row("certain", self.deterministic, self.certain, worst.certain),
            _format_row("right", self.guessed, self.right, worst.right),
        ]
        if self.by_gain:
            before, after = map(format_number, self.probabilistic)
            worth = str(Sentence(CATALOGUE, "row.worth"))
            rows.append((worth, before, after, f"+{format_number(self.additive_leakage)}"))
        return rows

    @property
    def guessed(self) -> PriorPosterior:
        """The shares that best guesses get right, whatever they are worth."""
        if not self.by_gain:
            return self.probabilistic
        return PriorPosterior(self.right.prior / self.secrets, self.right.posterior / self.secrets)

    def __rich__(self) -> RenderableType:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        table = Table(*_read_head(), box=None, header_style="dim")
        for row in self.rows():
            table.add_row(*map(Text, row))
        return Group(Text(str(self)), table)

    def __repr__(self) -> str:
        certain, right = self.deterministic.posterior, self.guessed.posterior
        return (
            f'Assessment({self.attack} {self.model} of "{self.dataset}", {self.claim}: '
            f"{format_percent(certain)} known for certain, {format_percent(right)} guessed right)"
        )

    def _repr_html_(self) -> str:
        return html.render_paragraphs(self.explain()) + html.render_table(_read_head(), self.rows())


def as_count_share(share: float, records: int) -> Fraction | float:
    """A share of records as the fraction that it is; itself where it is none.

    >>> as_count_share(0.25, 10)
    Fraction(1, 4)
    """
    fraction = Fraction(share).limit_denominator(max(records, 1))
    return fraction if float(fraction) == share else share


def _to_plain(count: Any) -> Any:
    """A count as JSON and texts have it; people with several records are counted in fractions."""
    return float(count) if isinstance(count, Fraction) else count


def _require_part(part: T | None, lack: str) -> T:
    if part is None:
        raise DivulgeError(f"this assessment {lack}")
    return part


def _read_head() -> tuple[str, ...]:
    return read_phrases(CATALOGUE, "head.figures")


def _format_row(
    key: str, shares: PriorPosterior, counts: PriorPosterior, at_worst: PriorPosterior
) -> tuple[str, str, str, str]:
    number_before, number_after = map(_to_plain, counts)
    before = f"{format_number(number_before)} ({format_percent(shares.prior)})"
    after = f"{format_number(number_after)} ({format_percent(shares.posterior)})"
    if at_worst is not counts:
        values = {"after": after, "most": at_worst.posterior}
        after = str(Sentence(CATALOGUE, "row.at_most", values))
    change, factor = f"+{format_points(shares.additive)}", shares.multiplicative
    return (
        str(Sentence(CATALOGUE, f"row.{key}")),
        before,
        after,
        f"{change}, x{format_number(factor)}" if math.isfinite(factor) else change,
    )
