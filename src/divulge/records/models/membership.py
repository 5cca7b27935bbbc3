"""Who is in the release: membership, inferred from how many live and how many were released.

In a class of N people of whom n are in the release, somebody is in it with probability n / N. The
tool-makers' journalist risk, 1 / N for a released record, stands beside it under its own name.

The records of the attack are the people of the population: each one's secret is whether they are in
the release, and each one's risk is the chance that the best guess at it is right.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge.assessment import Assessment, Breakdown, Chart, Claim
from divulge.data import Column, Dataset
from divulge.qif import PriorPosterior
from divulge.records.inference import charts
from divulge.records.inference.per_record import AttackDescription, PerRecordSuccess
from divulge.records.models.one_person import build_person_assessment
from divulge.work import Problems, format_quantity
from divulge.work.arrays import Floats, Ints

MEMBERSHIP = ("not in the release", "in the release")
"""The two values of the secret, in the order that a gain takes them."""
ROUNDING_TOLERANCE = 1e-9


@dataclass(frozen=True, kw_only=True)
class MembershipChances:
    """Classes of people: how likely each one's members are in the release, and what is certain.

    `chance` is the probability of membership by class, `is_certain` whether it leaves nothing open,
    `of_person` the class of each person, `released` how many records the release has, and
    `of_released` the class of each of them, where it is known.
    """

    chance: Floats
    is_certain: npt.NDArray[np.bool_]
    of_person: Ints
    released: int
    journalist: dict[str, float]
    claim: Claim = "exact"
    of_released: Ints | None = None

    @classmethod
    def from_counts(
        cls, released: Ints, living: Ints, of_person: Ints, of_released: Ints
    ) -> MembershipChances:
        """From how many of each class are in the release and in the population."""
        require_enough_people(int(np.count_nonzero(released > living)))
        chance = released / np.maximum(1, living)
        known = (released == 0) | (released == living)
        journalist = _compute_journalist_risk(released, living)
        number = int(released.sum())
        return cls(
            chance=chance,
            is_certain=known,
            of_person=of_person,
            released=number,
            journalist=journalist,
            of_released=of_released,
        )

    @property
    def population_size(self) -> int:
        """How many people there are."""
        return len(self.of_person)

    @property
    def prior_chance(self) -> float:
        """The probability that somebody is in the release, if nothing is known of them."""
        return self.released / self.population_size

    def assess_people(self, gain: Any, prior: Floats | None) -> PerRecordSuccess:
        """What is known of each person; who of a class was released is left to chance."""
        chance = self.chance[self.of_person]
        everybody = np.full(self.population_size, self.prior_chance)
        settled = np.full(self.population_size, self.prior_chance in (0.0, 1.0))
        worth = None
        if gain is not None:
            worth = compute_guess_worth(gain, everybody), compute_guess_worth(gain, chance)
        return PerRecordSuccess(
            certain=(settled, self.is_certain[self.of_person]),
            right=(np.maximum(everybody, 1 - everybody), np.maximum(chance, 1 - chance)),
            worth=worth,
            weight=prior,
        )


def assess_membership(
    dataset: Dataset,
    people: Dataset,
    presence: MembershipChances,
    *,
    knows: list[str],
    model: str,
    class_of_target: int | None = None,
    gain: Any = None,
    prior: Floats | None = None,
    released_of_group: Callable[[str], tuple[Column, Ints] | None] | None = None,
) -> Assessment:
    """Assess who is known to be in the release, or not to be.

    Args:
        dataset: the release.
        people: the population, one record for each person.
        presence: what the release tells of each class of people.
        knows: what is known of everybody.
        model: CMS, CML, IMS or IML.
        class_of_target: the class of the one person who is sought, if it is one.
        gain: what guesses are worth (guesses x not in the release, in it).
        prior: what each person weighs.
        released_of_group: for an attribute, its column in the population, and by class and value
            how many were released; None where the release does not have it.
    """
    if class_of_target is not None:
        return _assess_one_person(
            dataset, presence, knows, model=model, class_of_target=class_of_target, gain=gain
        )
    per_person = presence.assess_people(gain, prior)
    description = AttackDescription(
        dataset=dataset.name,
        subjects=people.subjects,
        knows=tuple(knows),
        seeks=("membership",),
        model=model,
        sentence="membership",
        attack="longitudinal" if model.endswith("L") else "records",
        claim=presence.claim,
        weighed=prior is not None,
    )

    def draw_chart() -> Chart:
        return charts.draw_before_and_after(
            "membership", assessment.deterministic, assessment.guessed
        )

    def break_down(group: str) -> Breakdown:
        [name] = people.attributes(group, "by")
        released_counts = None
        if released_of_group is not None and gain is None and prior is None:
            released_counts = released_of_group(name)
        if released_counts is None:
            return per_person.break_down(description, people, name)
        return _break_down_by_truth(description, presence, name, *released_counts)

    assessment = per_person.to_assessment(
        description,
        figures={
            "released": presence.released,
            "capacity": _compute_capacity(presence, prior),
            **presence.journalist,
        },
        _chart=draw_chart,
        _breakdown=break_down,
        _risk=lambda: per_person.right[1],
    )
    return assessment


def require_enough_people(wrong: int) -> None:
    """Refuse a population that lacks some who were released."""
    if wrong:
        problems = Problems("attack")
        classes = format_quantity(wrong, "class", "classes")
        problems.add(
            "population",
            f"{classes} of what is known {'has' if wrong == 1 else 'have'} more records in the "
            "release than people in the population, which must contain everybody who might "
            "be in the release.",
        )
        problems.raise_any()


def _assess_one_person(
    dataset: Dataset,
    presence: MembershipChances,
    knows: list[str],
    *,
    model: str,
    class_of_target: int,
    gain: Any,
) -> Assessment:
    share, before = float(presence.chance[class_of_target]), presence.prior_chance
    size = int(np.count_nonzero(presence.of_person == class_of_target))
    worth = None
    if gain is not None:
        worth = PriorPosterior(
            *(float(compute_guess_worth(gain, np.array([p]))[0]) for p in (before, share))
        )
    return build_person_assessment(
        dataset, knows, ["membership"], model=model,
        certain=PriorPosterior(
            int(before in (0.0, 1.0)), int(presence.is_certain[class_of_target])
        ),
        right=PriorPosterior(max(before, 1 - before), max(share, 1 - share)),
        figures={"matching": size, "posterior of membership": share, **presence.journalist},
        worth=worth,
        claim=presence.claim,
    )  # fmt: skip


def _break_down_by_truth(
    description: AttackDescription,
    presence: MembershipChances,
    name: str,
    column: Column,
    released: Ints,
) -> Breakdown:
    """The groups as they are: of each class and group it is known how many were released."""
    groups = max(1, column.cardinality)
    people = np.zeros((len(presence.chance), groups), np.int64)
    np.add.at(people, (presence.of_person, column.codes), 1)
    require_enough_people(int(np.count_nonzero((released > people).any(axis=1))))
    share = np.divide(released, people, where=people > 0, out=np.zeros(people.shape))
    # Each person counts for their part of the right guesses in a class and group; on a tie either
    # guess is right for half of a class, whoever they are.
    guess = np.where(presence.chance > 0.5, 1.0, np.where(presence.chance < 0.5, 0.0, 0.5))[:, None]
    right = guess * share + (1 - guess) * (1 - share)
    guess_before = (
        1.0 if presence.prior_chance > 0.5 else 0.5 if presence.prior_chance == 0.5 else 0.0
    )
    right_before = guess_before * share + (1 - guess_before) * (1 - share)
    place = (presence.of_person, column.codes)
    per_person = PerRecordSuccess(
        certain=(np.full(presence.population_size, presence.prior_chance in (0.0, 1.0)),
         presence.is_certain[presence.of_person]),
        right=(right_before[place], right[place]),
    )  # fmt: skip
    return per_person.break_down_by_column(description, name, column)


def compute_guess_worth(gain: Any, chance: Floats) -> Floats:
    """What the best guess is worth if membership has these chances."""
    from divulge.qif import Hyper

    total = np.column_stack([1 - chance, chance]).T
    different, place = np.unique(total, axis=1, return_inverse=True)
    best = [float(gain.best(Hyper.from_counts(each[:, None]).weights)[0]) for each in different.T]
    return np.array(best)[place.reshape(-1)]


def _compute_capacity(presence: MembershipChances, prior: Floats | None) -> float:
    """Multiplicative Bayes capacity of the channel from membership to what is known.

    A prior says how likely somebody of each class is the one they are after.
    """
    size = np.bincount(presence.of_person, prior, len(presence.chance))
    size = size / size.sum()
    inside, outside = size * presence.chance, size * (1 - presence.chance)
    parts = [part / part.sum() for part in (inside, outside) if part.sum() > ROUNDING_TOLERANCE]
    return float(np.max(parts, axis=0).sum())


def _compute_journalist_risk(released: Ints, living: Ints) -> dict[str, float]:
    """The chance of the right person for a released record, if all of its class are alike."""
    has_records = released > 0
    if not has_records.any():
        return {}
    return {
        "journalist_risk_average": float(
            (released[has_records] / living[has_records]).sum() / released.sum()
        ),
        "journalist_risk_highest": float((1 / living[has_records]).max()),
    }
