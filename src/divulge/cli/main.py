"""The `divulge` command: its verbs, and how it ends.

Exit codes: 0 fine, 1 a limit fails, 2 could not run (nothing was written), 3 not judged. Heavy
modules are imported inside the verbs, so that `divulge --help` answers at once.
"""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import Annotated, Literal, NoReturn

import typer

from divulge.cli.commands import (
    description,
    events,
    hierarchies,
    protection,
    recoding,
    reconstruct,
    records,
    release_draft,
    risk,
    risk_utility,
    rules,
    tables,
)
from divulge.cli.data_reader import takes_reading_options
from divulge.cli.help_pages import GroupPage, set_help_pages
from divulge.cli.options import Overwrite, Pdf, StopAfter, TellParameters
from divulge.cli.output import (
    print_json,
    print_pdf,
    print_sentence,
    print_text,
    tolerate_closed_pipe,
)
from divulge.cli.shell_completion import answer_completion

FINE, LIMIT_FAILS, COULD_NOT_RUN, NOT_JUDGED = 0, 1, 2, 3
EXIT_CODES = {"pass": FINE, "fail": LIMIT_FAILS, "not judged": NOT_JUDGED}

app = typer.Typer(
    cls=GroupPage,
    help="Before you publish, know what your release divulges, and fix it with the least damage.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(tables.app, name="tables")

app.add_typer(events.app, name="events")
app.add_typer(rules.app, name="rules")

ReleaseFile = Annotated[Path, typer.Argument(help="The release file (TOML).", show_default=False)]
Out = Annotated[
    Path | None,
    typer.Option(
        help="A folder for result.json and report.html; an interrupted run resumes there."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


@app.callback(invoke_without_command=True)
def divulge(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Before you publish, know what your release divulges, and fix it with the least damage."""
    if version:
        from divulge import __version__

        typer.echo(f"divulge {__version__}")
        raise typer.Exit(FINE)


@app.command()
def check(
    release: ReleaseFile,
    out: Out = None,
    tell_parameters: TellParameters = False,
    pdf: Pdf = False,
    overwrite: Overwrite = False,
    json: Json = False,
    stop_after: StopAfter = None,
) -> None:
    """Run every attack on a release and say whether its limits hold."""
    from divulge.cli.run_context import set_run_conditions
    from divulge.release import Release

    with set_run_conditions(stop_after):
        loaded = Release.load(release)
        if out is None:
            verdict = loaded.check()
        else:
            from divulge.report import check_into

            also = print_pdf if pdf else None
            verdict = check_into(loaded, out, overwrite, tell_parameters=tell_parameters, also=also)
    with tolerate_closed_pipe():
        if json:
            from divulge.report import build_result

            print_json(build_result(verdict))
        else:
            print_text(verdict)
            if out is not None:
                from divulge.report.editions.edition_files import EDITIONS
                from divulge.report.results import REPORT

                print_text("")
                print_sentence("check.report", path=out / REPORT)
                print_sentence("check.editions", folder=out / EDITIONS)
    raise typer.Exit(EXIT_CODES[verdict.status])


@app.command()
def verify(
    certificate: Annotated[
        Path, typer.Argument(help="The file certificate.json.", show_default=False)
    ],
    release: Annotated[
        Path | None, typer.Option(help="The folder of what was published, and nothing else.")
    ] = None,
    original: Annotated[
        list[Path] | None,
        typer.Option(help="A file that was examined: a source, the release file; repeat."),
    ] = None,
    key: Annotated[
        Path | None, typer.Option(help="The owner's certificate-key.json, out of internal/.")
    ] = None,
    json: Json = False,
) -> None:
    """Hold a certificate against files: are they those that it speaks of?"""
    from divulge.cli.run_context import set_run_conditions
    from divulge.report import verify_certificate

    with set_run_conditions():
        verification = verify_certificate(certificate, release, original or (), key)
    with tolerate_closed_pipe():
        if json:
            print_json(verification.to_dict())
        else:
            print_text(str(verification))
    raise typer.Exit(EXIT_CODES[verification.status])


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Where the demonstration's data and report go.")] = Path(
        "divulge-demo"
    ),
    pupils: Annotated[int, typer.Option(min=100, help="How many pupils the census has.")] = 200_000,
    overwrite: Overwrite = False,
) -> None:
    """Show everything Divulge does on made-up data."""
    from divulge.cli.commands.demonstration import run_demonstration
    from divulge.cli.run_context import set_run_conditions

    with set_run_conditions():
        run_demonstration(out, pupils, overwrite)


@app.command()
def schema(
    of: Annotated[Literal["release", "result"], typer.Argument(help="Which schema to print.")],
) -> None:
    """Print the JSON schema of release files or of result.json."""
    from divulge.release import release_schema, result_schema

    with tolerate_closed_pipe():
        print_json(release_schema() if of == "release" else result_schema())


@app.command()
def completion(
    shell: Annotated[Literal["bash", "zsh", "fish"], typer.Argument(help="Your shell.")],
) -> None:
    """Print a script that lets your shell complete commands, options and files."""
    from divulge.cli.shell_completion import write_completion_script

    with tolerate_closed_pipe():
        typer.echo(write_completion_script(shell))


@app.command()
def warm() -> None:
    """Compile the fast parts ahead of time, once, so that no first run waits for it."""
    from divulge.cli.run_context import set_run_conditions
    from divulge.engines.warm import warm_all

    with set_run_conditions():
        packages = warm_all()
    print_sentence("warm.done", packages=packages)


app.command()(takes_reading_options(release_draft.init, dataset="", hidden=""))
app.command()(takes_reading_options(description.describe))
app.command()(takes_reading_options(records.attack))
app.command()(takes_reading_options(records.sweep))


app.command(cls=risk.RiskCommand)(takes_reading_options(risk.risk))
app.command()(takes_reading_options(risk.suda))

app.command()(takes_reading_options(hierarchies.hierarchy))
app.command()(reconstruct.reconstruct)
app.command()(protection.protect)
app.command()(takes_reading_options(protection.suppress))
app.command()(takes_reading_options(recoding.recode))
app.command()(protection.explain)
app.command("map")(takes_reading_options(risk_utility.draw_map))
set_help_pages(app)


def main() -> NoReturn:
    """Run the command line; an error that the user can put right is a message, not a traceback."""
    import signal

    for signal_number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signal_number, _raise_cancelled)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that lacks a letter shows another
            stream.reconfigure(errors="replace")
    sys.exit(_run_command())


def _run_command() -> int:
    """Run what was asked for; the exit code, after the error was shown if there was one."""
    from divulge.cli.usage_errors import UsageError, describe_usage_error, is_help_page
    from divulge.work.context import LANGUAGE_VARIABLE, check_language
    from divulge.work.problems import DivulgeError

    try:
        if language := os.environ.get(LANGUAGE_VARIABLE):
            check_language(LANGUAGE_VARIABLE, language)
        answer_completion()
        return app(prog_name="divulge", standalone_mode=False) or FINE
    except UsageError as error:
        return COULD_NOT_RUN if is_help_page(error) else _show_error(describe_usage_error(error))
    except DivulgeError as error:
        if os.environ.get("DIVULGE_TRACEBACK") and _is_plugin_error(error):
            raise
        return _show_error(error)
    except OSError as error:
        reason = (error.strerror or "cannot be used").lower()
        return _show_error(DivulgeError(f"{error.filename or 'a file'}: {reason}"))
    except Exception as error:
        if os.environ.get("DIVULGE_TRACEBACK"):
            raise
        # An exception's text may hold values out of records, so it is not shown unasked.
        message = (
            f"something unexpected happened ({type(error).__name__}). This is a mistake of "
            "Divulge's; set DIVULGE_TRACEBACK=1 to see where."
        )
        return _show_error(DivulgeError(message))


def _raise_cancelled(*_: object) -> NoReturn:
    """Control-C is a wish like any other: said in a message, and an end with our exit code."""
    from divulge.work.budget import Cancelled

    raise Cancelled("stopped; nothing was written")


def _is_plugin_error(error: Exception) -> bool:
    """Whether another package's code failed: its author wants to see where."""
    from divulge.assessment import PluginError

    return isinstance(error, PluginError)


def _show_error(error: Exception) -> int:
    """Show an error in the language of the user: here it is shown, so here it is translated."""
    from divulge.cli.usage_errors import write_as_options
    from divulge.work.translation import translate_error

    message = write_as_options(translate_error(error), getattr(error, "option_names", {}))
    # A command that was called wrongly is named in the message itself.
    is_named = getattr(error, "subject", "").partition(" ")[0] == "divulge"
    typer.echo(message if is_named else f"divulge: {message}", err=True)
    return COULD_NOT_RUN
