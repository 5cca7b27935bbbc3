"""`divulge describe`: the dictionary of a file, its values as small charts, and what is odd."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from divulge.cli.data_reader import DataReader, is_of_release, split_attributes
from divulge.cli.options import Data, Json
from divulge.cli.output import build_sentence, print_json, print_text, tolerate_closed_pipe

if TYPE_CHECKING:
    from divulge.data import AttributeSummary, Categorisation, Dataset, DataSummary


def describe(
    data: Data,
    reader: DataReader,
    attribute: Annotated[
        list[str] | None,
        typer.Option(
            "--attribute", "-a", help="Only this attribute, or several as age,sex; repeat."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Show what is in a file: its dictionary, values as small charts, and what is odd."""
    from divulge.cli.run_context import set_run_conditions
    from divulge.data import categorise, summarise

    with set_run_conditions(None, None, [str(data)]):
        dataset = reader.read(data)
        if attribute:
            chosen = split_attributes(attribute, dataset.names)
            dataset = dataset.select(dataset.attributes(chosen, "--attribute"))
        summary = summarise(dataset)
        found = None if is_of_release(data) else categorise(dataset)
    with tolerate_closed_pipe():
        if json:
            print_json(_gather_content(summary, dataset, found))
        else:
            print_text("\n".join(_format_summary(summary, dataset, found)))


def _format_summary(
    summary: DataSummary, dataset: Dataset, found: Categorisation | None
) -> Iterator[str]:
    from divulge.work import format_quantity

    yield build_sentence(
        "describe.head",
        dataset=summary.name,
        attributes=len(summary.attributes),
        records=format_quantity(summary.records, "record", "records"),
    )
    for each in summary.attributes:
        yield ""
        title = f"{each.name}: {each.description}" if each.description else each.name
        yield f"{title}  ({each.kind}; {_name_role(each, dataset, found)})"
        yield f"  {each.sketch}"
        if each.missing_codes:
            yield f"  {build_sentence('describe.codes', codes=each.missing_codes)}"
        for odd in each.oddities:
            yield f"  {build_sentence('describe.odd', odd=odd)}"
    if summary.oddities:
        yield ""
        for odd in summary.oddities:
            yield build_sentence("describe.records_odd", odd=odd)


def _name_role(each: AttributeSummary, dataset: Dataset, found: Categorisation | None) -> str:
    """The role that is given, or proposed with how sure that is."""
    given = dataset.dictionary[each.name].role
    if given is not None:
        return str(given)
    proposal = None if found is None else found.proposals[each.name]
    if proposal is None or proposal.role is None:
        return build_sentence("describe.open")
    if proposal.status == "settled":
        return build_sentence("describe.proposed", role=proposal.role)
    return build_sentence("describe.doubtful", role=proposal.role)


def _gather_content(
    summary: DataSummary, dataset: Dataset, found: Categorisation | None
) -> dict[str, Any]:
    content = summary.to_dict()
    for each in content["attributes"]:
        each["role"] = dataset.dictionary[each["attribute"]].role
        if found is not None:
            each["proposed"] = found.proposals[each["attribute"]].to_dict()
    return content
