"""Datasets of several years, linked by a persistent id: what each further year adds.

The focal dataset comes first; the others are joined to it by the id, and who is absent in a year is
absent: that is a value. Each year refines the classes of the year before, so all prefixes of the
years come out of one pass (Alvim et al. 2022, Sec. 4.2 and 5.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from divulge import work
from divulge.assessment import Assessment, Chart
from divulge.data import Column, Dataset
from divulge.data.dictionary import as_names
from divulge.engines import IntArray
from divulge.records import charts
from divulge.records.collective import collective
from divulge.records.named_gain import gain_for
from divulge.records.partition import Classes, Knowledge
from divulge.records.room import require_room
from divulge.records.secrets import Secrets
from divulge.records.weights import weights_of
from divulge.work import InvalidInput, Problem, Problems

Duplicates: TypeAlias = Literal["error", "first", "random"]
ABSENT = -1


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


@dataclass(frozen=True)
class Linked:
    """Years joined to the focal one: its records (one an id), and each year's record of each."""

    focal: Dataset
    records: npt.NDArray[Any]
    years: tuple[tuple[Dataset, npt.NDArray[Any]], ...]
    dropped: int

    def knowledge(self, year: int, names: Sequence[str]) -> list[Knowledge]:
        """What is known of everybody from one year; absence is a value."""
        return list(self.known_one_by_one(year, names))

    def known_one_by_one(self, year: int, names: Sequence[str]) -> Iterator[Knowledge]:
        """The same, one attribute after the other, so that they need not all be in memory."""
        dataset, places = ((self.focal, self.records), *self.years)[year]
        return (_known(dataset.columns[name], places) for name in names if name in dataset.columns)

    def column(self, name: str) -> Knowledge:
        """An attribute of the focal records."""
        column = self.focal.columns[name]
        return Knowledge(column.codes[self.records], max(1, column.cardinality))

    @property
    def dataset(self) -> Dataset:
        """The focal dataset with one record an id."""
        if len(self.records) == self.focal.rows:
            return self.focal
        columns = {
            n: replace(c, codes=c.codes[self.records]) for n, c in self.focal.columns.items()
        }
        return replace(self.focal, columns=columns)


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
        prior: how likely each focal record is the one she is after, as in `attack`.
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
    from divulge.records.models import attack

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


def refined(linked: Linked, known: Sequence[str]) -> Iterator[Classes]:
    """The classes that each further year leaves."""
    classes = Classes.all_alike(len(linked.records))
    for year in range(len(linked.years) + 1):
        classes = classes.refined(linked.known_one_by_one(year, known))
        yield classes


def joint_secret(linked: Linked, sought: Sequence[str]) -> Knowledge | None:
    """One secret out of one or several attributes of the focal records."""
    if not sought:
        return None
    if len(sought) == 1:
        return linked.column(sought[0])
    together = Classes.all_alike(len(linked.records)).refined([linked.column(n) for n in sought])
    return Knowledge(together.of_record, together.number)


def secret_values(linked: Linked, sought: Sequence[str]) -> int | list[Any]:
    """The values of a secret in the order of their codes; how many, if they have no name."""
    if len(sought) == 1:
        column = linked.focal.columns[sought[0]]
        return [column.value(code) for code in range(column.cardinality)]
    secret = joint_secret(linked, sought)
    return len(linked.records) if secret is None else secret.cardinality


def problems_with(
    datasets: Sequence[Dataset],
    on: str,
    knows: str | Iterable[str] | None,
    seeks: str | Iterable[str] | None,
) -> tuple[list[str], list[str]]:
    """What is known and sought, checked against all datasets."""
    focal = datasets[0]
    known = focal.quasi_identifiers if knows is None else as_names(knows)
    sought = [] if seeks is None else as_names(seeks)
    everywhere = list(dict.fromkeys(name for dataset in datasets for name in dataset.names))
    problems = Problems("attack")
    for name in known:
        if name not in everywhere:
            problems.add("knows", f'no dataset has an attribute "{name}".', name, everywhere)
        if name in sought:
            problems.add("seeks", f'"{name}" is known already; take it out of knows.')
        if name == on:
            problems.add("knows", f'"{name}" is the id that links the datasets.')
    for name in sought:
        if name not in focal.names:
            message = f'the focal dataset "{focal.name}" has no attribute "{name}".'
            problems.add("seeks", message, name, focal.names)
    if not known:
        problems.add("knows", "names no attribute, and no quasi-identifier is declared.")
    problems.raise_any()
    return known, sought


def link_years(
    datasets: Sequence[Dataset], on: str | None, duplicates: Duplicates, seed: int
) -> Linked:
    """Join every dataset to the first by the id, as a left join."""
    problems = Problems("attack")
    if on is None:
        problems.add("on", "is missing; name the id that all datasets have.")
    if duplicates not in get_args(Duplicates):
        problems.add("duplicates", f'"{duplicates}" is not a policy.', duplicates,
                     get_args(Duplicates))  # fmt: skip
    for place, dataset in enumerate(datasets):
        if any(dataset is other for other in datasets[:place]):
            problems.add("datasets", f'"{dataset.name}" (number {place + 1}) is given twice.')
        if on is not None:
            _problems_with_id(problems, dataset, on, datasets[0])
    problems.raise_any()
    assert on is not None  # noqa: S101  # else the problem was raised
    dropped = sum(_repeated(problems, dataset, on, duplicates) for dataset in datasets)
    problems.raise_any()
    # One year after the other: what is needed to join a year is let go before the next.
    # Each has its own luck, so that a dataset keeps the same records whatever it is joined to.
    records = np.sort(_one_an_id(datasets[0], on, duplicates, np.random.default_rng([seed, 0])))
    ids = datasets[0].columns[on]
    years: list[tuple[Dataset, npt.NDArray[Any]]] = []
    for year, dataset in enumerate(datasets[1:], start=1):
        random = np.random.default_rng([seed, year])
        rows = np.append(_one_an_id(dataset, on, duplicates, random), np.int32(ABSENT))
        rows = rows[_places(ids, dataset.columns[on])]  # the place -1 is the last one
        years.append((dataset, rows[ids.codes[records]]))
    return Linked(datasets[0], records, tuple(years), dropped)


def _problems_with_id(problems: Problems, dataset: Dataset, on: str, focal: Dataset) -> None:
    if on not in dataset.names:
        message = f'dataset "{dataset.name}" has no attribute "{on}".'
        problems.add("on", message, on, dataset.names)
        return
    column = dataset.columns[on]
    if column.has_missing:
        count = int(np.count_nonzero(column.codes == column.missing_code))
        problems.add("on", f'"{on}" is missing in {count:,} records of dataset "{dataset.name}".')
    if on in focal.names and column.values.type != focal.columns[on].values.type:
        problems.add(
            "on",
            f'"{on}" is {column.values.type} in dataset "{dataset.name}" and '
            f'{focal.columns[on].values.type} in "{focal.name}"; ids must be of one type.',
        )


def _repeated(problems: Problems, dataset: Dataset, on: str, duplicates: Duplicates) -> int:
    """How many records have an id that another record has: they are dropped, or an error."""
    more = dataset.rows - len(dataset.columns[on].values)
    if more and duplicates == "error":
        problems.add(
            "on",
            f'{more:,} records of dataset "{dataset.name}" have an id that another record has; '
            'say duplicates="first" or "random".',
        )
    return more


def _one_an_id(
    dataset: Dataset, on: str, duplicates: Duplicates, random: Any
) -> npt.NDArray[np.int32]:
    """The record that is kept of each id, in the order of the ids."""
    ids = dataset.columns[on]
    order = np.arange(dataset.rows - 1, -1, -1, dtype=np.int32)
    if duplicates == "random" and dataset.rows > len(ids.values):
        random.shuffle(order)
    kept = np.zeros(len(ids.values), np.int32)
    kept[ids.codes[order]] = order  # the last one written stays: the first record, or any
    return kept


def _places(focal: Column, other: Column) -> IntArray:
    """For each id of the focal dataset, its place among the other's ids; -1 if it is absent."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if len(other.values) == 0:
        return np.full(len(focal.values), ABSENT, np.int64)
    if pa.types.is_integer(focal.values.type):
        # Both lists are sorted: a search walks through memory in order.
        wanted, there = focal.values.to_numpy(), other.values.to_numpy()
        places = np.searchsorted(there, wanted)
        places[places == len(there)] = 0
        return np.where(there[places] == wanted, places, ABSENT)
    found = pc.index_in(focal.values, value_set=other.values)
    return np.asarray(found.fill_null(ABSENT).to_numpy(zero_copy_only=False), np.int64)


def _known(column: Column, places: npt.NDArray[Any]) -> Knowledge:
    absent = max(1, column.cardinality)
    if len(places) == 0 or places.min() >= 0:
        return Knowledge(column.codes[places], absent)
    dtype = np.min_scalar_type(absent)
    codes = np.append(column.codes.astype(dtype), np.array([absent], dtype))
    return Knowledge(codes[places], absent + 1)  # the place -1 is the last one


def described(assessment: Assessment, more: Mapping[str, float]) -> Assessment:
    """The same assessment with more figures."""
    return replace(assessment, figures={**assessment.figures, **more})
