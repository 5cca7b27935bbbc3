"""Datasets of several years, linked by a persistent id: what each further year adds.

The focal dataset comes first; the others are joined to it by the id, and who is absent in a year is
absent: that is a value. Each year refines the classes of the year before, so all prefixes of the
years come out of one pass (Alvim et al. 2022, Sec. 4.2 and 5.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy.typing as npt

from divulge import work
from divulge.assessment import Assessment, Chart
from divulge.classes.partition import Classes, Knowledge
from divulge.classes.weights import weights_of
from divulge.data import Dataset
from divulge.data.dictionary import as_names
from divulge.records.attack_models import attack
from divulge.records.inference import charts
from divulge.records.inference.gains import gain_for
from divulge.records.inference.memory import require_room
from divulge.records.inference.secrets import Secrets
from divulge.records.models.everybody import collective
from divulge.records.models.linked_datasets import (
    Duplicates,
    described,
    joint_secret,
    link_years,
    problems_with,
    refined,
    secret_values,
)
from divulge.work import InvalidInput, Problem


@dataclass(frozen=True)
class Growth(Sequence[Assessment]):
    """One assessment for each prefix of the datasets, the first alone included."""

    assessments: tuple[Assessment, ...]
    subjects: str

    def __getitem__(self, place: Any) -> Any:
        return self.assessments[place]

    def __len__(self) -> int:
        return len(self.assessments)

    def chart(self) -> Chart:
        """How success grows with every dataset that is added."""
        return charts.growth(self.assessments, self.subjects)

    def to_dict(self) -> dict[str, Any]:
        """All assessments as plain values, for JSON."""
        return {"assessments": [assessment.to_dict() for assessment in self.assessments]}

    def __str__(self) -> str:
        return "\n".join(f"{int(a.figures['datasets'])}: {a.explain()[0]}" for a in self)


def longitudinal(
    datasets: Sequence[Dataset],
    on: str,
    knows: str | Iterable[str] | None = None,
    seeks: str | Iterable[str] | None = None,
    duplicates: Duplicates = "error",
    seed: int = 0,
    gain: Any = None,
    prior: Any = None,
    release: Sequence[Dataset | None] | None = None,
) -> Growth:
    """Attack the first dataset with the help of the others: one assessment for each prefix.

    Args:
        datasets: the focal dataset, then the others in the order of their release.
        on: the persistent id that all of them have.
        knows: what is known of everybody, in every dataset that has it; the focal dataset's
            quasi-identifiers if not given.
        seeks: the secret, an attribute of the focal dataset; None: re-identification.
        duplicates: what becomes of an id that occurs more than once in a dataset: `error`, or
            the `first` or a `random` record is kept; how many were dropped is counted.
        seed: of the random choice.
        gain: what guesses are worth, as in `attack`; a right guess is worth 1 if none is given.
        prior: how likely each focal record is the one they are after, as in `attack`.
        release: the protected version of each dataset, None for one that was released as it is;
            what is known is then taken from the datasets, and matches are looked for here.

    >>> import divulge as dv
    >>> years = [dv.datasets.school_year_example(1), dv.datasets.school_year_example(2)]
    >>> growth = longitudinal(years, on="id", knows=["gender", "grade"], seeks="disability")
    >>> [a.deterministic.posterior for a in growth]
    [0.6, 0.8]
    """
    sought = [] if seeks is None else as_names(seeks)
    if release is not None:
        return _grown_in_release(
            datasets, list(release), on=on, knows=knows, seeks=sought or None,
            duplicates=duplicates, seed=seed, gain=gain, prior=prior,
        )  # fmt: skip
    [growth] = _grown(datasets, on, knows, [sought], duplicates, seed, gain, prior)
    return growth


def longitudinal_of_each(
    datasets: Sequence[Dataset],
    on: str,
    knows: str | Iterable[str] | None = None,
    seeks: Iterable[str | None] = (None,),
    duplicates: Duplicates = "error",
    seed: int = 0,
) -> dict[str | None, Growth]:
    """Several secrets, each of its own, from one pass; None stands for re-identification.

    >>> import divulge as dv
    >>> years = [dv.datasets.school_year_example(1), dv.datasets.school_year_example(2)]
    >>> found = longitudinal_of_each(years, "id", ["gender", "grade"], [None, "disability"])
    >>> found[None][1].deterministic.posterior, found["disability"][1].deterministic.posterior
    (0.6, 0.8)
    """
    secrets = list(seeks)
    wanted = [[] if secret is None else [secret] for secret in secrets]
    grown = _grown(datasets, on, knows, wanted, duplicates, seed, None, None)
    return dict(zip(secrets, grown, strict=True))


def _grown(
    datasets: Sequence[Dataset],
    on: str,
    knows: str | Iterable[str] | None,
    wanted: Sequence[list[str]],
    duplicates: Duplicates,
    seed: int,
    gain: Any,
    prior: Any,
) -> list[Growth]:
    if not datasets:
        raise InvalidInput("attack", [Problem("datasets", "give one dataset or more.")])
    require_room(datasets, prior is not None)
    linked = link_years(datasets, on, duplicates, seed)
    known: list[str] = []
    for sought in wanted:
        known, _ = problems_with(datasets, on, knows, sought)
    secrets = [joint_secret(linked, sought) for sought in wanted]
    gains = [gain_for(gain, secret_values(linked, sought)) for sought in wanted]
    weights = None if prior is None else weights_of(linked.focal, prior)[linked.records]
    found: list[list[Assessment]] = [[] for _ in wanted]
    focal = linked.dataset
    with work.step("Linking datasets", len(datasets)) as step:
        for years, classes in enumerate(refined(linked, known), start=1):
            figures = {"datasets": years, "records_dropped": linked.dropped}
            for sought, secret, worth, assessments in zip(
                wanted, secrets, gains, found, strict=True
            ):
                model = f"C{'A' if sought else 'R'}{'S' if years == 1 else 'L'}"
                make = partial(_secrets, classes.of_record, classes.number, secret, weights)
                assessments.append(
                    collective(focal, make, known, sought, model, worth, figures,
                               weighed=weights is not None)
                )  # fmt: skip
            step.advance()
    return [Growth(tuple(assessments), focal.subjects) for assessments in found]


def _grown_in_release(
    datasets: Sequence[Dataset], release: list[Dataset | None], **asked: Any
) -> Growth:
    """The same of protected versions: one attack for each prefix."""
    goal = "R" if asked["seeks"] is None else "A"
    known, _ = problems_with(datasets, asked["on"], asked.pop("knows"), asked["seeks"])
    found = []
    with work.step("Linking datasets", len(datasets)) as step:
        for years in range(1, len(datasets) + 1):
            model = f"C{goal}{'S' if years == 1 else 'L'}"
            # What a later dataset alone has is not known of the first ones.
            so_far = [n for n in known if any(n in one.names for one in datasets[:years])]
            one = attack(datasets[:years], model, so_far, release=release[:years], **asked)
            found.append(described(one, {"datasets": years}))
            step.advance()
    return Growth(tuple(found), datasets[0].subjects)


def _secrets(
    of_record: npt.NDArray[Any], number: int, secret: Knowledge | None, weights: Any
) -> Secrets:
    """Secrets among classes of their own, so that what was worked out of these is let go."""
    return Secrets(Classes(of_record, number), secret, weights)
