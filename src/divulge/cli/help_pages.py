"""The pages of help: what a command is for, and what it may be told, in the language of the user.

Typer's own pages have words of their own that no catalogue reaches, and name types as Python does.
Commands are told which page they have after they were declared (`set_help_pages`), so that a verb
is declared as with Typer alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, get_args

from typer.core import TyperCommand, TyperGroup

if TYPE_CHECKING:
    import typer
    from rich.table import Table

USAGE = "Usage: {0}"
ARGUMENTS, OPTIONS, COMMANDS = "Arguments", "Options", "Commands"
OPTIONS_OF_USAGE, COMMAND_OF_USAGE = "[OPTIONS]", "COMMAND ..."
REQUIRED = "[required]"
DEFAULT = "[default: {0}]"
FROM, UP_TO, FROM_TO = "{0} from {1}", "{0} up to {1}", "{0} from {1} to {2}"
VALUE_NAMES = {str: "text", int: "whole number", float: "number", Path: "path"}
HELP_OPTION = "Show this page and exit."

OWN_TEXTS = (
    *(USAGE, ARGUMENTS, OPTIONS, COMMANDS, OPTIONS_OF_USAGE, COMMAND_OF_USAGE, REQUIRED, DEFAULT),
    *(FROM, UP_TO, FROM_TO, *VALUE_NAMES.values(), HELP_OPTION),
)
"""What the pages say themselves; all else on them is said by the commands."""


class CommandPage(TyperCommand):
    """A command with a page of help of ours."""

    parameter_templates: ClassVar[dict[str, str]] = {}
    """Texts of parameters, by name, that are complete only when the page is written."""

    def list_contents(self) -> dict[str, str]:
        """What stands in the templates."""
        return {}

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the line; an error says of which command it is."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            if getattr(error, "ctx", ctx) is None:
                error.ctx = ctx  # type: ignore[attr-defined]  # it has one, though an empty one
            raise

    def invoke(self, ctx: Any) -> Any:
        """Run the command; an error names its options."""
        from divulge.cli.usage_errors import note_options
        from divulge.work.problems import DivulgeError

        try:
            return super().invoke(ctx)
        except DivulgeError as error:
            note_options(error, ctx)
            raise

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the page."""
        del formatter
        contents = self.list_contents()
        for parameter in self.params:
            if parameter.name in contents:
                template = self.parameter_templates[parameter.name]
                parameter.help = template.format(contents[parameter.name])  # type: ignore[attr-defined]  # of Typer's, all have one
        print_help_page(self, ctx)


class GroupPage(TyperGroup):
    """A group of commands with a page of help of ours."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the page."""
        del formatter
        print_help_page(self, ctx)


def set_help_pages(app: typer.Typer) -> None:
    """Give every command of an app, and of those in it, a page of ours."""
    for command in app.registered_commands:
        if command.cls is TyperCommand:
            command.cls = CommandPage
    for group in app.registered_groups:
        group.cls = GroupPage
        if group.typer_instance is not None:
            set_help_pages(group.typer_instance)


def print_help_page(command: Any, context: Any) -> None:
    """Print the page of a command on standard output."""
    from rich.text import Text

    from divulge.cli.output import print_text, tolerate_closed_pipe
    from divulge.work.translation import translate_help

    arguments, options = _split_parameters(command, context)
    commands = list(getattr(command, "commands", {}).items())
    sections = {
        ARGUMENTS: [_describe_parameter(each, context) for each in arguments],
        OPTIONS: [_describe_parameter(each, context) for each in options],
        COMMANDS: [(name, "", translate_help(each.help or "")) for name, each in commands],
    }
    with tolerate_closed_pipe():
        print_text(translate_help(USAGE.format(_write_usage(context, arguments, commands))))
        print_text(f"\n{translate_help(command.help or '')}")
        for heading, rows in sections.items():
            if rows:
                print_text("")
                print_text(Text(translate_help(heading), style="bold"))
                print_text(_build_table(rows))


def _split_parameters(command: Any, context: Any) -> tuple[list[Any], list[Any]]:
    """The arguments and the options, as far as they are shown."""
    shown = [each for each in command.get_params(context) if not getattr(each, "hidden", False)]
    arguments = [each for each in shown if each.param_type_name == "argument"]
    return arguments, [each for each in shown if each.param_type_name == "option"]


def _write_usage(context: Any, arguments: Sequence[Any], commands: Sequence[Any]) -> str:
    """How the command is called: `divulge check [OPTIONS] RELEASE`."""
    from divulge.work.translation import translate_help

    pieces = [context.command_path, translate_help(OPTIONS_OF_USAGE)]
    pieces += [_name_argument(each) for each in arguments]
    pieces += [translate_help(COMMAND_OF_USAGE)] if commands else []
    return " ".join(pieces)


def _name_argument(parameter: Any) -> str:
    name = str(parameter.name).upper()
    return f"{name}..." if parameter.nargs != 1 else name


def _describe_parameter(parameter: Any, context: Any) -> tuple[str, str, str]:
    """How a parameter is called, what it takes, and what it is for."""
    from divulge.work.translation import translate_help

    is_argument = parameter.param_type_name == "argument"
    name = _name_argument(parameter) if is_argument else _name_option(parameter)
    is_help = name == "--help"
    texts = [translate_help(HELP_OPTION if is_help else parameter.help or "")]
    if parameter.required:
        texts.append(translate_help(REQUIRED))
    elif (default := _describe_default(parameter, context)) and not is_help:
        texts.append(translate_help(DEFAULT.format(default)))
    return name, _describe_value(parameter), " ".join(filter(None, texts))


def _name_option(parameter: Any) -> str:
    """All names of an option; of a switch that can be turned off, `--[no-]singletons`."""
    names = list(parameter.opts)
    for opposite in parameter.secondary_opts:
        name = str(opposite).replace("--no-", "--", 1)
        both = f"--[no-]{name[2:]}"
        names = [both if each == name else each for each in names]
        names += [] if both in names else [opposite]
    return ", ".join(names)


def _describe_default(parameter: Any, context: Any) -> str:
    """What is taken if nothing is given; a switch is off unless it says otherwise."""
    default = parameter.get_default(context, call=False)
    is_off = default is None or default is False or default == []  # 0 is a value, not a switch
    if parameter.show_default is False or is_off:
        return ""
    return str(parameter.opts[0] if default is True else default)


def _describe_value(parameter: Any) -> str:
    """What a parameter takes: `text`, `number from 0 to 1`, or the words that are allowed."""
    from divulge.work.translation import translate_help

    kind = getattr(parameter, "type_descriptor", None)
    if kind is None:
        return ""  # not every version of Typer says it
    annotation = get_args(kind.annotation)[0] if kind.is_list else kind.annotation
    if kind.is_choice:
        return "|".join(map(str, kind.choices or ()))
    if annotation not in VALUE_NAMES:
        return ""  # a switch takes nothing
    name = translate_help(VALUE_NAMES[annotation])
    least, most = parameter.min, parameter.max
    if least is not None and most is not None:
        return translate_help(FROM_TO.format(name, least, most))
    if least is not None:
        return translate_help(FROM.format(name, least))
    return name if most is None else translate_help(UP_TO.format(name, most))


def _build_table(rows: Sequence[tuple[str, str, str]]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    styles = ("cyan", "dim", "")
    filled = [place for place in range(len(styles)) if any(row[place] for row in rows)]
    for place in filled:
        table.add_column(overflow="fold", no_wrap=place == 0)
    for row in rows:
        table.add_row(*(Text(f"  {row[p]}" if p == 0 else row[p], style=styles[p]) for p in filled))
    return table


def list_help_texts(command: Any, name: str = "divulge") -> Iterator[tuple[str, str]]:
    """All texts of the pages of a command and of those below it, each with the command's name."""
    templates = getattr(command, "parameter_templates", {})
    yield name, command.help or ""
    for parameter in command.params:
        yield name, templates.get(parameter.name, parameter.help or "")
    for below, child in getattr(command, "commands", {}).items():
        yield from list_help_texts(child, f"{name} {below}")
