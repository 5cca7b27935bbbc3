"""Statements carried out one after another, and what goes wrong said with its rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from divulge.engines.duck import DuckSession
from divulge.rules.checks.body_plan import place_of
from divulge.rules.engine.body_query import Ask, Refuse, RunStatement, Task
from divulge.rules.language.syntax import EqualityRule, Rule
from divulge.work import InvalidInput, NotEnoughMemory, Problem

if TYPE_CHECKING:
    import pyarrow as pa

OVERFLOW = (
    "a number becomes too large, or a value does not fit. Whole numbers go up to 18 digits, "
    "numbers with digits after the point have 38 in all, approximate ones go up to 1e308."
)


class TaskRunner:
    """The one door to the database: every statement goes through `run`, `table` or `count`."""

    def __init__(self, session: DuckSession, subject: str) -> None:
        self._session = session
        self._subject = subject

    def run(self, sql: str, statement: Rule | EqualityRule | None = None) -> None:
        """Carry out a statement on behalf of a rule."""
        with self._tell_errors(statement):
            self._session.run(sql)

    def table(self, sql: str, statement: Rule | EqualityRule | None = None) -> pa.Table:
        """The result of a query."""
        with self._tell_errors(statement):
            return self._session.table(sql)

    def count(self, sql: str) -> int:
        """The number that a query gives."""
        return int(self.table(sql).column(0)[0].as_py())

    def load(self, name: str, table: pa.Table) -> None:
        """Offer an Arrow table under a name of ours."""
        with self._tell_errors(None):
            self._session.register(name, table)

    def unload(self, name: str) -> None:
        """Take it back."""
        self._session.unregister(name)

    def carry_out(
        self,
        tasks: Sequence[Task],
        statement: Rule | EqualityRule,
        ask_plugin: Callable[[Ask, Rule | EqualityRule], None],
    ) -> None:
        """Do what a compiled rule asks for."""
        for task in tasks:
            if isinstance(task, Ask):
                ask_plugin(task, statement)
            elif isinstance(task, Refuse):
                if self.table(task.sql, statement).num_rows:
                    raise self.fail(statement, task.message)
            elif isinstance(task, RunStatement):
                self.run(task.sql, statement)

    def fail(self, statement: Rule | EqualityRule | None, message: str) -> InvalidInput:
        """The error of a rule."""
        problem = Problem("", message)
        return InvalidInput(
            self._subject, [place_of(problem, statement) if statement is not None else problem]
        )

    @contextmanager
    def _tell_errors(self, statement: Rule | EqualityRule | None) -> Iterator[None]:
        import duckdb

        try:
            yield
        except duckdb.OutOfMemoryException:
            raise NotEnoughMemory(
                f"{self._subject} needs more memory than is free, and the disk for temporary files "
                "has no room for the rest: free some, or hand in fewer facts."
            ) from None
        except (
            duckdb.OutOfRangeException,
            duckdb.ConversionException,
            duckdb.InvalidInputException,
        ):
            # What the engine says may show values, so it is not repeated.
            raise self.fail(statement, OVERFLOW) from None
        except duckdb.Error as error:
            kind = type(error).__name__
            message = f"the database could not carry this out ({kind}). Make the rule simpler."
            raise self.fail(statement, message) from None
