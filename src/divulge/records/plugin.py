"""The attacks `records`, `longitudinal`, `linkage` and `risk` of a release."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from pydantic import BaseModel

from divulge.assessment import Adversary, Assessment, AttackDefaults, Sentence
from divulge.data import Dataset
from divulge.data.dictionary import as_names, find_name_problems
from divulge.records.attack_arguments import problems_with_model
from divulge.records.attack_models import attack
from divulge.records.inference.gains import problems_with_gain
from divulge.records.linkage.comparison import problems_with_comparisons
from divulge.records.linkage.linkage import link
from divulge.records.linkage.request import problems_with_agreement
from divulge.records.longitudinal import longitudinal
from divulge.records.models.attribute_gaps import (
    apply_choices,
    find_attribute_gaps,
    qualify_assessment,
)
from divulge.records.risk.attack import RiskAttack, RiskSettings, list_linking_columns
from divulge.records.risk.population.recoded_population import recode_population
from divulge.records.settings import (
    LinkageSettings,
    LongitudinalSettings,
    RecordsSettings,
    collect_names,
    find_choices,
    is_membership,
    list_renamed,
    problems_with_dataset_count,
    problems_with_names,
    problems_with_pairs,
    resolve_model,
    split_pairs,
)
from divulge.work import Problem


class _CountsPeople(AttackDefaults):
    """Attacks that count people where somebody has several records, or refuse to be judged."""

    def counts_people(self, settings: Any, person: str) -> bool:  # noqa: ARG002
        """What counts records alone says so itself."""
        return True


class RecordsAttack(_CountsPeople):
    """Datasets, attacked by somebody who knows some attributes of the people in them.

    A membership attack takes the population last. With `protected`, the originals come first, and
    after them as many protected versions.
    """

    Settings: ClassVar[type[BaseModel]] = RecordsSettings

    def problems(
        self, settings: RecordsSettings, names: Mapping[str, Sequence[str]]
    ) -> Iterator[Problem]:
        """A model that exists, as many datasets as it takes, attributes that exist."""
        yield from problems_with_model(settings.model)
        yield from problems_with_pairs(settings, names)
        names = {name: of for name, of in names.items() if name not in settings.pair_datasets}
        model = resolve_model(settings)
        yield from problems_with_dataset_count(model, len(names), settings.protected)
        yield from problems_with_gain(settings.gain)
        if names and settings.by is not None:
            dataset, attributes = list(names.items())[-1 if model[1:2] == "M" else 0]
            yield from find_name_problems("by", [settings.by], attributes, f'dataset "{dataset}"')
        if model[1:2] == "A" and settings.seeks is None:
            yield Problem("seeks", f"is missing; {model} infers an attribute.")
        if model[:1] == "I" and settings.target is None:
            yield Problem("target", f"is missing; {model} is after one person.")
        if model[2:] != "L" and find_choices(settings):
            yield Problem("", f"rename, absent and recoded are for several years, not for {model}.")
        yield from problems_with_names(settings, names)

    def run(self, settings: RecordsSettings, datasets: Sequence[Dataset]) -> Assessment:
        """Run the model."""
        datasets, pairs = split_pairs(settings, datasets)
        population = datasets[-1] if is_membership(settings) else None
        originals = list(datasets if population is None else datasets[:-1])
        release = None
        if settings.protected:
            originals, release = originals[: len(originals) // 2], originals[len(originals) // 2 :]
        options = settings.model_dump(exclude={"model", "protected", "by"}) | pairs
        assessment = attack(
            originals, settings.model, population=population, release=release, **options
        )
        return _add_group_chart(assessment, settings.by)

    def companion_datasets(self, settings: RecordsSettings) -> Sequence[str]:
        """The pairs that say what is known of single records."""
        return settings.pair_datasets

    def known_of_single(
        self,
        settings: RecordsSettings,  # noqa: ARG002
        companions: Sequence[Dataset],
    ) -> Sequence[str]:
        """The attributes that pairs name."""
        named = (each.to_arrow().column(1).to_pylist() for each in companions)
        return list(dict.fromkeys(str(name) for names in named for name in names))

    def same_records(self, settings: RecordsSettings, datasets: Sequence[str]) -> Mapping[str, str]:
        """Originals of protected versions, unless an id tells whose records are whose."""
        if not settings.protected or settings.on is not None:
            return {}
        datasets = [name for name in datasets if name not in settings.pair_datasets]
        releases = datasets[:-1] if is_membership(settings) else datasets
        half = len(releases) // 2
        return dict(zip(releases[:half], releases[half:], strict=True))

    def undisclosed(self, settings: RecordsSettings, datasets: Sequence[str]) -> Sequence[str]:
        """Originals beside their protected versions, the population, and pairs."""
        pairs = [name for name in datasets if name in settings.pair_datasets]
        datasets = [name for name in datasets if name not in settings.pair_datasets]
        originals = datasets[: len(datasets) // 2] if settings.protected else ()
        return [*originals, *(datasets[-1:] if is_membership(settings) else ()), *pairs]

    def needed_columns(self, settings: RecordsSettings) -> Collection[str]:
        """Attributes that are known or sought, the id that links datasets, the prior."""
        people = settings.target if isinstance(settings.target, list) else [settings.target]
        values = [name for person in people for name in person or ()]
        chosen = collect_names(settings, "knows", "seeks", "prior", "on", "by")
        return chosen | list_renamed(settings) | set(values)

    def linking_columns(self, settings: RecordsSettings) -> Collection[str]:
        """The id that links years, if there are several."""
        return collect_names(settings, "on") if resolve_model(settings)[2:] == "L" else ()

    def risk_per_record(self, settings: RecordsSettings) -> bool:
        """Of everybody, or of who fits the one person; of membership it is of the population."""
        return not is_membership(settings)

    def run_with_original(
        self,
        settings: RecordsSettings,
        original: Dataset,
        released: Dataset,
        companions: Sequence[Dataset] = (),
    ) -> Assessment | None:
        """Of everybody in one dataset, who they are or what they hide."""
        model = resolve_model(settings)
        if model not in ("CRS", "CAS"):
            return None
        _, pairs = split_pairs(settings, [original, *companions])
        return attack(
            original,
            model,
            settings.knows,
            settings.seeks,
            release=released,
            records_known=settings.records_known,
            on=settings.on if pairs else None,
            knows_also=pairs.get("knows_also"),
            knows_only=pairs.get("knows_only"),
        )

    def run_with_originals(
        self, settings: RecordsSettings, originals: Sequence[Dataset], released: Sequence[Dataset]
    ) -> Assessment | None:
        """Of everybody in several years, who they are or what they hide."""
        if settings.protected or resolve_model(settings) not in ("CRL", "CAL"):
            return None
        options = settings.model_dump(exclude={"protected", "by"})
        return attack(originals, release=released, **options)

    def run_on_protected(
        self, settings: RecordsSettings, datasets: Sequence[Dataset], originals: Sequence[Dataset]
    ) -> Assessment | None:
        """Of membership: the population is read as coarse, and with as much hidden, as the release.

        Whether years code an attribute alike is seen in the originals.
        """
        if settings.protected or settings.pair_datasets:
            return None
        if not is_membership(settings):
            return _run_on_protected_years(self, settings, datasets, originals)
        *released, population = datasets
        options = settings.model_dump(exclude={"model", "protected", "by"})
        assessment = attack(
            originals[:-1], settings.model, population=population, release=released, **options
        )
        return _add_group_chart(assessment, settings.by)

    def advice(self, adversary: Adversary) -> Sentence:
        """Of membership: a smaller sample, or coarser attributes."""
        settings: RecordsSettings = adversary.settings
        if not is_membership(settings):
            return super().advice(adversary)
        known = as_names(settings.knows or str(Sentence("divulge.protection", "advice.known")))
        return Sentence("divulge.protection", "advice.membership", {"knows": known})


class LongitudinalAttack(_CountsPeople):
    """Datasets of several years; the assessment is that of all, its chart shows the growth."""

    Settings: ClassVar[type[BaseModel]] = LongitudinalSettings

    def problems(
        self, settings: LongitudinalSettings, names: Mapping[str, Sequence[str]]
    ) -> Iterator[Problem]:
        """Two datasets or more, all with the id."""
        yield from problems_with_gain(settings.gain)
        if len(names) < 2:
            yield Problem("dataset", "name two or more, the focal one first.")
        if settings.protected and len(names) % 2:
            yield Problem("dataset", "name the originals, then as many protected versions.")
        for dataset, attributes in names.items():
            yield from find_name_problems("on", [settings.on], attributes, f'dataset "{dataset}"')
        yield from problems_with_names(settings, names)

    def run(self, settings: LongitudinalSettings, datasets: Sequence[Dataset]) -> Assessment:
        """Link the years and assess the last prefix."""
        originals, release = list(datasets), None
        if settings.protected:
            originals, release = originals[: len(originals) // 2], originals[len(originals) // 2 :]
        options = settings.model_dump(exclude={"protected"})
        growth = longitudinal(originals, release=release, **options)
        return replace(growth.assessments[-1], attack="longitudinal", _chart=growth.chart)

    def run_with_originals(
        self,
        settings: LongitudinalSettings,
        originals: Sequence[Dataset],
        released: Sequence[Dataset],
    ) -> Assessment | None:
        """The years as they were known, looked for in what is released of them."""
        if settings.protected:
            return None
        options = settings.model_dump(exclude={"protected"})
        return longitudinal(originals, release=released, **options).assessments[-1]

    def run_on_protected(
        self,
        settings: LongitudinalSettings,
        datasets: Sequence[Dataset],
        originals: Sequence[Dataset],
    ) -> Assessment | None:
        """Whether years code an attribute alike is seen in the originals."""
        if settings.protected:
            return None
        return _run_on_protected_years(self, settings, datasets, originals)

    def undisclosed(self, settings: LongitudinalSettings, datasets: Sequence[str]) -> Sequence[str]:
        """Originals beside their protected versions; all years go out."""
        return datasets[: len(datasets) // 2] if settings.protected else ()

    def needed_columns(self, settings: LongitudinalSettings) -> Collection[str]:
        """The id, what is known and sought, and how likely."""
        chosen = collect_names(settings, "on", "knows", "seeks", "prior")
        return chosen | list_renamed(settings)

    def linking_columns(self, settings: LongitudinalSettings) -> Collection[str]:
        """The id that links the years."""
        return (settings.on,)

    def advice(self, adversary: Adversary) -> Sentence:
        """The datasets without the id that links them."""
        values = {"on": adversary.settings.on}
        return Sentence("divulge.protection", "advice.longitudinal", values)


class LinkageAttack(_CountsPeople):
    """A release and a register of people: the release first."""

    Settings: ClassVar[type[BaseModel]] = LinkageSettings

    def problems(
        self, settings: LinkageSettings, names: Mapping[str, Sequence[str]]
    ) -> Iterator[Problem]:
        """Two datasets that have all that is compared."""
        if len(names) != 2:
            yield Problem("dataset", "name two: the release, then the register.")
        yield from problems_with_comparisons(settings.compare)
        yield from problems_with_agreement(settings.agreement, settings.compare, settings.truth)
        if names and settings.by is not None:
            dataset, attributes = next(iter(names.items()))
            subject = f'dataset "{dataset}"'
            yield from find_name_problems("by", [settings.by], attributes, subject)
        for dataset, attributes in names.items():
            subject = f'dataset "{dataset}"'
            yield from find_name_problems("block", as_names(settings.block), attributes, subject)
            yield from find_name_problems("compare", settings.compare, attributes, subject)
            if settings.truth is not None:
                yield from find_name_problems("truth", [settings.truth], attributes, subject)

    def run(self, settings: LinkageSettings, datasets: Sequence[Dataset]) -> Assessment:
        """Link the release to the register."""
        release, register = datasets
        assessment = link(release, register, **settings.model_dump(exclude={"by"}))
        return _add_group_chart(assessment, settings.by)

    def needed_columns(self, settings: LinkageSettings) -> Collection[str]:
        """What is compared, and the id by which links are judged."""
        return collect_names(settings, "block", "truth", "by") | set(settings.compare)

    def advice(self, adversary: Adversary) -> Sentence:
        """What records are linked through, made coarser."""
        values = {"block": as_names(adversary.settings.block)}
        return Sentence("divulge.protection", "advice.linkage", values)


class RecordRiskAttack(RiskAttack, _CountsPeople):
    """Any measure of the risk of records; the second dataset does not go out."""

    def same_records(self, settings: RiskSettings, datasets: Sequence[str]) -> Mapping[str, str]:
        """The original, of a measure that takes one."""
        if "original" not in settings.spec.names_datasets:
            return {}
        companions = self.companion_datasets(settings)
        return dict.fromkeys((n for n in datasets[1:] if n not in companions), datasets[0])

    def needed_columns(self, settings: RiskSettings) -> Collection[str]:
        """What is known, what classes give away, and what links records."""
        return collect_names(settings, "knows", "seeks") | set(list_linking_columns(settings))

    def companion_datasets(self, settings: RiskSettings) -> Sequence[str]:
        """The dataset of pairs that links records."""
        return () if settings.pairs_dataset is None else (settings.pairs_dataset,)

    def risk_per_record(self, settings: RiskSettings) -> bool:  # noqa: ARG002
        """That is what it measures."""
        return True

    def run_with_original(
        self,
        settings: RiskSettings,
        original: Dataset,
        released: Dataset,
        companions: Sequence[Dataset] = (),
    ) -> Assessment | None:
        """Where the measure weighs what is hidden by what it was."""
        if "original" not in settings.spec.options:
            return None
        return self.run(settings, [released, original, *companions])

    def run_on_protected(
        self, settings: RiskSettings, datasets: Sequence[Dataset], originals: Sequence[Dataset]
    ) -> Assessment | None:
        """With a list of the population, which is read as coarse as the release."""
        others = len(datasets) - len(self.companion_datasets(settings))
        if others != 2 or "population" not in settings.spec.names_datasets:
            return None
        population = recode_population(datasets[1], originals[0], datasets[0])
        return self.run(settings, [datasets[0], population, *datasets[2:]])

    def advice(self, adversary: Adversary) -> Sentence:
        """A limit on the measure itself, which protection can lower."""
        values = {"dataset": adversary.datasets[0], "measure": adversary.settings.measure}
        return Sentence("divulge.protection", "advice.risk", values)


def draft_adversary(dataset: str, knows: Sequence[str]) -> dict[str, Any]:
    """The entry in a release file of somebody who knows some attributes of everybody.

    >>> draft_adversary("pupils", ["age"])["model"]
    'CRS'
    """
    return {"attack": "records", "model": "CRS", "dataset": dataset, "knows": list(knows)}


def draft_years_adversary(datasets: Sequence[str], on: str, knows: Sequence[str]) -> dict[str, Any]:
    """The entry in a release file of somebody who follows everybody through several datasets.

    >>> draft_years_adversary(["y1", "y2"], "id", ["age"])["attack"]
    'longitudinal'
    """
    return {
        "attack": "longitudinal",
        "dataset": list(datasets),
        "on": on,
        "knows": list(knows),
    }


def _run_on_protected_years(
    attack: RecordsAttack | LongitudinalAttack,
    settings: Any,
    datasets: Sequence[Dataset],
    originals: Sequence[Dataset],
) -> Assessment | None:
    """Several years, of which protection has hidden values or made them coarser in some."""
    if len(datasets) < 2:
        return None
    choices = find_choices(settings)
    years = apply_choices(originals, choices)
    known = years[0].quasi_identifiers if settings.knows is None else as_names(settings.knows)
    gaps = [gap for gap in find_attribute_gaps(years, known, choices) if gap.is_recoded]
    assessment = attack.run(settings.model_copy(update={"recoded": known}), datasets)
    return qualify_assessment(assessment, [], [gap.sentence for gap in gaps])


def _add_group_chart(assessment: Assessment, group: str | None) -> Assessment:
    """The same assessment, with a chart of who bears the risk if that was asked for."""
    return (
        assessment
        if group is None
        else replace(assessment, _chart=lambda: assessment.by(group).chart())
    )
