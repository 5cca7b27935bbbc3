"""What an attack on a history finds, as an assessment: of users, and of every record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge.assessment import Assessment, Breakdown, Sentence
from divulge.assessment.assessment import Claim
from divulge.data.dictionary import find_name_problems
from divulge.events.history.history import History, problems_with_history
from divulge.events.knowledge.attacker import Attacker
from divulge.events.knowledge.facets import Facet, parse_facet
from divulge.events.matching import kernels
from divulge.events.matching.matching import Tally
from divulge.events.protected.attack_protected import LookupResult, RecordShares
from divulge.events.relation_matches import MatchCounts
from divulge.qif import PriorPosterior
from divulge.work import DivulgeError, Problem
from divulge.work.arrays import Floats

if TYPE_CHECKING:
    import pyarrow as pa

CATALOGUE = "divulge.events"


@dataclass(frozen=True, repr=False)
class EventAssessment(Assessment):
    """An assessment of a history: also the risk of every user, and how many users match."""

    tally: Tally | MatchCounts | None = field(default=None, compare=False)
    _users: Callable[[], list[Any]] | None = field(default=None, compare=False)

    def users(self) -> pa.Table:
        """The risk of each user: on average over what may be known, and at worst.

        The users are named: the table is for those who answer for them, not for publication.
        """
        import pyarrow as pa

        if not isinstance(self.tally, Tally) or self._users is None:
            raise DivulgeError("this assessment gives no risk for single users")
        figures = self.tally.by_user[: len(self._users())]
        weight = np.maximum(figures[:, kernels.WEIGHT], np.finfo(float).tiny)
        column = kernels.RIGHT_BEST if "best" in self.model else kernels.RIGHT_UNIFORM
        return pa.table(
            {
                "user": self._users(),
                "weight": figures[:, kernels.WEIGHT],
                "risk": figures[:, column] / weight,
                "certain": figures[:, kernels.CERTAIN] / weight,
                "worst": figures[:, kernels.WORST_CASE],
            }
        )

    def distribution(self) -> pa.Table:
        """Which share of what may be known fits how many users; 0: nobody, on a release."""
        import pyarrow as pa

        if self.tally is None:
            raise DivulgeError("this assessment knows no distribution of matches")
        [matches] = np.nonzero(self.tally.by_matches)
        shares = self.tally.by_matches[matches] / self.tally.weight
        return pa.table({"users_who_match": matches, "share": shares})


def problems_with_release(
    history: History, release: History | None, knows: Sequence[str] = ()
) -> Iterator[Problem]:
    """What cannot be of an original and its protected release."""
    if release is not None and not isinstance(release, History):
        yield from problems_with_history("release", release)
        return
    if history.missing == "maybe":
        message = 'missing="maybe" is for a protected release; knowledge is of the original.'
        yield Problem("history", message)
    if release is not None and (history.is_elsewhere or release.is_elsewhere):
        message = "is matched with the original in memory only: read both (dv.read)."
        yield Problem("release", message)
        return
    if release is not None and not set(history.user_values()) & set(release.user_values()):
        message = "has no user of the original; users must have the same names on both sides."
        yield Problem("release", message)
    if release is not None:
        for words in knows:
            meaning = parse_facet(words, history.dataset.names)
            if isinstance(meaning, Facet) and meaning.kind == "attribute":
                names = release.dataset.names
                yield from find_name_problems("knows", [words], names, "the release")


def describe_release_effects(
    tally: Tally, released: LookupResult, release: History
) -> list[Sentence]:
    """How often what is known fits nobody in the release, or only others; what it hides."""
    shares = {"lost": float(tally.by_matches[0] / tally.weight), "misled": released.misled_share}
    keys = ["released", *(["misled"] if released.misled_share > 0 else [])]
    hidden = [sentence for sentence in release.remarks() if sentence.key.startswith("remark.maybe")]
    return [*(Sentence(CATALOGUE, key, shares) for key in keys), *hidden]


def defer_record_risk(
    history: History,
    attacker: Attacker,
    prior: float,
    each: Callable[[], RecordShares],
    claim: Claim,
) -> dict[str, Any]:
    """The risk of each record of the dataset, and who bears it, when they are asked for."""
    cached_risk = cache(each)  # found once, if at all

    def compute_record_risk() -> Floats:
        shares = cached_risk()
        in_order = np.full(history.dataset.rows, np.nan)
        weight = np.where(shares.weight > 0, shares.weight, np.nan)
        in_order[history.order] = shares.correct_shares(attacker.guess) / weight
        return in_order

    def break_down(group: str) -> Breakdown:
        return _break_down_by_group(
            history, attacker, group, prior=prior, each=cached_risk(), claim=claim
        )

    return {"_risk": compute_record_risk, "_breakdown": break_down}


def describe_knowledge(attacker: Attacker) -> list[str]:
    """What the attacker knows, as a list of words."""
    return list(attacker.knows) or [str(Sentence(CATALOGUE, "knowledge.none"))]


def describe_units(attacker: Attacker) -> str:
    """What is drawn at random, several of them."""
    return str(Sentence(CATALOGUE, f"units.{attacker.drawn}"))


def describe_drawn(drawn: str) -> str:
    """Of what figures are averages: per record, event or user."""
    return str(Sentence(CATALOGUE, f"drawn.{drawn}"))


def collect_sentence_values(
    attacker: Attacker, weight: float, certain: float, right: float, prior: float
) -> dict[str, Any]:
    """What sentences about an attacker tell."""
    return {
        "knows": describe_knowledge(attacker),
        "units": describe_units(attacker),
        "drawn": describe_drawn(attacker.drawn),
        "total": max(1, round(weight)),
        "certain": round(certain, 6),
        "certain_share": certain / weight,
        "right_share": right / weight,
        "prior": prior,
    }


def build_assessment(
    history: History,
    attacker: Attacker,
    *,
    weight: float,
    certain: float,
    right: float,
    prior: float,
    **more: Any,
) -> EventAssessment:
    """The figures under what was asked; all that weighs is counted as secrets."""
    share = PriorPosterior(1.0 if history.users == 1 else 0.0, certain / weight)
    chance = PriorPosterior(prior, right / weight)
    return EventAssessment(
        attack="events",
        model=f"by {attacker.drawn}, {attacker.guess} guess",
        dataset=history.dataset.name,
        knows=attacker.knows,
        seeks=(history.user,),
        secrets=max(1, round(weight)),
        subjects=more.pop("subjects", describe_units(attacker)),
        claim=more.pop("claim", "exact"),
        certain=PriorPosterior(share.prior * weight, certain),
        right=PriorPosterior(prior * weight, right),
        deterministic=share,
        probabilistic=chance,
        **more,
    )


def _break_down_by_group(
    history: History,
    attacker: Attacker,
    group: str,
    *,
    prior: float,
    each: RecordShares,
    claim: Claim,
) -> Breakdown:
    """The same attacker, seen from the records of each group."""
    [group] = history.dataset.attributes(group, "by")
    codes = history.codes(group)
    column = history.dataset.columns[group]
    sums = [
        np.bincount(codes, part, minlength=column.cardinality)
        for part in (each.weight, each.certain, each.correct_shares(attacker.guess))
    ]
    assessments = {}
    for code, (weight, certain, correct) in enumerate(np.stack(sums, axis=1).tolist()):
        if weight == 0:
            continue
        values = collect_sentence_values(attacker, weight, certain, correct, prior)
        assessments[column.value(code)] = build_assessment(
            history,
            attacker,
            weight=weight,
            certain=certain,
            right=correct,
            prior=prior,
            claim=claim,
            sentences=(
                Sentence(CATALOGUE, "singled_out", values),
                Sentence(CATALOGUE, f"guessed.{attacker.guess}", values),
            ),
        )
    return Breakdown(group, assessments)
