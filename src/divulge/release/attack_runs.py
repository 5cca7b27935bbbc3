"""Running one adversary's attack: on data as they are, protected, or as somebody who knows more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from divulge.assessment import Adversary, Assessment, find_attack
from divulge.classes.original_values import count_hiding_records
from divulge.data import Dataset, Relation
from divulge.data.dictionary import as_names
from divulge.records.risk.null_readings import (
    DEFAULT_NULLS,
    HiddenCellsError,
    build_hidden_cells_error,
)
from divulge.release.publication import list_undisclosed_datasets


def take_held(
    adversary: Adversary, sources: Mapping[str, Dataset], originals: Mapping[str, Dataset]
) -> dict[str, Dataset]:
    """What an adversary holds beside a release, as it was before anything was protected.

    Of an original, only the records that are still in the release: they are compared in order.
    """
    held = {name: sources[name] for name in list_undisclosed_datasets(adversary)}
    attack = find_attack(adversary)
    for name, other in attack.same_records(adversary.settings, adversary.datasets).items():
        if name in held and other in originals and originals[other].name == held[name].name:
            held[name] = originals[other]
    return held


def run_on_hidden(
    adversary: Adversary,
    datasets: Sequence[Dataset],
    known: Sequence[Dataset],
    original: Dataset | None,
) -> Assessment:
    """Run an attack; where cells are hidden from it, as somebody who knows what they were."""
    try:
        return run_on_protected(adversary, datasets, known)
    except HiddenCellsError:
        found = None
        if original is not None:
            found = run_knowing_original(adversary, original, datasets)
        if found is None:
            raise
        return found


def run_knowing_original(
    adversary: Adversary, original: Dataset, datasets: Sequence[Dataset]
) -> Assessment | None:
    """Run an adversary's attack as somebody who knows the original; None if that changes nothing.

    Nobody knows an original that hides cells itself.

    `datasets` are those that the attack takes, the released records first.
    """
    if count_hiding_records(original, _list_counted(adversary, original)):
        return None
    attack, settings = find_attack(adversary), adversary.settings
    companions = [
        dataset
        for name, dataset in zip(adversary.datasets, datasets, strict=True)
        if name in attack.companion_datasets(settings)
    ]
    # An attack of somebody else's that has no companions need not know of them.
    more = {"companions": companions} if companions else {}
    found = attack.run_with_original(settings, original, datasets[0], **more)
    return None if found is None else found.named(adversary.name)


def run_on_protected(
    adversary: Adversary, datasets: Sequence[Dataset], known: Sequence[Dataset]
) -> Assessment:
    """Run an attack on data that may have been protected; `known` are the same records before.

    Raises:
        HiddenCellsError: if cells are hidden of which the attack counts the values, and nobody
            knows what they were.
    """
    _require_known_values(adversary, datasets, known)
    if any(one is not other for one, other in zip(datasets, known, strict=True)):
        attack = find_attack(adversary)
        found = attack.run_on_protected(adversary.settings, datasets, known)
        if found is not None:
            return found.named(adversary.name)
    return run_attack(adversary, datasets)


def _require_known_values(
    adversary: Adversary, datasets: Sequence[Dataset], known: Sequence[Dataset]
) -> None:
    """Attacks that take values as they are count a hidden cell as if it were a value of its own."""
    undisclosed = list_undisclosed_datasets(adversary)
    for name, dataset, before in zip(adversary.datasets, datasets, known, strict=True):
        names = [] if name in undisclosed else _list_counted(adversary, before)
        if count_hiding_records(before, names):
            raise build_hidden_cells_error(dataset, names, DEFAULT_NULLS)


def _list_counted(adversary: Adversary, dataset: Dataset) -> list[str]:
    """The columns of which an attack counts the values, hidden cells among them."""
    settings = adversary.settings
    is_plain = hasattr(settings, "knows") and not getattr(settings, "protected", True)
    if not is_plain or isinstance(dataset, Relation):
        return []
    sought = as_names(getattr(settings, "seeks", None) or ())
    counted = {*find_attack(adversary).known_columns(settings, dataset), *sought}
    return [name for name in dataset.names if name in counted]


def run_attack(adversary: Adversary, datasets: Sequence[Dataset]) -> Assessment:
    """Run an adversary's attack, and name the assessment after them."""
    return find_attack(adversary).run(adversary.settings, datasets).named(adversary.name)
