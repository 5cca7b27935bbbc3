"""The attack `reconstruction` of a release: records, tables of totals, and a list of parties."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel

from divulge.assessment import Adversary, Assessment, AttackDefaults, Sentence
from divulge.data import Dataset, read
from divulge.data.dictionary import as_names, problems_with_names
from divulge.reconstruction.audit import reconstruct
from divulge.reconstruction.auditing.prior import Prior
from divulge.reconstruction.auditing.totals import Totals
from divulge.reconstruction.auditing.truth import true_places
from divulge.reconstruction.problem.generalisation import Generalised
from divulge.reconstruction.problem.rounding import RULES
from divulge.reconstruction.remedies.remedies import REMEDIES, Remedies, what_would_help
from divulge.reconstruction.reporting.result import Reconstruction
from divulge.reconstruction.settings import (
    GeneralisedSettings,
    ReconstructionSettings,
    TotalsSettings,
    TruthSettings,
)
from divulge.work import Problem


class ReconstructionAttack(AttackDefaults):
    """Records without identities, attacked with tables of totals and a list of parties."""

    Settings: ClassVar[type[BaseModel]] = ReconstructionSettings

    def problems(
        self, settings: ReconstructionSettings, names: Mapping[str, Sequence[str]]
    ) -> Iterator[Problem]:
        """Datasets that are told apart, attributes that exist, rules that mean something."""
        told = _told(settings)
        for name in told:
            if name not in names:
                message = f'"{name}" is not a dataset of this adversary.'
                yield Problem("dataset", message, value=name, allowed=list(names))
        rest = [name for name in names if name not in told]
        if len(rest) != 1:
            message = f"{len(rest)} datasets could be the records; tell what all others are."
            yield Problem("dataset", message)
            return
        records = names[rest[0]]
        of_records = f'dataset "{rest[0]}"'
        for name, table in settings.totals.items():
            place = f'totals, "{name}"'
            if table.rounding not in (*RULES, "diagnose"):
                message = f'"{table.rounding}" is not a rule of rounding.'
                yield Problem(place, message, value=table.rounding, allowed=(*RULES, "diagnose"))
            own = [*table.by, *as_names(table.place), *_summed(table).values()]
            yield from problems_with_names(place, own, names.get(name, own), f'dataset "{name}"')
            theirs = [*(g.attribute for g in _key(table).values()), *_summed(table)]
            yield from problems_with_names(place, theirs, records, of_records)
            for amount in _summed(table):
                if settings.units is not None and amount not in settings.units:
                    yield Problem("units", f'give the unit of "{amount}".')
        for kind in settings.what_would_help if isinstance(settings.what_would_help, list) else []:
            if kind not in REMEDIES:
                message = f'"{kind}" is no remedy.'
                yield Problem("what_would_help", message, value=kind, allowed=REMEDIES)
        yield from _problems_with_prior(settings, names, rest[0])
        yield from _problems_with_truth(settings, names, rest[0])

    def run(self, settings: ReconstructionSettings, datasets: Sequence[Dataset]) -> Assessment:
        """Reconstruct, and give the assessment after the last phase."""
        found = reconstruction(settings, datasets)
        if settings.target is not None:
            found.table_4(settings.target)  # a record that is not there is said now
        tried = remedies(settings, datasets, found) if settings.what_would_help else None
        return found.assessment_with(tried, settings.target)

    def adds_amounts(self) -> bool:
        """Those that the totals are made of."""
        return True

    def undisclosed(
        self, settings: ReconstructionSettings, datasets: Sequence[str]
    ) -> Sequence[str]:
        """All but the records and their totals: the parties, what is thought likely, the truth."""
        beside = [name for name in _told(settings) if name not in settings.totals]
        return [name for name in datasets if name in beside]

    def undisclosed_columns(
        self, settings: ReconstructionSettings, datasets: Sequence[str]
    ) -> Mapping[str, Collection[str]]:
        """The true places, where the records hold them."""
        truth = _truth(settings)
        if truth is None or truth.dataset is not None:
            return {}
        told = _told(settings)
        [records] = [name for name in datasets if name not in told]
        return {records: tuple((truth.columns or {}).values())}

    def needed_columns(self, settings: ReconstructionSettings) -> Collection[str]:
        """Keys, places and amounts of totals and records, what is thought likely, the truth."""
        named: list[str | None] = [*(settings.units or {})]
        for table in settings.totals.values():
            named += [*table.by, *(key.attribute for key in _key(table).values())]
            named += [*as_names(table.place), *_summed(table), *_summed(table).values()]
            named.append(table.noise)
        prior, truth = settings.prior, _truth(settings)
        if prior is not None:
            named += [_generalised(prior.about).attribute, prior.sector, prior.kind, prior.weight]
        if truth is not None:
            named += [truth.on, *(truth.columns or {}), *(truth.columns or {}).values()]
        return {name for name in named if name is not None}

    def advice(self, adversary: Adversary) -> Sentence:  # noqa: ARG002
        """Fewer or coarser totals."""
        return Sentence("divulge.protection", "advice.reconstruction")


def reconstruction(
    settings: ReconstructionSettings, datasets: Sequence[Dataset], **other: Any
) -> Reconstruction:
    """The whole result of an adversary of a release; `other` settings come before theirs."""
    return reconstruct(*_inputs(settings, datasets), **_asked(settings, datasets, other))


def remedies(
    settings: ReconstructionSettings,
    datasets: Sequence[Dataset],
    found: Reconstruction | None = None,
    **other: Any,
) -> Remedies:
    """What would help against an adversary of a release; `found` is the audit of it as it is."""
    wanted = settings.what_would_help
    chosen = REMEDIES if isinstance(wanted, bool) else wanted
    inputs, asked = _inputs(settings, datasets), _asked(settings, datasets, other)
    return what_would_help(*inputs, remedies=chosen, found=found, **asked)


def identities(
    settings: ReconstructionSettings,
    datasets: Sequence[Dataset],
    found: Reconstruction,
    column: str,
) -> dict[int, Any]:
    """Who was re-identified, for who asks by name: record -> value of a column of the parties."""
    _, _, parties = _inputs(settings, datasets)
    return found.identities(parties, column)


def truth_in_file(
    settings: ReconstructionSettings, datasets: Sequence[Dataset], path: Path, on: str | None
) -> Dataset:
    """The true places of the records of a release, from a file that is not part of it."""
    return true_places(_records(settings, datasets), read(path), on)


def _asked(
    settings: ReconstructionSettings, datasets: Sequence[Dataset], other: Mapping[str, Any]
) -> dict[str, Any]:
    """What `reconstruct` is asked besides the data."""
    given = settings.model_dump(
        include={"units", "rule_is_known", "premise", "bad", "unmatched"}
        | {"seconds", "in_all", "workers"}
    )
    by_name = {dataset.name: dataset for dataset in datasets}
    if settings.prior is not None and "prior" not in other:
        prior = settings.prior
        given["prior"] = Prior.from_dataset(
            by_name[prior.weights],
            _generalised(prior.about),
            **prior.model_dump(exclude={"weights", "about"}),
        )
    truth = _truth(settings)
    if truth is not None and "truth" not in other:
        held = None if truth.dataset is None else by_name[truth.dataset]
        given["truth"] = true_places(_records(settings, datasets), held, truth.on, truth.columns)
    return {**given, **other}


def _told(settings: ReconstructionSettings) -> list[str]:
    """The datasets of which it is said what they are; the other one holds the records."""
    told = [*settings.totals, settings.parties]
    if settings.prior is not None:
        told.append(settings.prior.weights)
    truth = _truth(settings)
    if truth is not None and truth.dataset is not None:
        told.append(truth.dataset)
    return told


def _truth(settings: ReconstructionSettings) -> TruthSettings | None:
    given = settings.truth
    return TruthSettings(dataset=given, on=None, columns=None) if isinstance(given, str) else given


def _records(settings: ReconstructionSettings, datasets: Sequence[Dataset]) -> Dataset:
    told = _told(settings)
    [records] = [dataset for dataset in datasets if dataset.name not in told]
    return records


def _problems_with_prior(
    settings: ReconstructionSettings, names: Mapping[str, Sequence[str]], records: str
) -> Iterator[Problem]:
    prior = settings.prior
    if prior is None:
        return
    named = [prior.sector, prior.weight, *([] if prior.kind is None else [prior.kind])]
    own = names.get(prior.weights, named)
    yield from problems_with_names("prior", named, own, f'dataset "{prior.weights}"')
    theirs, of = names.get(settings.parties, [prior.sector]), f'dataset "{settings.parties}"'
    yield from problems_with_names("prior, sector", [prior.sector], theirs, of)
    about = [_generalised(prior.about).attribute]
    yield from problems_with_names("prior, about", about, names[records], f'dataset "{records}"')


def _problems_with_truth(
    settings: ReconstructionSettings, names: Mapping[str, Sequence[str]], records: str
) -> Iterator[Problem]:
    truth = _truth(settings)
    if truth is None:
        return
    name = truth.dataset or records
    if truth.dataset is None and truth.columns is None:
        yield Problem("truth", "give the dataset, or the columns of the records that have it.")
    own = list(names.get(name, []))
    if own and truth.columns is not None:
        given = list(truth.columns.values())
        yield from problems_with_names("truth, columns", given, own, f'dataset "{name}"')
    if truth.on is not None:
        for dataset in (name, records):
            its = names.get(dataset, [truth.on])
            yield from problems_with_names("truth, on", [truth.on], its, f'dataset "{dataset}"')
    places = {as_names(table.place)[0] for table in settings.totals.values()}
    offered = own if truth.columns is None else list(truth.columns)
    if own and not places.intersection(offered):
        message = f"has none of the places of the totals: {', '.join(sorted(places))}."
        yield Problem("truth", message)


def _inputs(
    settings: ReconstructionSettings, datasets: Sequence[Dataset]
) -> tuple[Dataset, list[Totals], Dataset]:
    by_name = {dataset.name: dataset for dataset in datasets}
    records = _records(settings, datasets)
    totals = [
        Totals(
            by_name[name],
            dict(_key(table)),
            table.place,
            table.amounts,
            table.rounding,
            table.step,
            table.tolerance,
            table.noise,
        )
        for name, table in settings.totals.items()
    ]
    return records, totals, by_name[settings.parties]


def _key(table: TotalsSettings) -> dict[str, Generalised]:
    return {column: _generalised(of) for column, of in table.by.items()}


def _generalised(of: str | GeneralisedSettings) -> Generalised:
    return Generalised(of) if isinstance(of, str) else Generalised(**of.model_dump())


def _summed(table: TotalsSettings) -> dict[str, str]:
    if isinstance(table.amounts, dict):
        return dict(table.amounts)
    return {name: name for name in table.amounts or []}
