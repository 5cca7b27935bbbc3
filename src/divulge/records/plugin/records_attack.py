"""The attack `records` of a release: who somebody is, what they hide, whether they are in it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from pydantic import BaseModel

from divulge.assessment import Adversary, Assessment, Sentence
from divulge.data import Dataset
from divulge.data.dictionary import as_names, find_name_problems
from divulge.records.attack_arguments import problems_with_model
from divulge.records.attack_models import attack
from divulge.records.inference.gains import problems_with_gain
from divulge.records.plugin.shared_answers import (
    CountsPeople,
    add_group_chart,
    run_on_protected_years,
)
from divulge.records.settings import (
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


class RecordsAttack(CountsPeople):
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
        return add_group_chart(assessment, settings.by)

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
            return run_on_protected_years(self, settings, datasets, originals)
        *released, population = datasets
        options = settings.model_dump(exclude={"model", "protected", "by"})
        assessment = attack(
            originals[:-1], settings.model, population=population, release=released, **options
        )
        return add_group_chart(assessment, settings.by)

    def advice(self, adversary: Adversary) -> Sentence:
        """Of membership: a smaller sample, or coarser attributes."""
        settings: RecordsSettings = adversary.settings
        if not is_membership(settings):
            return super().advice(adversary)
        known = as_names(settings.knows or str(Sentence("divulge.protection", "advice.known")))
        return Sentence("divulge.protection", "advice.membership", {"knows": known})


def draft_adversary(dataset: str, knows: Sequence[str]) -> dict[str, Any]:
    """The entry in a release file of somebody who knows some attributes of everybody.

    >>> draft_adversary("pupils", ["age"])["model"]
    'CRS'
    """
    return {"attack": "records", "model": "CRS", "dataset": dataset, "knows": list(knows)}
