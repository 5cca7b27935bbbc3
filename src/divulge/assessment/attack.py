"""Protocols of attacks and measures: what a package must implement, and safe defaults.

Who writes an attack must say three things (`Attack`): what its adversaries may be told, what is
wrong with that, and what the attack finds. A release asks more, such as which of its datasets the
adversary holds and the public does not; `AttackDefaults` has an answer to each of these questions
that is safe for an attack that does not say.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, runtime_checkable

from divulge.assessment.sentence import Sentence
from divulge.data.dictionary import as_names

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt
    from pydantic import BaseModel

    from divulge.assessment.assessment import Assessment
    from divulge.assessment.limit import Limit
    from divulge.data import Dataset
    from divulge.work import Problem


@dataclass(frozen=True)
class Adversary:
    """An adversary of a release: name, attack, the datasets they see, and the attack's settings."""

    name: str
    attack: str
    datasets: tuple[str, ...]
    settings: Any


@dataclass(frozen=True)
class LimitedAdversary:
    """An adversary from whom data are to be protected, and the limits that hold for them."""

    name: str
    settings: Any
    limits: Sequence[Limit]


@runtime_checkable
class Attack(Protocol):
    """One kind of attack: what its adversaries may be told, and how it is run."""

    Settings: ClassVar[type[BaseModel]]
    """What an adversary's entry in a release may hold, beside name, attack and dataset."""

    @abstractmethod
    def problems(self, settings: Any, names: Mapping[str, Sequence[str]]) -> Iterator[Problem]:
        """What is wrong with the settings, given the attributes of the adversary's datasets."""

    @abstractmethod
    def run(self, settings: Any, datasets: Sequence[Dataset]) -> Assessment:
        """Run the attack on the adversary's datasets."""


class ProtectedPart(Protocol):
    """A dataset that was changed as a whole, as a release needs to know it."""

    @property
    def original(self) -> Dataset:
        """The dataset as it was."""

    @property
    def dataset(self) -> Dataset:
        """The dataset as it is now."""

    @property
    def kept(self) -> npt.NDArray[np.int64]:
        """Which records of the original are still there, by number, in their order."""

    @property
    def sentences(self) -> Sequence[Sentence]:
        """What was done."""

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values, for `result.json`."""


@dataclass(frozen=True, kw_only=True)
class PublishedTable:
    """A table that is published instead of the records it is made of."""

    subject: Hashable
    """What the table is of: two of one dataset with equal subjects are the same table."""
    suppressed: npt.NDArray[np.bool_]
    """Which of its cells are withheld."""
    write: Callable[[Path, bool], None]
    """Writes it to a file; with true, texts that a spreadsheet would run are guarded."""
    content: Any = None
    """The table itself, for who looks at it in Python."""
    files: int = 1
    """How many files it becomes: the one that is asked for, and beside it name-2, name-3."""
    is_crosstab: bool = True
    """Whether withheld cells are marked *; else each cell has a row that says so."""


@dataclass(frozen=True)
class PublicRule:
    """A rule of an attack's settings as everybody may be told it: by its name.

    With its parameters only where the owner of the data chooses to tell them.
    """

    name: Sentence
    with_parameters: Sentence


@dataclass(frozen=True, kw_only=True)
class ProtectionPlan:
    """What a release says of how its data may be changed, and what it lends an attack for that."""

    settings: Any
    """The table `[protection]` of the release: methods, seed and so on."""
    has_failing: Callable[[Sequence[Limit]], bool]
    """Whether some of the limits, each on a named adversary, do not hold."""
    protect_history: Callable[..., Any]
    """`divulge.protection.protect_history`, which attacks lie below and cannot import."""


class AttackDefaults(Attack):
    """What a release asks of an attack beyond running it, answered safely.

    An attack inherits from this class and overrides what it knows better, or has methods of these
    names; whatever it lacks is answered from here. The rule behind the answers: what is not known
    to be released is not released, and what is not known to be safe is attacked again.
    """

    def undisclosed(self, settings: Any, datasets: Sequence[str]) -> Sequence[str]:  # noqa: ARG002
        """Which datasets the adversary or the owner holds and the public never sees.

        Unless an attack says otherwise, all but the first: a register, a population, an original.
        """
        return datasets[1:]

    def same_records(self, settings: Any, datasets: Sequence[str]) -> Mapping[str, str]:  # noqa: ARG002
        """Which undisclosed datasets hold the records of which other, one for one in their order.

        Where protection removes records of the other, theirs are left out too.
        """
        return {}

    def companion_datasets(self, settings: Any) -> Sequence[str]:  # noqa: ARG002
        """Datasets of the release that the settings name and the attack needs beside the others.

        They are handed to `run` after those that the adversary sees, and never go out.
        """
        return ()

    def known_of_single(self, settings: Any, companions: Sequence[Dataset]) -> Sequence[str]:  # noqa: ARG002
        """What the companion datasets say is known of single records beside `known_columns`.

        It too is changed to protect from the adversary.
        """
        return ()

    def undisclosed_columns(
        self,
        settings: Any,  # noqa: ARG002
        datasets: Sequence[str],  # noqa: ARG002
    ) -> Mapping[str, Collection[str]]:
        """By dataset that goes out, the columns that do not, such as its owner's truth."""
        return {}

    def needed_columns(self, settings: Any) -> Collection[str]:
        """Columns without which the attack cannot be run on what goes out.

        An id among them is at hand when the attack is run, whether or not it is published. Unless
        an attack says otherwise, what its settings name.
        """
        return set(_collect_texts(settings.model_dump().values()))

    def linking_columns(self, settings: Any) -> Collection[str]:  # noqa: ARG002
        """Ids of a panel or a history, without which its records would not belong together.

        They go out under keyed pseudonyms; no other id does, unless its owner names it.
        """
        return ()

    def identifying_columns(self, settings: Any) -> Collection[str]:  # noqa: ARG002
        """Columns that name people outright by what the attack takes them for, whatever role."""
        return ()

    def known_columns(self, settings: Any, dataset: Dataset) -> Sequence[str]:
        """What the adversary knows of everybody: what is changed to protect from them."""
        knows = getattr(settings, "knows", None)
        return dataset.quasi_identifiers if knows is None else as_names(knows)

    def risk_per_record(self, settings: Any) -> bool:  # noqa: ARG002
        """Whether the risk of the assessment is that of each record of the first dataset.

        Then recoding and suppression can lower it. They run the attack again after each change.
        """
        return False

    def counts_people(self, settings: Any, person: str) -> bool:  # noqa: ARG002
        """Whether people are counted, where somebody has several records (by an id, `person`).

        Or whether the attack itself refuses what it cannot judge. Else its figures are of records,
        and the release is not judged.
        """
        return False

    def adds_amounts(self) -> bool:
        """Whether amounts are added up: then a missing amount is missing, whatever its reason."""
        return False

    def publishes_table(self) -> bool:
        """Whether a table of totals is published, made of the original records."""
        return False

    def publish_table(self, settings: Any, dataset: Dataset) -> PublishedTable:
        """The table that the adversary sees, as it is judged."""
        raise NotImplementedError(f"{type(self).__name__} publishes no table")

    def see_tables(self, settings: Any, tables: Sequence[Any]) -> Any:  # noqa: ARG002
        """The settings of an adversary who also reads other tables of the same records.

        `tables` are the settings of all whose tables go out, those of the adversary among them.
        """
        return settings

    def has_same_rules(self, settings: Any, other: Any) -> bool:  # noqa: ARG002
        """Whether two tables of the same records can be protected as one, so that both must be."""
        return False

    def tabulated_columns(self, settings: Any) -> Collection[str]:
        """What the cells of the table are made of; who has these of all records has the table."""
        return self.needed_columns(settings)

    def tabulated_records(
        self,
        settings: Any,  # noqa: ARG002
        dataset: Dataset,
        most: int,  # noqa: ARG002
    ) -> Dataset | None:
        """The records that the table counts; None if there are more than `most` of them."""
        return dataset

    def reveal_table(self, settings: Any) -> Any:
        """Settings of somebody from whom no cell of the table is withheld."""
        return settings

    def describe_details(self) -> Mapping[str, Any] | None:
        """The JSON schema of the plain values that its assessments tell beside their figures."""
        return None

    def seed_draws(self, settings: Any, derive_seed: Callable[[str], int]) -> Any:  # noqa: ARG002
        """The settings with a seed for what is drawn at random, where none is given.

        `derive_seed` gives a seed for a subject; the same one in every protection of a release.
        """
        return settings

    def protect_table(self, settings: Any) -> Any:
        """Settings by which the table is protected, where a limit on its adversary fails."""
        return settings

    def protect(
        self,
        adversaries: Sequence[LimitedAdversary],  # noqa: ARG002
        dataset: Dataset,  # noqa: ARG002
        plan: ProtectionPlan,  # noqa: ARG002
    ) -> Iterable[ProtectedPart] | None:
        """Change a dataset by methods of the attack's own, one part after the other.

        Args:
            adversaries: all adversaries of this attack who see the dataset first, and are limited.
            dataset: the dataset as recoding and suppression have left it.
            plan: how it may be changed.

        Returns:
            What was done, each part on the dataset of the one before; None if there is no method.
        """
        return None

    def public_rules(self, settings: Any) -> Sequence[PublicRule]:  # noqa: ARG002
        """Rules in the settings that everybody may be told, as those of sensitive cells.

        None where the attack assumes that nobody outside knows them.
        """
        return ()

    def runs_after_protection(self) -> bool:
        """Whether the attack must be run again on protected data.

        Only an attack whose result no change of the data can alter may say that it need not: then
        what was found before stands.
        """
        return True

    def run_with_original(
        self,
        settings: Any,  # noqa: ARG002
        original: Dataset,  # noqa: ARG002
        released: Dataset,  # noqa: ARG002
        companions: Sequence[Dataset] = (),  # noqa: ARG002
    ) -> Assessment | None:
        """The attack by somebody who knows the original values, on the same records protected.

        None if the attack makes no difference between the two. `companions` are the datasets that
        `companion_datasets` names.
        """
        return None

    def run_with_originals(
        self,
        settings: Any,  # noqa: ARG002
        originals: Sequence[Dataset],  # noqa: ARG002
        released: Sequence[Dataset],  # noqa: ARG002
    ) -> Assessment | None:
        """The same of an attack on several datasets, all of which may have been protected."""
        return None

    def run_on_protected(
        self,
        settings: Any,  # noqa: ARG002
        datasets: Sequence[Dataset],  # noqa: ARG002
        originals: Sequence[Dataset],  # noqa: ARG002
    ) -> Assessment | None:
        """The attack on protected data by somebody who reads what they have beside in the same way.

        Args:
            settings: what the adversary was told.
            datasets: those of the adversary, as they go out or as they are held.
            originals: of each dataset the same records as they were, in the same order; the dataset
                itself where nothing was changed.

        Returns:
            None if the attack reads protected data as it reads others: then it is run as ever.
        """
        return None

    def advice(self, adversary: Adversary) -> Sentence:
        """Which change of the release would lower the attack where no method does."""
        values = {"adversary": adversary.name, "attack": adversary.attack}
        return Sentence("divulge.assessment", "advice.other", values)


@dataclass(frozen=True)
class Measurement:
    """A measure of one dataset: its value, and what it means."""

    value: float
    scale: Literal["share", "count", "factor"]
    sentence: Sentence | None = None
    notes: tuple[Sentence, ...] = ()
    """What a reader of the figure should know, such as that counting flatters."""


@runtime_checkable
class Measure(Protocol):
    """One measure of a dataset that a limit may name.

    A measure that also looks at another dataset of the release (a population, the original) says
    so by an attribute `names_datasets`: the options of a limit that name one. `of` finds the
    dataset itself in the limit's options. An attribute `title`, a sentence, is what it is called
    where people read it. A true attribute `counts_people` says that people are counted, and not
    records, where somebody has several. A method `record_risk(dataset, limit)` gives the risk of
    each record, from 0 to 1: then protection can lower it, and asks anew after each change.
    """

    def problems(self, limit: Limit) -> Iterator[Problem]:
        """What is wrong with a limit of this measure."""

    def of(self, dataset: Dataset, limit: Limit) -> Measurement:
        """Measure a dataset."""


def _collect_texts(settings: Any) -> Iterator[str]:
    """All texts in the settings of an adversary: the columns that they name are among them."""
    if isinstance(settings, str):
        yield settings
    elif isinstance(settings, Mapping):
        for key, value in settings.items():
            yield from _collect_texts(key)
            yield from _collect_texts(value)
    elif isinstance(settings, Iterable):
        for each in settings:
            yield from _collect_texts(each)
