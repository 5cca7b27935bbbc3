"""What an attack is told on the command line: a gain, and what is known of one person."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from divulge.data import Dataset, Relation


def parse_gain(texts: list[str]) -> dict[str, Any]:
    """A gain as a release file would say it."""
    from divulge.work import InvalidInput, Problem

    gain: dict[str, Any] = {}
    try:
        for each in texts:
            name, _, value = each.partition("=")
            if name == "worth":
                pairs = [pair.rpartition(":") for pair in value.split(",")]
                gain["worth"] = {text: float(amount) for text, _, amount in pairs}
            else:
                gain[name] = int(value) if name == "guesses" else float(value)
    except ValueError:
        message = "write guesses=3, within=5, worth=yes:10,no:1 or wrong=1."
        raise InvalidInput("attack", [Problem("gain", message)]) from None
    return gain


def parse_targets(texts: list[str], datasets: list[Dataset]) -> Any:
    """What is known of one person; of several datasets a list, None where the person is absent."""
    from divulge.work import Problems

    problems = Problems("attack")
    targets: list[dict[str, Any] | None] = [{} for _ in datasets]
    for each in texts:
        number, colon, rest = each.partition(":")
        place = int(number) - 1 if colon and number.isdigit() else 0
        text = rest if colon and number.isdigit() else each
        if not 0 <= place < len(datasets):
            problems.add("target", f"there is no dataset {place + 1}.")
        elif text == "absent" and place > 0:
            targets[place] = None
        else:
            person = targets[place]
            name, value = _parse_target(problems, text, datasets[place])
            if person is not None and name is not None:
                person[name] = value
    problems.raise_any()
    return targets[0] if len(datasets) == 1 else targets


def _parse_target(problems: Any, assignment: str, dataset: Dataset) -> tuple[str | None, Any]:
    """What was written as attribute=value, the value in the attribute's own type."""
    from divulge.data import Relation

    name, equals, text = assignment.partition("=")
    if not equals or name not in dataset.names:
        problems.add("target", f'"{name}" is not attribute=value.', name, dataset.names)
        return None, None
    if isinstance(dataset, Relation):
        return name, _parse_value(dataset, name, text)
    values = {str(value): value for value in dataset.columns[name].values.to_pylist()}
    return name, values.get(text, text) if text else None


def _parse_value(relation: Relation, name: str, text: str) -> Any:
    """A value in the attribute's own type; a text that is none stays as it is, and fits nobody."""
    import pyarrow as pa

    if not text:
        return None
    try:
        return pa.scalar(text).cast(relation.find_type(name)).as_py()
    except pa.ArrowException:
        return text
