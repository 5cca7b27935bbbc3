"""Who is in a release that stays where it is: an engine counts it beside its population.

All that is inferred of membership follows from how many of each class were released and how many
live; classes in which both are the same are alike, so they come home as one row.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge import work
from divulge.assessment import Assessment, Breakdown, Chart
from divulge.classes.relation.record_view import open_record_views
from divulge.data.relation.relation import find_value_type
from divulge.qif import PriorPosterior
from divulge.records.inference import charts
from divulge.records.inference.gains import build_gain
from divulge.records.inference.per_record import (
    AttackDescription,
    GroupSums,
    assess_group,
    round_pair,
)
from divulge.records.models.linked_datasets import add_figures
from divulge.records.models.membership import (
    MEMBERSHIP,
    compute_guess_worth,
    require_enough_people,
)
from divulge.records.models.one_person import build_person_assessment
from divulge.records.relation_models.breakdown import build_breakdown
from divulge.records.relation_models.membership_sides import (
    LIVING,
    RELEASED,
    MembershipSides,
    match_sides,
)
from divulge.records.relation_models.request import RelationRequest
from divulge.records.relation_models.target import read_target
from divulge.work.arrays import Floats, Ints

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, kw_only=True)
class ClassKinds:
    """Classes of so many released and so many living, and how many classes of each kind."""

    released: Ints
    living: Ints
    number: Ints

    @property
    def chance(self) -> Floats:
        """How likely a member of a class is in the release."""
        return np.asarray(self.released / np.maximum(1, self.living))

    @property
    def is_certain(self) -> Any:
        """Whether it is known of all members who is in the release."""
        return (self.released == 0) | (self.released == self.living)

    @property
    def people(self) -> Ints:
        """How many people the classes of each kind have together."""
        return self.living * self.number

    @property
    def prior_chance(self) -> float:
        """The probability that somebody is in the release, if nothing is known of them."""
        return int(np.dot(self.released, self.number)) / int(self.people.sum())

    def describe_journalist_risk(self) -> dict[str, float]:
        """The chance of the right person for a released record, if all of its class are alike."""
        seen = self.released > 0
        if not seen.any():
            return {}
        released, living, number = self.released[seen], self.living[seen], self.number[seen]
        expected = sum(
            Fraction(int(r) * int(n), int(of))
            for r, of, n in zip(released, living, number, strict=True)
        )
        return {
            "journalist_risk_average": float(expected / int(np.dot(released, number))),
            "journalist_risk_highest": float((1 / living).max()),
        }

    def compute_capacity(self) -> float:
        """Multiplicative Bayes capacity of the channel from membership to what is known."""
        inside = self.people * self.chance
        outside = self.people * (1 - self.chance)
        parts = [part / part.sum() for part in (inside, outside) if part.sum() > 0]
        return float(np.max(parts, axis=0).sum())


def assess_relation_membership(
    request: RelationRequest, population: Any, raw_target: Any, duplicates: Any
) -> Assessment:
    """Assess who is known to be in a release, or not to be.

    Raises:
        InvalidInput: if the population lacks an attribute, or somebody who was released.
        RecordsElsewhere: if one of them is in memory.
    """
    if request.prior is not None:
        request.refuse("a prior on membership")
    sides = match_sides(request, population, duplicates)
    kinds = _count_kinds(sides)
    require_enough_people(int(kinds.number[kinds.released > kinds.living].sum()))
    gain = build_gain(request.gain, MEMBERSHIP)
    if raw_target is not None:
        return _assess_one(sides, kinds, raw_target, gain)
    description = _describe(sides)
    sums = _sum_people(kinds, gain)
    figures: dict[str, float] = {
        "released": int(np.dot(kinds.released, kinds.number)),
        "capacity": kinds.compute_capacity(),
        **kinds.describe_journalist_risk(),
    }
    if len(request.linked.relations) > 1:
        figures |= {"datasets": len(request.linked.relations), "records_dropped": 0}

    def draw_chart() -> Chart:
        return charts.draw_before_and_after(
            "membership", assessment.deterministic, assessment.guessed
        )

    def break_down(group: str) -> Breakdown:
        return _break_down(sides, kinds, group, description)

    chance = kinds.chance[kinds.living > 0]
    assessment = assess_group(
        description,
        sums,
        figures=figures,
        _chart=draw_chart,
        _breakdown=break_down,
        _highest=lambda: float(np.maximum(chance, 1 - chance).max()),
    )
    return assessment


def _describe(sides: MembershipSides) -> AttackDescription:
    request = sides.request
    return AttackDescription(
        dataset=request.focal.name,
        subjects=sides.people.focal.subjects,
        knows=tuple(request.known),
        seeks=("membership",),
        model=request.model,
        sentence="membership",
        attack="longitudinal" if request.model.endswith("L") else "records",
    )


def _count_kinds(sides: MembershipSides) -> ClassKinds:
    sql = f"""
        WITH united AS ({sides.build_union()}), classes AS (
            SELECT sum(is_released) AS r, sum(is_living) AS p FROM united GROUP BY {sides.keys}
        )
        SELECT CAST(r AS BIGINT) AS released, CAST(p AS BIGINT) AS living, count(*) AS number
        FROM classes GROUP BY r, p ORDER BY released, living
        """

    def count() -> dict[str, Ints]:
        with open_record_views(sides.views) as session:
            return {name: each.astype(np.int64) for name, each in session.arrays(sql).items()}

    counts = work.memoise(
        "relation-membership",
        lambda: {"data": [view.fingerprint for view in sides.views.values()], "sql": sql},
        count,
    )
    return ClassKinds(**{name: counts[name] for name in ("released", "living", "number")})


def _sum_people(kinds: ClassKinds, gain: Any) -> GroupSums:
    """Sums over all people of what is certain, guessed right and won."""
    total, prior = int(kinds.people.sum()), kinds.prior_chance
    settled = total if prior in (0.0, 1.0) else 0
    certain = round_pair((settled, int(kinds.people[kinds.is_certain].sum())))
    likelier = np.maximum(kinds.released, kinds.living - kinds.released)
    right = round_pair((total * max(prior, 1 - prior), int(np.dot(likelier, kinds.number))))
    worth = None
    if gain is not None:
        before = float(compute_guess_worth(gain, np.array([prior]))[0])
        after = float(np.dot(compute_guess_worth(gain, kinds.chance), kinds.people))
        worth = round_pair((before * total, after))
    return GroupSums(secrets=total, certain=certain, sure=certain, right=right, worth=worth)


def _assess_one(
    sides: MembershipSides, kinds: ClassKinds, raw_target: Any, gain: Any
) -> Assessment:
    """One person: how many of their class live, and how many of them were released."""
    request = sides.request
    target = read_target(sides.people, request.known, raw_target)
    pairs = [pair for pair in sides.columns if pair[1] in target.values]
    ours = target.take([theirs for _, theirs in pairs])
    with open_record_views(sides.views) as session:
        target.require_match(session, LIVING)
        counts = [ours.count(session, LIVING)]
        same = [f"r.{mine} IS NOT DISTINCT FROM t.t_{theirs}" for mine, theirs in pairs]
        found = session.arrays(
            f"SELECT count(*) AS n FROM {RELEASED} AS r JOIN target AS t ON {' AND '.join(same)}"
        )
        counts.append(int(found["n"][0]))
    living, released = counts
    share, before = released / living, kinds.prior_chance
    worth = None
    if gain is not None:
        worth = PriorPosterior(
            *(float(compute_guess_worth(gain, np.array([p]))[0]) for p in (before, share))
        )
    assessment = build_person_assessment(
        request.focal,
        request.known,
        ["membership"],
        model=request.model,
        certain=PriorPosterior(int(before in (0.0, 1.0)), int(released in (0, living))),
        right=PriorPosterior(max(before, 1 - before), max(share, 1 - share)),
        figures={
            "matching": living,
            "posterior of membership": share,
            **kinds.describe_journalist_risk(),
        },
        worth=worth,
    )
    return _add_link_figures(assessment, request)


def _add_link_figures(assessment: Assessment, request: RelationRequest) -> Assessment:
    if len(request.linked.relations) == 1:
        return assessment
    figures = {"datasets": len(request.linked.relations), "records_dropped": 0}
    return add_figures(assessment, figures)


def _break_down(
    sides: MembershipSides, kinds: ClassKinds, group: str, description: AttackDescription
) -> Breakdown:
    """Every value of an attribute of the population; as it is, where the release has it too."""
    people, release = sides.people.focal, sides.request.focal
    [name] = people.attributes(group, "by")
    if sides.request.gain is not None:
        sides.request.refuse("the worth of guesses by group")
    is_told = name in release.names and find_value_type(release.kinds[name]) == find_value_type(
        people.kinds[name]
    )
    column = people.find_column(name)
    with open_record_views(sides.views) as session:
        table = session.table(
            _build_group_query(sides, release.find_column(name) if is_told else None, column)
        )
    sums = _sum_groups(table, kinds.prior_chance, is_told=is_told)
    own = RelationRequest(model=sides.request.model, linked=sides.people, known=[], sought=[])
    return build_breakdown(own, name, sums, description)


def _build_group_query(sides: MembershipSides, released: str | None, living: str) -> str:
    """By group and class, how many were released and live in both; alike ones together."""
    # Of a released record the group may not be known: it is then counted with its class alone.
    union = sides.build_union((released or "NULL", living))
    partition = sides.keys
    return f"""
        WITH united AS ({union}), joint AS (
            SELECT {partition}, grp, sum(is_released) AS rg, sum(is_living) AS pg
            FROM united GROUP BY {partition}, grp
        ), classes AS (
            SELECT grp, rg, pg, sum(rg) OVER (PARTITION BY {partition}) AS r,
                   sum(pg) OVER (PARTITION BY {partition}) AS p
            FROM joint
        )
        SELECT grp AS value, CAST(rg AS BIGINT) AS rg, CAST(pg AS BIGINT) AS pg,
               CAST(r AS BIGINT) AS r, CAST(p AS BIGINT) AS p, count(*) AS n
        FROM classes GROUP BY grp, rg, pg, r, p
        """


def _sum_groups(table: pa.Table, prior: float, *, is_told: bool) -> dict[Any, GroupSums]:
    """Each person counts for their part of the right guesses in a class and group."""
    rows = table.to_pylist()
    if is_told:
        require_enough_people(sum(row["n"] for row in rows if row["rg"] > row["pg"]))
    tallies: dict[Any, list[Any]] = {}
    for row in rows:
        if not row["pg"]:
            continue
        tally = tallies.setdefault(row["value"], [0, 0, 0, Fraction(0), 0.0])
        people = row["pg"] * row["n"]
        tally[0] += people
        tally[1] += people if prior in (0.0, 1.0) else 0
        tally[2] += people if row["r"] in (0, row["p"]) else 0
        chance = Fraction(row["r"], row["p"])
        if not is_told:
            tally[3] += people * max(chance, 1 - chance)
            tally[4] += people * max(prior, 1 - prior)
            continue
        inside, outside = row["rg"] * row["n"], (row["pg"] - row["rg"]) * row["n"]
        guess = _round_chance(chance)
        tally[3] += guess * inside + (1 - guess) * outside
        guess_before = _round_chance(Fraction(prior))
        tally[4] += float(guess_before * inside + (1 - guess_before) * outside)
    return {
        value: GroupSums(
            secrets=people,
            certain=round_pair((settled, certain)),
            sure=round_pair((settled, certain)),
            right=round_pair((before, right)),
            worth=None,
        )
        for value, (people, settled, certain, right, before) in tallies.items()
    }


def _round_chance(chance: Fraction) -> Fraction:
    """What is guessed of somebody: in the release, not in it, or either."""
    half = Fraction(1, 2)
    return Fraction(1) if chance > half else Fraction(0) if chance < half else half
