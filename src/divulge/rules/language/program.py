"""A rule program: its statements in order, and where they come from."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from divulge.rules.language.formatter import format_statement
from divulge.rules.language.parser import format_place, label_text, parse_text
from divulge.rules.language.syntax import (
    EqualityRule,
    FactSource,
    Place,
    Rule,
    Statement,
)
from divulge.work import Problems, input_file


@dataclass(frozen=True, kw_only=True)
class Program:
    """Facts, rules and sources of facts, read from a text or a file.

    >>> program = Program.parse('own("A", "B", 0.6). rel(X, Y) :- own(X, Y, W), W > 0.5.')
    >>> [statement.head.predicate for statement in program.rules]
    ['own', 'rel']
    """

    statements: tuple[Statement, ...]
    comments: tuple[str, ...] = ()
    """Comments behind the last statement."""
    origin: str = "rules"
    """What messages call the program: the file, or what it was given as."""
    folder: Path | None = None
    """Where files that it names are looked for; None if it does not come from a file."""
    text: str = field(default="", repr=False, compare=False)
    """The program as it is written."""

    @classmethod
    def parse(cls, text: str, origin: str = "rules", folder: Path | None = None) -> Program:
        """Read a program from a text.

        Raises:
            InvalidInput: with the place of every mistake, what is wrong and what to change.
        """
        text = text.removeprefix("\ufeff")
        parsed = parse_text(text, origin)
        return cls(
            statements=parsed.statements,
            comments=parsed.comments,
            origin=origin,
            folder=folder,
            text=text,
        )

    @classmethod
    def load(cls, path: str | Path) -> Program:
        """Read a program from a file; files that it names are looked for beside it.

        Raises:
            InvalidInput: if there is no such file, it is not UTF-8 text, or no sound program.
        """
        path = Path(path)
        problems = Problems(str(path))
        content = input_file(path).read_bytes()
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            problems.add(f"line {line}", "The file is not UTF-8 text. Save it as UTF-8.")
            problems.raise_any()
        return cls.parse(text, origin=str(path), folder=path.parent)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Facts and rules with a body, in order."""
        return tuple(one for one in self.statements if isinstance(one, Rule))

    @property
    def equality_rules(self) -> tuple[EqualityRule, ...]:
        """Rules that make two values one."""
        return tuple(one for one in self.statements if isinstance(one, EqualityRule))

    @property
    def sources(self) -> tuple[FactSource, ...]:
        """Files and datasets that facts are read from."""
        return tuple(one for one in self.statements if isinstance(one, FactSource))

    def describe_place(self, statement: Statement, place: Place | None = None) -> str:
        r"""Where a statement, or something in it, stands: as messages say it.

        >>> program = Program.parse('% @name "{X} controls {Y}"\nrel(X, Y) :- own(X, Y, _).')
        >>> print(program.describe_place(program.statements[0]))
        line 2, column 1, rule "{X} controls {Y}"
        """
        return format_place(place or statement.place, self._label_statement(statement))

    def _label_statement(self, statement: Statement) -> str:
        if isinstance(statement, FactSource) or not statement.body:
            return ""
        if statement.name is not None:
            return label_text(statement.name)
        return label_text(self.quote_statement(statement))

    def quote_statement(self, statement: Statement) -> str:
        """A statement in canonical form, on one line where it fits."""
        return format_statement(statement)
