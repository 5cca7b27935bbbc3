"""Datasets of several years, linked by a persistent id: what each further year adds.

The focal dataset comes first; the others are joined to it by the id, and who is absent in a year is
absent: that is a value. Years that lack an attribute, or code it anew, are said. Each year refines
the classes of the year before, so all prefixes of the years come out of one pass (Alvim et al.
2022, Sec. 4.2 and 5.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from divulge import work
from divulge.assessment import Assessment, Chart, Sentence, html
from divulge.assessment.plain_text import align_table
from divulge.assessment.sentence import format_number, format_percent, read_phrases
from divulge.classes.partition import AttributeCodes, Partition
from divulge.classes.weights import read_weights
from divulge.data import Dataset, Relation
from divulge.data.dictionary import as_names
from divulge.records.attack_models import attack
from divulge.records.inference import charts
from divulge.records.inference.gains import build_gain
from divulge.records.inference.memory import require_memory
from divulge.records.inference.secrets import Secrets
from divulge.records.models.attribute_gaps import (
    YearChoices,
    apply_choices,
    find_attribute_gaps,
    qualify_assessment,
)
from divulge.records.models.everybody import assess_everybody
from divulge.records.models.linked_datasets import (
    Duplicates,
    LinkedDatasets,
    add_figures,
    build_joint_secret,
    check_attributes,
    link_years,
    list_secret_values,
    refine_by_year,
)
from divulge.records.participation import count_found_in_population, describe_participation
from divulge.records.relation_attack import assess_relation_prefixes, require_countable
from divulge.work import InvalidInput, Problem
from divulge.work.arrays import Floats

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.console import RenderableType


@dataclass(frozen=True)
class Growth(Sequence[Assessment]):
    """One assessment for each prefix of the datasets, the first alone included."""

    assessments: tuple[Assessment, ...]
    subjects: str
    on: str
    names: tuple[str, ...] = ()
    """The datasets in the order in which they are added."""

    def __getitem__(self, place: Any) -> Any:
        return self.assessments[place]

    def __len__(self) -> int:
        return len(self.assessments)

    def chart(self) -> Chart:
        """How success grows with every dataset that is added."""
        return charts.draw_growth(self.assessments, self.subjects)

    def to_dict(self) -> dict[str, Any]:
        """All assessments as plain values, for JSON."""
        return {
            "datasets": list(self.names),
            "assessments": [assessment.to_dict() for assessment in self.assessments],
        }

    @property
    def head(self) -> tuple[str, ...]:
        """What the columns of `rows` are."""
        return tuple(read_phrases("divulge.records", "head.growth"))

    def rows(self) -> list[tuple[str, ...]]:
        """A row for each dataset that is added: its name, and what is then known and guessed."""
        return [
            (
                name,
                format_number(each.secrets),
                (
                    f"{format_number(each.certain.posterior)} "
                    f"({format_percent(each.deterministic.posterior)})"
                ),
                (
                    f"{format_number(round(each.right.posterior, 1))} "
                    f"({format_percent(each.guessed.posterior)})"
                ),
            )
            for name, each in zip(self.names, self.assessments, strict=True)
        ]

    def table(self) -> pa.Table:
        """The same as numbers."""
        import pyarrow as pa

        return pa.table(
            {
                "dataset": list(self.names),
                "secrets": [int(each.secrets) for each in self],
                "certain": [float(each.certain.posterior) for each in self],
                "certain_share": [float(each.deterministic.posterior) for each in self],
                "right": [float(each.right.posterior) for each in self],
                "right_share": [float(each.guessed.posterior) for each in self],
                "claim": [each.claim for each in self],
            }
        )

    def _repr_html_(self) -> str:
        return html.render_table(self.head, self.rows())

    def __rich__(self) -> RenderableType:
        from rich.text import Text

        return Text(str(self))

    def __str__(self) -> str:
        return f"{align_table(self.head, self.rows())}\n\n{self.explain()}"

    def explain(self) -> str:
        """What each dataset adds, in sentences."""
        sentences = (
            Sentence(
                "divulge.records",
                "longitudinal",
                {
                    "datasets": int(each.figures["datasets"]),
                    "on": self.on,
                    "found": each.explain()[0],
                },
            )
            for each in self
        )
        return "\n".join(map(str, sentences))


def longitudinal(
    datasets: Sequence[Dataset],
    on: str,
    knows: str | Iterable[str] | None = None,
    seeks: str | Iterable[str] | None = None,
    duplicates: Duplicates = "error",
    *,
    seed: int = 0,
    gain: Any = None,
    prior: Any = None,
    release: Sequence[Dataset | None] | None = None,
    rename: Mapping[str, Mapping[str, str]] | None = None,
    absent: Mapping[str, str | Iterable[str]] | None = None,
    recoded: str | Iterable[str] | None = None,
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
        rename: by dataset, attributes that it calls otherwise (theirs: ours).
        absent: by dataset, what is known elsewhere and not there, on purpose.
        recoded: what is coded anew in some dataset, on purpose. Where a dataset lacks an attribute
            or codes it anew and neither is said, the figures are the least that is known.

    >>> import divulge as dv
    >>> years = [dv.datasets.school_year_example(1), dv.datasets.school_year_example(2)]
    >>> growth = longitudinal(years, on="id", knows=["gender", "grade"], seeks="disability")
    >>> [(a.deterministic.posterior, a.claim) for a in growth]
    [(0.6, 'exact'), (0.8, 'bound')]
    >>> absent = {years[1].name: "gender"}
    >>> growth = longitudinal(years, "id", ["gender", "grade"], "disability", absent=absent)
    >>> growth[1].claim
    'exact'
    >>> growth.table().column("dataset").to_pylist()
    ['school year 1', 'school year 2']
    """
    sought = [] if seeks is None else as_names(seeks)
    require_countable(datasets, None, {"release": release})
    choices = YearChoices.from_arguments(rename, absent, recoded)
    datasets = apply_choices(datasets, choices)
    if release is not None:
        return _assess_protected_prefixes(
            datasets, list(release), choices, on=on, knows=knows, seeks=sought or None,
            duplicates=duplicates, seed=seed, gain=gain, prior=prior,
        )  # fmt: skip
    [growth] = _assess_prefixes(
        datasets,
        on,
        knows,
        sought_lists=[sought],
        duplicates=duplicates,
        seed=seed,
        gain=gain,
        prior=prior,
        choices=choices,
    )
    return growth


def longitudinal_of_each(
    datasets: Sequence[Dataset],
    on: str,
    knows: str | Iterable[str] | None = None,
    seeks: Iterable[str | None] = (None,),
    duplicates: Duplicates = "error",
    *,
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
    require_countable(datasets, None, {})
    sought_lists = [[] if secret is None else [secret] for secret in secrets]
    growths = _assess_prefixes(
        datasets,
        on,
        knows,
        sought_lists=sought_lists,
        duplicates=duplicates,
        seed=seed,
        gain=None,
        prior=None,
        choices=YearChoices(),
    )
    return dict(zip(secrets, growths, strict=True))


def _assess_prefixes(
    datasets: Sequence[Dataset],
    on: str,
    knows: str | Iterable[str] | None,
    *,
    sought_lists: Sequence[list[str]],
    duplicates: Duplicates,
    seed: int,
    gain: Any,
    prior: Any,
    choices: YearChoices,
) -> list[Growth]:
    if not datasets:
        raise InvalidInput("attack", [Problem("datasets", "give one dataset or more.")])
    if isinstance(datasets[0], Relation):
        lists = assess_relation_prefixes(
            datasets, on, knows, sought_lists=sought_lists, duplicates=duplicates, gain=gain,
            prior=prior, choices=choices,
        )  # fmt: skip
        subjects = datasets[0].subjects
        return [Growth(tuple(each), subjects, on, _list_names(datasets)) for each in lists]
    require_memory(datasets, prior is not None)
    linked = link_years(datasets, on, duplicates, seed)
    known: list[str] = []
    for sought in sought_lists:
        known, _ = check_attributes(datasets, on, knows, sought)
    secrets = [build_joint_secret(linked, sought) for sought in sought_lists]
    gains = [build_gain(gain, list_secret_values(linked, sought)) for sought in sought_lists]
    weights = None if prior is None else read_weights(linked.focal, prior)[linked.records]
    assessments_by_secret: list[list[Assessment]] = [[] for _ in sought_lists]
    focal = linked.dataset
    with work.step("Linking datasets", len(datasets)) as step:
        for years, classes in enumerate(refine_by_year(linked, known), start=1):
            figures = {"datasets": years, "records_dropped": linked.records_dropped}
            gaps = find_attribute_gaps(datasets[:years], known, choices)
            reservations = [*(gap.sentence for gap in gaps), *linked.describe_dropped(years)]
            for sought, secret, worth, assessments in zip(
                sought_lists, secrets, gains, assessments_by_secret, strict=True
            ):
                model = f"C{'A' if sought else 'R'}{'S' if years == 1 else 'L'}"
                make = partial(_build_secrets, classes.of_record, classes.number, secret, weights)
                assessment = assess_everybody(
                    focal,
                    make,
                    known,
                    seeks=sought,
                    model=model,
                    gain=worth,
                    figures=figures,
                    weighed=weights is not None,
                )
                count_found = None if sought else partial(_count_found, linked, classes)
                assessment = describe_participation(assessment, linked.focal, count_found)
                links = linked.describe_links(years)
                assessments.append(qualify_assessment(assessment, links, reservations))
            step.advance()
    names = _list_names(datasets)
    return [Growth(tuple(each), focal.subjects, on, names) for each in assessments_by_secret]


def _assess_protected_prefixes(
    datasets: Sequence[Dataset],
    release: list[Dataset | None],
    choices: YearChoices,
    **options: Any,
) -> Growth:
    """The same of protected versions: one attack for each prefix."""
    goal = "R" if options["seeks"] is None else "A"
    known, _ = check_attributes(datasets, options["on"], options.pop("knows"), options["seeks"])
    assessments = []
    with work.step("Linking datasets", len(datasets)) as step:
        for years in range(1, len(datasets) + 1):
            model = f"C{goal}{'S' if years == 1 else 'L'}"
            # What a later dataset alone has is not known of the first ones.
            known_so_far = [
                n for n in known if any(n in assessment.names for assessment in datasets[:years])
            ]
            names = {dataset.name for dataset in datasets[:years]}
            settled: dict[str, Any] = {}
            if years > 1:
                absent = {
                    dataset: [name for name in of if name in known_so_far]
                    for dataset, of in choices.absent.items()
                    if dataset in names
                }
                recoded = [name for name in choices.recoded if name in known_so_far]
                settled = {"absent": absent, "recoded": recoded}
            assessment = attack(
                datasets[:years], model, known_so_far, release=release[:years], **options, **settled
            )
            assessments.append(add_figures(assessment, {"datasets": years}))
            step.advance()
    subjects = datasets[0].subjects
    return Growth(tuple(assessments), subjects, options["on"], _list_names(datasets))


def _list_names(datasets: Iterable[Dataset]) -> tuple[str, ...]:
    return tuple(dataset.name for dataset in datasets)


def _count_found(linked: LinkedDatasets, classes: Partition, weights: Floats) -> float:
    """How many are found by somebody who does not know who took part in the focal year."""
    return count_found_in_population(classes, weights[linked.records])


def _build_secrets(
    of_record: npt.NDArray[Any], number: int, secret: AttributeCodes | None, weights: Any
) -> Secrets:
    """Secrets among classes of their own, so that what was worked out of these is let go."""
    return Secrets(Partition(of_record, number), secret, weights)
