"""`divulge rules`: programs formatted, checked and run, and what follows from them explained."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from divulge.cli.data_reader import DataReader, takes_reading_options
from divulge.cli.options import Json, Overwrite
from divulge.cli.output import (
    build_sentence,
    print_json,
    print_sentence,
    print_text,
    tolerate_closed_pipe,
)

if TYPE_CHECKING:
    from divulge.rules import Facts

COULD_NOT_RUN = 2

app = typer.Typer(
    help="What follows from the data by rules that subject-matter experts state, and why.",
    no_args_is_help=True,
)

File = Annotated[Path, typer.Argument(help="A program of rules.", show_default=False)]
FactFiles = Annotated[
    list[str] | None,
    typer.Option("--facts", help="Facts of a predicate: own=ownership.csv; may be repeated."),
]

MostRounds = Annotated[
    int | None,
    typer.Option(
        min=1, help="Where a program stops that goes on without end, in rounds of a stratum."
    ),
]
ReleaseFile = Annotated[
    Path | None,
    typer.Option(
        "--release",
        help="Read the datasets of this release, and what they say of themselves, as rules of it "
        "do. If the program is one of its rule files, all of them are taken.",
    ),
]


@app.command("format")
def format_rules(
    file: File,
    out: Annotated[Path | None, typer.Option(help="Write it to this file.")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Show a program in its one form, comments kept; the file itself is never changed."""
    from divulge.cli.run_context import set_run_conditions
    from divulge.rules import Program
    from divulge.rules.language.formatter import format_program
    from divulge.work import whole_file

    with set_run_conditions(None, {"--out": out}, [file], overwrite):
        text = format_program(Program.load(file))
        if out is not None:
            with whole_file(out, overwrite) as part:
                part.write_text(text, encoding="utf-8", newline="\n")
    with tolerate_closed_pipe():
        if out is None:
            print_text(text.removesuffix("\n"))
        else:
            print_sentence("rules.written", path=out)


@app.command()
def check(file: File, json: Json = False) -> None:
    """Say what is wrong with a program, what is remarkable, and whether it ends by itself."""
    from divulge.cli.run_context import set_run_conditions
    from divulge.rules import Program, check_program
    from divulge.rules.checks.program_check import describe_bounds, format_checks

    with set_run_conditions(None, {}, [file]):
        program = Program.load(file)
        checked = check_program(program)
    with tolerate_closed_pipe():
        if json:
            print_json(
                {
                    "problems": [str(problem) for problem in checked.problems],
                    "remarks": [str(remark) for remark in checked.remarks],
                    "statements": len(program.statements),
                    "may_not_end": checked.may_not_end,
                }
            )
        else:
            for line in format_checks(checked):
                print_text(line)
            if not checked.problems:
                print_sentence("rules.sound", path=file, count=len(program.statements))
                print_text(describe_bounds(checked))
    if checked.problems:
        raise typer.Exit(COULD_NOT_RUN)


@app.command()
@takes_reading_options(dataset="")
def run(
    file: File,
    reader: DataReader,
    facts: FactFiles = None,
    release: ReleaseFile = None,
    show: Annotated[
        list[str] | None,
        typer.Option(help="Show the facts of this predicate, with their values; repeat."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="A new folder for a CSV file of each derived predicate.")
    ] = None,
    conflicts: Annotated[
        bool,
        typer.Option("--conflicts", help="Show what led to each conflict, with its values."),
    ] = False,
    most_rounds: MostRounds = None,
    json: Json = False,
) -> None:
    """Derive what follows from a program; how many facts each predicate has, or the facts."""
    from divulge.cli.run_context import set_run_conditions
    from divulge.rules import explain
    from divulge.rules.checks.definitions import list_widths

    _check_new_folder(out)
    handed_in = _list_fact_files(facts, release)
    with (
        set_run_conditions(None, {"--out": out}, [file, *handed_in.values()]),
        _evaluate(file, handed_in, release, most_rounds, reader) as derived,
    ):
        shown = {name: derived.rows(name) for name in _check_names(derived, show or [])}
        named = set(list_widths(derived.checked.program.statements))
        # Datasets that rules read by name are no predicates of theirs.
        counts = {name: derived.count(name) for name in derived if name in named}
        open_conflicts = len(derived.conflicts)
        derivations = [
            str(explain(derived, each, show_values=True))
            for each in (derived.conflicts if conflicts else ())
        ]
        if out is not None:
            _write_facts(derived, out)
    with tolerate_closed_pipe():
        if json:
            rows = {name: [_list_plain(row) for row in found] for name, found in shown.items()}
            content = {"counts": counts, "conflicts": open_conflicts, "facts": rows}
            print_json(content | ({"derivations": derivations} if conflicts else {}))
            return
        if not shown:
            for name, count in counts.items():
                print_sentence("rules.count", predicate=name, count=count)
        for name, found in shown.items():
            for row in found:
                print_text(f"{name}({', '.join(_list_plain(row))})")
        if open_conflicts:
            print_sentence("rules.conflicts", count=open_conflicts)
        for text in derivations:
            print_text(text)
        if out is not None:
            print_sentence("rules.written", path=out)


@app.command()
@takes_reading_options(dataset="")
def why(
    file: File,
    fact: Annotated[str, typer.Argument(help="""A fact, such as 'rel("A", "C")'.""")],
    reader: DataReader,
    facts: FactFiles = None,
    release: ReleaseFile = None,
    values: Annotated[
        bool, typer.Option("--values", help="Show the values of records, not numbers for them.")
    ] = False,
    chart: Annotated[Path | None, typer.Option(help="Write a drawing to this .svg file.")] = None,
    overwrite: Overwrite = False,
    most_rounds: MostRounds = None,
    json: Json = False,
) -> None:
    """Explain a fact: by which rules it holds, or why not. Values are hidden unless asked for."""
    from divulge.cli.run_context import set_run_conditions
    from divulge.rules import explain
    from divulge.work import whole_file

    handed_in = _list_fact_files(facts, release)
    inputs = [file, *handed_in.values()]
    with (
        set_run_conditions(None, {"--chart": chart}, inputs, overwrite),
        _evaluate(file, handed_in, release, most_rounds, reader) as derived,
    ):
        explanation = explain(derived, fact, show_values=values)
        if chart is not None:
            with whole_file(chart, overwrite) as part:
                part.write_text(explanation.to_svg(), encoding="utf-8")
    with tolerate_closed_pipe():
        if json:
            print_json(explanation.to_dict())
            return
        print_text(str(explanation))
        if chart is not None:
            print_sentence("rules.written", path=chart)


def _list_fact_files(facts: Sequence[str] | None, release: Path | None) -> dict[str, Path]:
    """The files of facts by predicate."""
    from divulge.work import Problems

    problems = Problems("--facts")
    handed_in: dict[str, Path] = {}
    for given in facts or []:
        name, separator, path = given.partition("=")
        if not separator or not name or not path:
            problems.add("", build_sentence("rules.no_pair"))
        elif name in handed_in:
            problems.add("", build_sentence("rules.given_twice", predicate=name))
        handed_in[name] = Path(path)
    if facts and release is not None:
        problems.add("", build_sentence("rules.facts_and_release"))
    problems.raise_any()
    return handed_in


def _check_new_folder(out: Path | None) -> None:
    from divulge.work import Problems

    problems = Problems("--out")
    if out is not None and (out.exists() or out.is_symlink()):
        problems.add(str(out), build_sentence("rules.no_new_folder"))
    problems.raise_any()


def _evaluate(
    file: Path,
    handed_in: dict[str, Path],
    release: Path | None,
    most_rounds: int | None,
    reader: DataReader,
) -> Facts:
    from divulge.rules import Program, evaluate

    if release is not None:
        from divulge.release import Release
        from divulge.release.rule_programs.release_facts import derive_release_facts

        return derive_release_facts(Release.load(release), file)
    alone = len(handed_in) == 1
    given = {name: reader.read(path, alone=alone) for name, path in handed_in.items()}
    return evaluate(Program.load(file), given, most_rounds=most_rounds)


def _check_names(derived: Facts, names: Sequence[str]) -> Sequence[str]:
    from divulge.work import Problems

    problems = Problems("--show")
    for name in names:
        if name not in derived:
            message = build_sentence("rules.no_predicate", predicate=name)
            problems.add("", message, name, tuple(derived))
    problems.raise_any()
    return names


def _list_plain(row: Sequence[Any]) -> list[str]:
    from divulge.rules.explanation.value_labels import write_plain

    return [write_plain(value) for value in row]


def _write_facts(derived: Facts, folder: Path) -> None:
    """A file for each predicate that a rule gives."""
    from divulge.work import whole_file

    folder.mkdir(parents=True)
    heads = {numbered.rule.head.predicate for numbered in derived.checked.rules}
    for name in sorted(heads):
        with (
            whole_file(folder / f"{name}.csv") as part,
            part.open("w", encoding="utf-8", newline="") as file,
        ):
            writer = csv.writer(file)
            writer.writerow(derived[name].column_names)
            writer.writerows(_list_plain(row) for row in derived.rows(name))
