"""How a command is told to read data: one set of options, the same for every verb.

A source is a data file or a release file; `release.toml#pupils` is one dataset of it, read as the
release file says, and with the roles that it gives.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from divulge.data import Dataset
    from divulge.data.formats import Options

RELEASE_ENDING = ".toml"

READING_OPTIONS: dict[str, tuple[Any, Any]] = {
    "dataset": (
        Annotated[
            str | None,
            typer.Option(help="The dataset of a release file to use; also as release.toml#name."),
        ],
        None,
    ),
    "missing": (
        Annotated[
            list[str] | None,
            typer.Option(help="A code for missing values in a text file; may be repeated."),
        ],
        None,
    ),
    "hidden": (
        Annotated[
            str | None,
            typer.Option(help="The code for values that an earlier protection has hidden."),
        ],
        None,
    ),
    "separator": (
        Annotated[
            str | None, typer.Option(help="The field separator of a text file; else found out.")
        ],
        None,
    ),
    "encoding": (
        Annotated[str | None, typer.Option(help="The encoding of a text file; else UTF-8.")],
        None,
    ),
    "decimal": (
        Annotated[
            str | None, typer.Option(help="The decimal mark of a text file; else found out.")
        ],
        None,
    ),
    "thousands": (
        Annotated[str | None, typer.Option(help="The mark between thousands in a text file.")],
        None,
    ),
    "quote": (
        Annotated[
            str | None,
            typer.Option(help="The quotation mark of a text file (empty for none)."),
        ],
        None,
    ),
    "dates": (
        Annotated[
            list[str] | None,
            typer.Option(
                help="How dates are written where it is asked for: dmy, mdy, ymd or a format as "
                "%d.%m.%Y; of one column as born=mdy; may be repeated."
            ),
        ],
        None,
    ),
    "text": (
        Annotated[
            list[str] | None,
            typer.Option(help="A column of a text file that is text in any case; may be repeated."),
        ],
        None,
    ),
    "header": (
        Annotated[
            bool,
            typer.Option(
                "--header",
                help="The first line of the text file contains names, although it may not look so.",
            ),
        ],
        False,
    ),
    "table": (
        Annotated[
            str | None, typer.Option(help="The table of a database, or sheet of a spreadsheet.")
        ],
        None,
    ),
}
"""Type and default of each option, by its name."""

NOT_OF_FILES = ("dataset",)


@dataclass(frozen=True)
class DataReader:
    """What a command was told of how its files are to be read."""

    dataset: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def read(
        self,
        source: Path,
        roles: Mapping[str, str | Iterable[str] | None] | None = None,
        alone: bool = True,
    ) -> Dataset:
        """The records of a file, or of a dataset of a release file, with roles on top of its own.

        Args:
            source: the file.
            roles: attributes by role, in place of those that the release file gives that role.
            alone: whether no other file is read, which the options may be meant for.
        """
        from divulge.data import read

        path, name = split_dataset_name(source)
        if path.suffix.lower() == RELEASE_ENDING:
            return add_roles(self._read_of_release(path, name or self.dataset, alone), roles or {})
        if alone and self.dataset is not None:
            self._refuse("dataset", "is of a release file (.toml), and this is a data file.", path)
        return add_roles(read(path, **self.options), roles or {})

    @property
    def file_options(self) -> Options:
        """What was said, as those who read files take it."""
        from divulge.data.formats import Options

        dates = self.options.get("dates", {})
        return Options(**{**self.options, "dates": tuple(sorted(dates.items()))})

    def _read_of_release(self, path: Path, name: str | None, alone: bool) -> Dataset:
        from divulge.release import Release
        from divulge.work import InvalidInput, Problem

        for option in self.options if alone else ():
            self._refuse(option, "is of data files; the release file says this itself.", path)
        plans = Release.load(path).datasets
        if name is None and len(plans) == 1:
            [name] = plans
        if name is None or name not in plans:
            message = "name one of its datasets with --dataset."
            raise InvalidInput(str(path), [Problem("dataset", message, name or "", list(plans))])
        return plans[name].read()

    def _refuse(self, option: str, message: str, path: Path) -> None:
        from divulge.work import InvalidInput, Problem

        raise InvalidInput(str(path), [Problem(f"--{option}", message)])


def read_options_with(arguments: Mapping[str, Any]) -> DataReader:
    """The reader that the options of a command describe; what is not given is not among them."""
    options = {
        name: content
        for name, content in arguments.items()
        if content not in (None, False) and name not in NOT_OF_FILES
    }
    if "missing" in options:
        options["missing"] = ("", *options["missing"])
    if "dates" in options:
        options["dates"] = parse_date_formats(options["dates"])
    return DataReader(arguments.get("dataset"), options)


def parse_date_formats(texts: Iterable[str]) -> dict[str, str]:
    """Formats of dates by column, "" for all, from `dmy` and `born=mdy`.

    >>> parse_date_formats(["dmy", "born=%d.%m.%Y"])
    {'': 'dmy', 'born': '%d.%m.%Y'}
    """
    formats = {}
    for text in texts:
        name, equals, format_ = text.rpartition("=")
        formats[name if equals else ""] = format_
    return formats


def split_dataset_name(source: Path) -> tuple[Path, str | None]:
    """A source, and the dataset that is named behind it.

    >>> split_dataset_name(Path("release.toml#pupils"))
    (PosixPath('release.toml'), 'pupils')
    >>> split_dataset_name(Path("a#b.csv"))
    (PosixPath('a#b.csv'), None)
    """
    path, mark, name = str(source).rpartition(f"{RELEASE_ENDING}#")
    return (Path(path + RELEASE_ENDING), name) if mark and not source.exists() else (source, None)


def split_attributes(texts: Iterable[str], names: Iterable[str]) -> list[str]:
    """The attributes that options name: one each, or several with commas between them.

    A name that has a comma in it is itself.

    >>> split_attributes(["age,sex", "town, country"], ["age", "sex", "town, country"])
    ['age', 'sex', 'town, country']
    """
    known, attributes = set(names), []
    for text in texts:
        parts = [part.strip() for part in text.split(",") if part.strip()]
        is_one = text in known or len(parts) < 2 or not known.intersection(parts)
        attributes += [text] if is_one else parts
    return attributes


def add_roles(
    records: Dataset, new_roles: Mapping[str, str | Iterable[str] | None], keep: bool = False
) -> Dataset:
    """The same records with some roles given anew; other attributes keep theirs.

    Args:
        records: the records.
        new_roles: attributes by role; a role without any stays as it was.
        keep: whether those that had the role before keep it beside the new ones.
    """
    from divulge.data.dictionary import as_names

    given = {
        role: split_attributes(as_names(names), records.names)
        for role, names in new_roles.items()
        if names
    }
    if not given:
        return records
    moved = {name for names in given.values() for name in names}
    roles: dict[str, list[str]] = {}
    for role, having in records.roles.items():
        if keep or role not in given:
            roles[str(role)] = [name for name in as_names(having) if name not in moved]
    for new_role, names in given.items():
        roles[new_role] = [*roles.get(new_role, []), *names]
    hierarchies = {a.name: a.hierarchy for a in records.dictionary if a.hierarchy is not None}
    return records.describe({role: names for role, names in roles.items() if names}, hierarchies)


def is_of_release(source: Path | str) -> bool:
    """Whether a source is a release file, or a dataset of one."""
    return split_dataset_name(Path(source))[0].suffix.lower() == RELEASE_ENDING


def add_hierarchies(records: Dataset, hierarchies: Mapping[str, Path]) -> Dataset:
    """The same records with files of levels for some attributes."""
    before = {a.name: a.hierarchy for a in records.dictionary if a.hierarchy is not None}
    roles = {str(role): names for role, names in records.roles.items()}
    return records.describe(roles, {**before, **hierarchies})


def takes_reading_options(
    command: Callable[..., Any] | None = None, **names: str
) -> Callable[..., Any]:
    """Give a command the options of reading in place of its parameter `reader`.

    Args:
        command: the command.
        names: other names for options whose own name means something else there; "" for none.
    """
    if command is None:
        return lambda each: takes_reading_options(each, **names)
    chosen = command
    own = list(inspect.signature(chosen, eval_str=True).parameters.values())
    keyword_only = inspect.Parameter.KEYWORD_ONLY
    used = {name: names.get(name, name) for name in READING_OPTIONS if names.get(name, name)}
    options = [
        inspect.Parameter(
            used[name], keyword_only, annotation=READING_OPTIONS[name][0],
            default=READING_OPTIONS[name][1],
        )
        for name in used
    ]  # fmt: skip

    def run_command(**arguments: Any) -> Any:
        told = {name: arguments.pop(shown) for name, shown in used.items()}
        return chosen(**arguments, reader=read_options_with(told))

    parameters = [each.replace(kind=keyword_only) for each in own if each.name != "reader"]
    parameters += options
    run_command.__name__, run_command.__doc__ = chosen.__name__, chosen.__doc__
    run_command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run_command.__annotations__ = {}
    return run_command
