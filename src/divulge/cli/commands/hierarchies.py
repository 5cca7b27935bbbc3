"""`divulge hierarchy`: how an attribute can become coarser: shown as a tree, proposed, written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from divulge.cli.data_reader import DataReader
from divulge.cli.options import Data, Json, Overwrite
from divulge.cli.output import build_sentence, print_json, print_text, tolerate_closed_pipe

if TYPE_CHECKING:
    from divulge.data import Dataset, Hierarchy, HierarchyProposal


def hierarchy(
    data: Data,
    reader: DataReader,
    attribute: Annotated[str, typer.Argument(help="One of its attributes.", show_default=False)],
    levels: Annotated[
        Path | None,
        typer.Option(help="A hierarchy to show: a file of levels (ARX), or of tau-ARGUS (.hrc)."),
    ] = None,
    total: Annotated[
        str | None,
        typer.Option(
            help="What stands above all codes of tau-ARGUS: its files leave that out, so that "
            "nothing does if it is not named."
        ),
    ] = None,
    method: Annotated[
        Literal[
            "intervals", "quantiles", "dates", "prefixes", "continents", "likeness", "frequency"
        ]
        | None,
        typer.Option(help="How one is proposed; by what the values look like if not given."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Write it as a file of levels, or for tau-ARGUS (.hrc), to be edited."),
    ] = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Show how an attribute can become coarser, level by level: a hierarchy, given or proposed."""
    from divulge.cli.run_context import set_run_conditions
    from divulge.data import Hierarchy, build_hierarchy_tree, propose_hierarchy
    from divulge.data.hierarchies.files import find_hierarchy_format, find_unwritten_total
    from divulge.work import InvalidInput, Problem

    if levels is not None and method is not None:
        message = "goes with a proposal, and not with --levels."
        raise InvalidInput("divulge hierarchy", [Problem("--method", message)])
    if total is not None and (levels is None or find_hierarchy_format(levels, None) != "argus"):
        message = "goes with --levels and a file of tau-ARGUS (.hrc); others have all their levels."
        raise InvalidInput("divulge hierarchy", [Problem("--total", message)])
    inputs = [str(path) for path in (data, levels) if path is not None]
    with set_run_conditions(None, {"--out": out}, inputs, overwrite):
        dataset = reader.read(data)
        proposal = None
        if levels is None:
            proposal = propose_hierarchy(dataset, attribute, method)
            chosen = proposal.hierarchy
        else:
            chosen = Hierarchy.from_file(levels, total=total)
        tree = build_hierarchy_tree(dataset, attribute, chosen)
        left_out = None
        if out is not None:
            table = _make_table(dataset, tree.attribute, chosen)
            table.write(out)
            left_out = find_unwritten_total(table.table or {}, out)
    with tolerate_closed_pipe():
        if json:
            print_json(_gather_content(tree.to_dict(), chosen, proposal, out))
            return
        lines = [] if proposal is None else [str(proposal), _format_settings(chosen), ""]
        lines.append(str(tree))
        if out is not None:
            lines += ["", build_sentence("hierarchy.written", path=out)]
        if left_out is not None:
            lines.append(build_sentence("hierarchy.without_total", path=out, total=left_out))
        print_text("\n".join(lines))


def _make_table(dataset: Dataset, attribute: str, chosen: Hierarchy) -> Hierarchy:
    return (
        chosen
        if chosen.table is not None
        else chosen.over(dataset.columns[attribute].values.to_pylist())
    )


def _format_settings(chosen: Hierarchy) -> str:
    """A rule as a release file takes it; a table is long, and better a file."""
    from divulge.release.release_file.toml_text import format_value

    if chosen.rule is None:
        return build_sentence("hierarchy.table")
    rule = ", ".join(f"{name} = {format_value(content)}" for name, content in chosen.rule.items())
    return build_sentence("hierarchy.rule", rule=f"{{ {rule} }}")


def _gather_content(
    tree: dict[str, Any], chosen: Hierarchy, proposal: HierarchyProposal | None, out: Path | None
) -> dict[str, Any]:
    proposed = {} if proposal is None else {"method": proposal.method, "reason": proposal.reason}
    written = {} if out is None else {"file": str(out)}
    return {**tree, "settings": dict(chosen.as_settings()), **proposed, **written}
