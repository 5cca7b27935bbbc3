"""Linkage to a register: whose record is it, among the people whom a register names?

Records and people are compared where they agree on the blocking attributes, or a value of them is
missing: who was hidden in a block may be anybody. Each comparison is a piece of evidence: agreement
speaks for a pair by how much more often true pairs agree than others (`agreement_weights`), so the
score is the logarithm of how much more likely the pair is than chance, and the posterior over a
record's candidates, and nobody among them, follows from the scores (Bellomarini et al., Sec. 2.2
and Fig. 2; Fellegi and Sunter).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge import work
from divulge.assessment import Assessment
from divulge.data import Dataset
from divulge.data.dictionary import as_names
from divulge.data.ladders import text_of
from divulge.engines import DuckSession
from divulge.records.linkage.agreement_weights import (
    Evidence,
    Vectors,
    agreements,
    estimated,
    from_truth,
)
from divulge.records.linkage.assess import Found, assessed
from divulge.records.linkage.comparison import agrees, kind_of, problems_with_comparisons, values_of
from divulge.work import InvalidInput, Problem, Problems

if TYPE_CHECKING:
    import pyarrow as pa

BY_TRUTH = "truth"
MOST_UNBLOCKED = 500_000_000
"""Pairs of records and people that no block keeps apart: more would take very long."""


def link(
    release: Dataset,
    register: Dataset,
    block: str | Iterable[str],
    compare: Mapping[str, Any] | None = None,
    truth: str | None = None,
    agreement: float | Mapping[str, float] | str | None = None,
    coverage: float | None = None,
) -> Assessment:
    """Link a release to a register that names people, and say how often that is right.

    Args:
        release: the records.
        register: the people; it has the attributes by which records are compared.
        block: only who agrees on these is compared; a missing value agrees with every other.
        compare: by attribute, how it is compared: `"equal"`; `("near", 2)`, at most so far
            apart; `("likeness", 0.9)`, text that is alike (Jaro-Winkler). A missing value says
            nothing.
        truth: an id that both have, by which the links are judged.
        agreement: how often the two values of one person agree on a comparison: one number, or
            some by attribute; `"truth"` counts it in the true pairs; what is not given is
            estimated from the pairs themselves.
        coverage: how likely a record's person is among its candidates; estimated from three
            comparisons on, else taken to be certain.

    Returns:
        With a truth, how many records are linked rightly; else the chance that the best
        candidate is right. Both are estimates: scores rest on what agreement counts for.

    >>> import divulge as dv
    >>> pupils = dv.datasets.school_year_example()
    >>> found = link(pupils, pupils, block="gender", compare={"grade": "equal", "age": ("near", 1)},
    ...              truth="id")
    >>> found.probabilistic.posterior
    0.7
    """
    with _Linkage(release, register, block, compare, truth, agreement, coverage) as linkage:
        return assessed(linkage.found())


def candidates(
    release: Dataset,
    register: Dataset,
    block: str | Iterable[str],
    compare: Mapping[str, Any] | None = None,
    truth: str | None = None,
    agreement: float | Mapping[str, float] | str | None = None,
    coverage: float | None = None,
    most: int = 10,
) -> pa.Table:
    """The likeliest people for each record: row numbers from 0, score (in bits), probability.

    This names who is taken for whom, so it is for the desk and not for a report. What does not
    add up to 1 for a record is the chance of its other candidates, or of nobody in the register.

    >>> import divulge as dv
    >>> pupils = dv.datasets.school_year_example()
    >>> likely = candidates(pupils, pupils, "gender", {"grade": "equal", "age": "equal"}, most=1)
    >>> likely.column_names
    ['record', 'person', 'score', 'probability']
    """
    with _Linkage(release, register, block, compare, truth, agreement, coverage) as linkage:
        return linkage.candidates(most)


class _Linkage:
    """The pairs of one linkage in a database, and the evidence in them."""

    def __init__(
        self, release: Dataset, register: Dataset, block: str | Iterable[str],
        compare: Mapping[str, Any] | None, truth: str | None,
        agreement: Any, coverage: float | None,
    ) -> None:  # fmt: skip
        self.release, self.register, self.truth = release, register, truth
        self.blocks, self.compare = as_names(block), dict(compare or {})
        self.agreement, self.coverage = agreement, coverage
        problems = Problems("link")
        problems.extend("", self._problems())
        problems.raise_any()
        names = list(dict.fromkeys([*self.blocks, *self.compare, *([truth] if truth else [])]))
        # A user's names never reach SQL: DuckDB takes "Age" and "age" for one.
        self._as = {name: f"value{number}" for number, name in enumerate(names)}
        self._tables = {
            "release": _numbered(release, names),
            "register": _numbered(register, names),
        }
        self._open = ExitStack()

    def __enter__(self) -> _Linkage:
        with ExitStack() as opened:  # closed at once if anything goes wrong in here
            opened.enter_context(work.step("Linking to the register"))
            self._duck = opened.enter_context(DuckSession(**self._tables))
            self._compare()
            self._open = opened.pop_all()
        return self

    def __exit__(self, *error: Any) -> None:
        self._open.close()

    def _compare(self) -> None:
        """Compare all pairs of a block, and weigh the evidence in them."""
        self._refuse_unblocked()
        self._duck.arrays(f"CREATE TEMP TABLE pairs AS {self._pairs()}")
        [matched], [pairs] = self._duck.arrays(
            "SELECT count(DISTINCT record) AS matched, count(*) AS pairs FROM pairs"
        ).values()
        self.matched, self.pairs = int(matched), int(pairs)
        self.evidence = self._evidence()
        likely = self.evidence.share * self.pairs / max(1, self.matched)
        self.covered = self.coverage if self.coverage is not None else min(1.0, likely)
        if not self.compare and self.coverage is None:
            self.covered = 1.0

    def found(self) -> Found:
        """What the posterior says of each record, and how it came about."""
        told = self._duck.arrays(self._best())
        rows = self.release.rows
        place = told["record"].astype(np.int64)

        def of_each(name: str) -> Any:
            values = np.zeros(rows)
            values[place] = np.ma.filled(told[name], 0.0)
            return values

        return Found(
            self.release, self.register, (*self.blocks, *self.compare), self.truth is not None,
            candidates=of_each("candidates"), chance=of_each("chance"),
            right_guess=of_each("right_guess"), belief=of_each("belief"), listed=self._listed(),
            pairs=self.pairs, covered=self.covered, names=tuple(self.compare),
            evidence=self.evidence, how=self._how(),
        )  # fmt: skip

    def _listed(self) -> Any:
        """Whether the person of each record is in the register; as is said where nobody knows."""
        if self.truth is None:
            return np.full(self.release.rows, 1.0 if self.coverage is None else self.coverage)
        ours, theirs = (d.columns[self.truth] for d in (self.release, self.register))
        there = {text_of(value) for value in theirs.values.to_pylist()}
        # Nobody has a record without a name.
        known = [text_of(value) in there for value in ours.values.to_pylist()]
        return np.array([*known, False], float)[ours.codes]

    def candidates(self, most: int) -> pa.Table:
        """The likeliest people for each record."""
        import pyarrow as pa

        told = self._duck.arrays(f"""
            {self._ranked()}
            SELECT record, person, log2(odds) AS score,
                   odds / (total + {self._nobody}) AS probability
            FROM ranked QUALIFY row_number() OVER (PARTITION BY record ORDER BY odds DESC, person)
                                <= {int(most)}
            ORDER BY record, odds DESC, person
            """)  # numbers and our own names only
        return pa.table(told)

    def _refuse_unblocked(self) -> None:
        """Say so before it takes very long: many records, or people, without a value in a block."""
        [records], [people] = self._duck.arrays(
            f"SELECT (SELECT count(*) FROM release a WHERE {self._hidden('a')}) AS records, "
            f"(SELECT count(*) FROM register b WHERE {self._hidden('b')}) AS people"
        ).values()
        if records * self.register.rows + people * self.release.rows > MOST_UNBLOCKED:
            message = (
                f"{records:,} records and {people:,} people of the register have no value in it, "
                "and might be anybody; block by attributes that are there."
            )
            raise InvalidInput("link", [Problem("block", message)])

    def _hidden(self, side: str) -> str:
        return "(" + " OR ".join(f"{side}.{self._as[name]} IS NULL" for name in self.blocks) + ")"

    def _pairs(self) -> str:
        names = [self._as[name] for name in self.blocks]
        equal = " AND ".join(f"a.{name} = b.{name}" for name in names)
        maybe = " AND ".join(
            f"(a.{name} = b.{name} OR a.{name} IS NULL OR b.{name} IS NULL)" for name in names
        )
        compared = "".join(
            f", {agrees(self._as[name], kind, values_of(*self._types(name)))} AS g{number}"
            for number, (name, kind) in enumerate(self.compare.items())
        )
        true = f"a.{self._as[self.truth]} = b.{self._as[self.truth]}" if self.truth else "false"
        pair = f"""a.number AS record, b.number AS person,
                   coalesce({true}, false) AS is_true {compared}"""
        # Apart, so that what has values is found by them and not by trying everybody.
        return f"""
            SELECT {pair} FROM release a JOIN register b ON {equal}
            UNION ALL
            SELECT {pair} FROM (SELECT * FROM release a WHERE {self._hidden("a")}) a
                          JOIN register b ON {maybe}
            UNION ALL
            SELECT {pair} FROM (SELECT * FROM release a WHERE NOT {self._hidden("a")}) a
                          JOIN (SELECT * FROM register b WHERE {self._hidden("b")}) b ON {maybe}
            """  # our own names only

    def _types(self, name: str) -> tuple[Any, Any]:
        return self.release.columns[name].values.type, self.register.columns[name].values.type

    def _evidence(self) -> Evidence:
        if not self.compare:
            return Evidence(np.empty(0), np.empty(0), min(1.0, self.matched / max(1, self.pairs)))
        columns = [f"g{number}" for number in range(len(self.compare))]
        told = self._duck.arrays(
            f"SELECT {', '.join(columns)}, count(*) AS pairs, "
            "count(*) FILTER (is_true) AS true FROM pairs GROUP BY ALL ORDER BY ALL"
        )
        compared = np.column_stack([told[name] for name in columns]).astype(np.int8)
        vectors = Vectors(compared, told["pairs"].astype(float), told["true"].astype(float))
        if self.agreement == BY_TRUTH:
            if not vectors.true.any():
                message = "no true pair agrees on the block; nothing can be counted."
                raise InvalidInput("link", [Problem("agreement", message)])
            return from_truth(vectors)
        pairs = max(1, self.pairs)
        share = self.matched if self.coverage is None else self.coverage * self.matched
        most = min(self.matched, self.register.rows) / pairs
        given = agreements(self.agreement, list(self.compare))
        return estimated(vectors, share / pairs, min(1.0, most), given)

    def _how(self) -> str:
        if not self.compare:
            return "none"
        if self.agreement == BY_TRUTH:
            return "truth"
        given = agreements(self.agreement, list(self.compare))
        return "given" if None not in given else "estimated"

    @property
    def _nobody(self) -> str:
        """The odds that nobody of a record's candidates is its person."""
        return f"number * {(1 - self.covered) / max(self.covered, 1e-9)!r}::DOUBLE"

    def _ranked(self) -> str:
        score = " * ".join(
            f"(CASE g{number} WHEN 1 THEN {yes!r} WHEN 0 THEN {no!r} ELSE 1.0 END)::DOUBLE"
            for number, (yes, no) in enumerate(self.evidence.odds)
        )
        return f"""
            WITH scored AS (SELECT record, person, is_true, {score or "1.0"} AS odds FROM pairs),
            ranked AS (
                SELECT *, max(odds) OVER w AS best, sum(odds) OVER w AS total,
                       count(*) OVER w AS number
                FROM scored WINDOW w AS (PARTITION BY record)
            )
            """  # numbers and our own names only

    def _best(self) -> str:
        return f"""
            {self._ranked()}
            SELECT record, any_value(number)::BIGINT AS candidates,
                   any_value(best) / any_value(total + {self._nobody}) AS chance,
                   avg(is_true::INT) FILTER (odds >= best * (1 - 1e-12)) AS right_guess,
                   coalesce(sum(odds) FILTER (is_true), 0) / any_value(total + {self._nobody})
                       AS belief
            FROM ranked GROUP BY record ORDER BY record
            """  # numbers and our own names only

    def _problems(self) -> Iterator[Problem]:
        yield from problems_with_comparisons(self.compare)
        yield from problems_with_agreement(self.agreement, self.compare, self.truth)
        if not self.blocks:
            message = "names no attribute; all records would be compared with everybody."
            yield Problem("block", message)
        if self.coverage is not None and not 0 < self.coverage <= 1:
            yield Problem("coverage", f"{self.coverage:g} is not between 0 and 1.")
        if self.release.rows == 0:
            yield Problem("release", "has no records.")
        for place, names in (
            ("block", self.blocks),
            ("compare", self.compare),
            ("truth", [self.truth] if self.truth else []),
        ):
            for name in names:
                kind = self.compare[name] if place == "compare" else "equal"
                yield from _problems_with_column(place, name, kind, self.release, self.register)


def problems_with_agreement(
    agreement: Any, compare: Iterable[str], truth: str | None
) -> Iterator[Problem]:
    """Whether what is said of agreement can be."""
    if isinstance(agreement, str):
        if agreement != BY_TRUTH:
            message = f'"{agreement}" is no agreement: a number, numbers by attribute, "truth".'
            yield Problem("agreement", message)
        elif truth is None:
            yield Problem("agreement", '"truth" counts true pairs; name the id in truth.')
        return
    given = agreement if isinstance(agreement, Mapping) else {"": agreement}
    for name, rate in given.items():
        if name and name not in compare:
            message = f'"{name}" is not compared.'
            yield Problem("agreement", message, value=name, allowed=list(compare))
        if rate is not None and not 0 < rate < 1:
            yield Problem("agreement", f"{rate:g} is not between 0 and 1.")


def _problems_with_column(
    place: str, name: str, compared: Any, release: Dataset, register: Dataset
) -> Iterator[Problem]:
    lacking = [dataset for dataset in (release, register) if name not in dataset.names]
    for dataset in lacking:
        message = f'dataset "{dataset.name}" has no attribute "{name}".'
        yield Problem(place, message, value=name, allowed=dataset.names)
    if not lacking:
        kinds = {kind_of(d.columns[name].values.type) for d in (release, register)} - {None}
        if len(kinds) > 1:
            yield Problem(place, f'"{name}" has another type of value in the register.')
        near = isinstance(compared, list | tuple) and "near" in compared[:1]
        if near and not kinds <= {"number", "date"}:
            yield Problem(place, f'"{name}": near takes numbers or dates (days apart).')


def _numbered(dataset: Dataset, names: list[str]) -> Any:
    import pyarrow as pa

    values = dataset.select(names).to_arrow()
    values = values.rename_columns([f"value{number}" for number in range(len(names))])
    return values.append_column("number", pa.array(range(dataset.rows), pa.int64()))
