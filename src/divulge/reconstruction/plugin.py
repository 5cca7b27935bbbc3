"""The attack `reconstruction` of a release: records, tables of totals, and a list of parties."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel

from divulge.assessment import Adversary, Assessment, AttackDefaults, Sentence
from divulge.data import Dataset, read
from divulge.data.dictionary import as_names, find_name_problems
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
        declared_names = _list_declared_datasets(settings)
        for name in declared_names:
            if name not in names:
                message = f'"{name}" is not a dataset of this adversary.'
                yield Problem("dataset", message, value=name, allowed=list(names))
        rest = [name for name in names if name not in declared_names]
        if len(rest) != 1:
            message = f"{len(rest)} datasets could be the records; say what all the others are."
            yield Problem("dataset", message)
            return
        records = names[rest[0]]
        of_records = f'dataset "{rest[0]}"'
        for name, table in settings.totals.items():
            place = f'totals, "{name}"'
            if table.rounding not in (*RULES, "diagnose"):
                message = f'"{table.rounding}" is not a rule of rounding.'
                yield Problem(place, message, value=table.rounding, allowed=(*RULES, "diagnose"))
            own = [*table.by, *as_names(table.place), *_map_amounts(table).values()]
            yield from find_name_problems(place, own, names.get(name, own), f'dataset "{name}"')
            theirs = [*(g.attribute for g in _build_key(table).values()), *_map_amounts(table)]
            yield from find_name_problems(place, theirs, records, of_records)
            for amount in _map_amounts(table):
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
        result = reconstruction(settings, datasets)
        if settings.target is not None:
            result.table_4(settings.target)  # a record that is not there is said now
        remedy_results = (
            evaluate_remedies(settings, datasets, result) if settings.what_would_help else None
        )
        return result.assessment_with(remedy_results, settings.target)

    def adds_amounts(self) -> bool:
        """Those that the totals are made of."""
        return True

    def undisclosed(
        self, settings: ReconstructionSettings, datasets: Sequence[str]
    ) -> Sequence[str]:
        """All but the records and their totals: the parties, what is thought likely, the truth."""
        beside = [name for name in _list_declared_datasets(settings) if name not in settings.totals]
        return [name for name in datasets if name in beside]

    def undisclosed_columns(
        self, settings: ReconstructionSettings, datasets: Sequence[str]
    ) -> Mapping[str, Collection[str]]:
        """The true places, where the records hold them."""
        truth = _parse_truth(settings)
        if truth is None or truth.dataset is not None:
            return {}
        declared_names = _list_declared_datasets(settings)
        [records] = [name for name in datasets if name not in declared_names]
        return {records: tuple((truth.columns or {}).values())}

    def needed_columns(self, settings: ReconstructionSettings) -> Collection[str]:
        """Keys, places and amounts of totals and records, what is thought likely, the truth."""
        columns: list[str | None] = [*(settings.units or {})]
        for table in settings.totals.values():
            columns += [*table.by, *(key.attribute for key in _build_key(table).values())]
            columns += [*as_names(table.place), *_map_amounts(table), *_map_amounts(table).values()]
            columns.append(table.noise)
        prior, truth = settings.prior, _parse_truth(settings)
        if prior is not None:
            columns += [
                _to_generalised(prior.about).attribute,
                prior.sector,
                prior.kind,
                prior.weight,
            ]
        if truth is not None:
            columns += [truth.on, *(truth.columns or {}), *(truth.columns or {}).values()]
        return {name for name in columns if name is not None}

    def advice(self, adversary: Adversary) -> Sentence:  # noqa: ARG002
        """Fewer or coarser totals."""
        return Sentence("divulge.protection", "advice.reconstruction")


def reconstruction(
    settings: ReconstructionSettings, datasets: Sequence[Dataset], **other: Any
) -> Reconstruction:
    """The whole result of an adversary of a release; `other` settings come before theirs."""
    return reconstruct(
        *_build_inputs(settings, datasets), **_build_options(settings, datasets, other)
    )


def evaluate_remedies(
    settings: ReconstructionSettings,
    datasets: Sequence[Dataset],
    result: Reconstruction | None = None,
    **other: Any,
) -> Remedies:
    """What would help against an adversary of a release; `result` is the audit of it as it is."""
    choice = settings.what_would_help
    kinds = REMEDIES if isinstance(choice, bool) else choice
    inputs, options = _build_inputs(settings, datasets), _build_options(settings, datasets, other)
    return what_would_help(*inputs, remedies=kinds, found=result, **options)


def list_identities(
    settings: ReconstructionSettings,
    datasets: Sequence[Dataset],
    result: Reconstruction,
    column: str,
) -> dict[int, Any]:
    """Who was re-identified, for who asks by name: record -> value of a column of the parties."""
    _, _, parties = _build_inputs(settings, datasets)
    return result.identities(parties, column)


def read_truth(
    settings: ReconstructionSettings, datasets: Sequence[Dataset], path: Path, on: str | None
) -> Dataset:
    """The true places of the records of a release, from a file that is not part of it."""
    return true_places(_find_records(settings, datasets), read(path), on)


def _build_options(
    settings: ReconstructionSettings, datasets: Sequence[Dataset], other: Mapping[str, Any]
) -> dict[str, Any]:
    """The arguments of `reconstruct` besides the data."""
    options = settings.model_dump(
        include={"units", "rule_is_known", "premise", "bad", "unmatched"}
        | {"seconds", "in_all", "workers"}
    )
    by_name = {dataset.name: dataset for dataset in datasets}
    if settings.prior is not None and "prior" not in other:
        prior = settings.prior
        options["prior"] = Prior.from_dataset(
            by_name[prior.weights],
            _to_generalised(prior.about),
            **prior.model_dump(exclude={"weights", "about"}),
        )
    truth = _parse_truth(settings)
    if truth is not None and "truth" not in other:
        places = None if truth.dataset is None else by_name[truth.dataset]
        options["truth"] = true_places(
            _find_records(settings, datasets), places, truth.on, truth.columns
        )
    return {**options, **other}


def _list_declared_datasets(settings: ReconstructionSettings) -> list[str]:
    """The datasets of which it is said what they are; the other one holds the records."""
    names = [*settings.totals, settings.parties]
    if settings.prior is not None:
        names.append(settings.prior.weights)
    truth = _parse_truth(settings)
    if truth is not None and truth.dataset is not None:
        names.append(truth.dataset)
    return names


def _parse_truth(settings: ReconstructionSettings) -> TruthSettings | None:
    truth = settings.truth
    return TruthSettings(dataset=truth, on=None, columns=None) if isinstance(truth, str) else truth


def _find_records(settings: ReconstructionSettings, datasets: Sequence[Dataset]) -> Dataset:
    declared_names = _list_declared_datasets(settings)
    [records] = [dataset for dataset in datasets if dataset.name not in declared_names]
    return records


def _problems_with_prior(
    settings: ReconstructionSettings, names: Mapping[str, Sequence[str]], records: str
) -> Iterator[Problem]:
    prior = settings.prior
    if prior is None:
        return
    columns = [prior.sector, prior.weight, *([] if prior.kind is None else [prior.kind])]
    own = names.get(prior.weights, columns)
    yield from find_name_problems("prior", columns, own, f'dataset "{prior.weights}"')
    theirs, of = names.get(settings.parties, [prior.sector]), f'dataset "{settings.parties}"'
    yield from find_name_problems("prior, sector", [prior.sector], theirs, of)
    about = [_to_generalised(prior.about).attribute]
    yield from find_name_problems("prior, about", about, names[records], f'dataset "{records}"')


def _problems_with_truth(
    settings: ReconstructionSettings, names: Mapping[str, Sequence[str]], records: str
) -> Iterator[Problem]:
    truth = _parse_truth(settings)
    if truth is None:
        return
    name = truth.dataset or records
    if truth.dataset is None and truth.columns is None:
        yield Problem("truth", "give the dataset, or the columns of the records that have it.")
    own = list(names.get(name, []))
    if own and truth.columns is not None:
        truth_columns = list(truth.columns.values())
        yield from find_name_problems("truth, columns", truth_columns, own, f'dataset "{name}"')
    if truth.on is not None:
        for dataset in (name, records):
            its = names.get(dataset, [truth.on])
            yield from find_name_problems("truth, on", [truth.on], its, f'dataset "{dataset}"')
    places = {as_names(table.place)[0] for table in settings.totals.values()}
    available_columns = own if truth.columns is None else list(truth.columns)
    if own and not places.intersection(available_columns):
        message = f"has none of the places of the totals: {', '.join(sorted(places))}."
        yield Problem("truth", message)


def _build_inputs(
    settings: ReconstructionSettings, datasets: Sequence[Dataset]
) -> tuple[Dataset, list[Totals], Dataset]:
    by_name = {dataset.name: dataset for dataset in datasets}
    records = _find_records(settings, datasets)
    totals = [
        Totals(
            by_name[name],
            dict(_build_key(table)),
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


def _build_key(table: TotalsSettings) -> dict[str, Generalised]:
    return {column: _to_generalised(of) for column, of in table.by.items()}


def _to_generalised(of: str | GeneralisedSettings) -> Generalised:
    return Generalised(of) if isinstance(of, str) else Generalised(**of.model_dump())


def _map_amounts(table: TotalsSettings) -> dict[str, str]:
    if isinstance(table.amounts, dict):
        return dict(table.amounts)
    return {name: name for name in table.amounts or []}
