"""Record linkage (Fellegi-Sunter): whose record is it, among the people of a register?

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
from divulge.data.hierarchy_rules import format_value
from divulge.engines import DuckSession
from divulge.records import tuning
from divulge.records.linkage.agreement_weights import (
    ComparisonVectors,
    Evidence,
    count_evidence,
    estimate_evidence,
    list_agreement_rates,
)
from divulge.records.linkage.assess import LinkageResult, assess_linkage
from divulge.records.linkage.comparison import (
    build_agreement_sql,
    find_common_kind,
    find_value_kind,
    problems_with_comparisons,
)
from divulge.work import InvalidInput, Problem, Problems

if TYPE_CHECKING:
    import pyarrow as pa

BY_TRUTH = "truth"


def link(
    release: Dataset,
    register: Dataset,
    block: str | Iterable[str],
    compare: Mapping[str, Any] | None = None,
    truth: str | None = None,
    *,
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
    with _Linkage(
        release,
        register,
        block,
        compare=compare,
        truth=truth,
        agreement=agreement,
        coverage=coverage,
    ) as linkage:
        return assess_linkage(linkage.build_result())


def candidates(
    release: Dataset,
    register: Dataset,
    block: str | Iterable[str],
    compare: Mapping[str, Any] | None = None,
    truth: str | None = None,
    *,
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
    with _Linkage(
        release,
        register,
        block,
        compare=compare,
        truth=truth,
        agreement=agreement,
        coverage=coverage,
    ) as linkage:
        return linkage.list_candidates(most)


class _Linkage:
    """The pairs of one linkage in a database, and the evidence in them."""

    def __init__(
        self, release: Dataset, register: Dataset, block: str | Iterable[str],
        *, compare: Mapping[str, Any] | None, truth: str | None,
        agreement: Any, coverage: float | None,
    ) -> None:  # fmt: skip
        self.release, self.register, self.truth = release, register, truth
        self.blocks, self.compare = as_names(block), dict(compare or {})
        self.agreement, self.coverage = agreement, coverage
        problems = Problems("link")
        problems.extend("", self._find_problems())
        problems.raise_any()
        names = list(dict.fromkeys([*self.blocks, *self.compare, *([truth] if truth else [])]))
        # A user's names never reach SQL: DuckDB takes "Age" and "age" for one.
        self._column_names = {name: f"value{number}" for number, name in enumerate(names)}
        self._tables = {
            "release": _number_rows(release, names),
            "register": _number_rows(register, names),
        }
        self._resources = ExitStack()

    def __enter__(self) -> _Linkage:
        with ExitStack() as stack:  # closed at once if anything goes wrong in here
            stack.enter_context(work.step("Linking to the register"))
            self._duck = stack.enter_context(DuckSession(**self._tables))
            self._compare_pairs()
            self._resources = stack.pop_all()
        return self

    def __exit__(self, *error: Any) -> None:
        self._resources.close()

    def _compare_pairs(self) -> None:
        """Compare all pairs of a block, and weigh the evidence in them."""
        self._refuse_unblocked()
        self._duck.arrays(f"CREATE TEMP TABLE pairs AS {self._build_pairs_sql()}")
        [matched], [pairs] = self._duck.arrays(
            "SELECT count(DISTINCT record) AS matched, count(*) AS pairs FROM pairs"
        ).values()
        self.matched_records, self.pair_count = int(matched), int(pairs)
        self.evidence = self._weigh_evidence()
        likely = self.evidence.share * self.pair_count / max(1, self.matched_records)
        self.effective_coverage = self.coverage if self.coverage is not None else min(1.0, likely)
        if not self.compare and self.coverage is None:
            self.effective_coverage = 1.0

    def build_result(self) -> LinkageResult:
        """What the posterior says of each record, and how it came about."""
        columns = self._duck.arrays(self._build_best_sql())
        rows = self.release.rows
        record_rows = columns["record"].astype(np.int64)

        def spread_column(name: str) -> Any:
            values = np.zeros(rows)
            values[record_rows] = np.ma.filled(columns[name], 0.0)
            return values

        return LinkageResult(
            release=self.release,
            register=self.register,
            knows=(*self.blocks, *self.compare),
            has_truth=self.truth is not None,
            candidates=spread_column("candidates"),
            chance=spread_column("chance"),
            right_guess=spread_column("right_guess"),
            belief=spread_column("belief"),
            in_register=self._find_in_register(),
            pairs=self.pair_count,
            coverage=self.effective_coverage,
            names=tuple(self.compare),
            evidence=self.evidence,
            evidence_source=self._name_evidence_source(),
        )

    def _find_in_register(self) -> Any:
        """Whether the person of each record is in the register; as is said where nobody knows."""
        if self.truth is None:
            return np.full(self.release.rows, 1.0 if self.coverage is None else self.coverage)
        ours, theirs = (d.columns[self.truth] for d in (self.release, self.register))
        register_ids = {format_value(value) for value in theirs.values.to_pylist()}
        # Nobody has a record without a name.
        is_listed = [format_value(value) in register_ids for value in ours.values.to_pylist()]
        return np.array([*is_listed, False], float)[ours.codes]

    def list_candidates(self, most: int) -> pa.Table:
        """The likeliest people for each record."""
        import pyarrow as pa

        columns = self._duck.arrays(f"""
            {self._build_ranking_sql()}
            SELECT record, person, log2(odds) AS score,
                   odds / (total + {self._odds_of_nobody}) AS probability
            FROM ranked QUALIFY row_number() OVER (PARTITION BY record ORDER BY odds DESC, person)
                                <= {int(most)}
            ORDER BY record, odds DESC, person
            """)  # numbers and our own names only
        return pa.table(columns)

    def _refuse_unblocked(self) -> None:
        """Say so before it takes very long: many records, or people, without a value in a block."""
        [records], [people] = self._duck.arrays(
            f"SELECT (SELECT count(*) FROM release a WHERE {self._build_missing_sql('a')}) "
            "AS records, "
            f"(SELECT count(*) FROM register b WHERE {self._build_missing_sql('b')}) AS people"
        ).values()
        if records * self.register.rows + people * self.release.rows > tuning.MAX_UNBLOCKED_PAIRS:
            message = (
                f"{records:,} records and {people:,} people of the register have no value in it, "
                "and might be anybody; block by attributes that are there."
            )
            raise InvalidInput("link", [Problem("block", message)])

    def _build_missing_sql(self, side: str) -> str:
        return (
            "("
            + " OR ".join(f"{side}.{self._column_names[name]} IS NULL" for name in self.blocks)
            + ")"
        )

    def _build_pairs_sql(self) -> str:
        names = [self._column_names[name] for name in self.blocks]
        equal = " AND ".join(f"a.{name} = b.{name}" for name in names)
        maybe = " AND ".join(
            f"(a.{name} = b.{name} OR a.{name} IS NULL OR b.{name} IS NULL)" for name in names
        )
        agreements = [
            build_agreement_sql(
                self._column_names[name], kind, find_common_kind(*self._find_value_types(name))
            )
            for name, kind in self.compare.items()
        ]
        compared = "".join(f", {sql} AS g{number}" for number, sql in enumerate(agreements))
        true = (
            f"a.{self._column_names[self.truth]} = b.{self._column_names[self.truth]}"
            if self.truth
            else "false"
        )
        pair = f"""a.number AS record, b.number AS person,
                   coalesce({true}, false) AS is_true {compared}"""
        # Apart, so that what has values is found by them and not by trying everybody.
        return f"""
            SELECT {pair} FROM release a JOIN register b ON {equal}
            UNION ALL
            SELECT {pair} FROM (SELECT * FROM release a WHERE {self._build_missing_sql("a")}) a
                          JOIN register b ON {maybe}
            UNION ALL
            SELECT {pair} FROM (SELECT * FROM release a WHERE NOT {self._build_missing_sql("a")}) a
                          JOIN (SELECT * FROM register b WHERE {self._build_missing_sql("b")}) b
                          ON {maybe}
            """  # our own names only

    def _find_value_types(self, name: str) -> tuple[Any, Any]:
        return self.release.columns[name].values.type, self.register.columns[name].values.type

    def _weigh_evidence(self) -> Evidence:
        if not self.compare:
            return Evidence(
                np.empty(0), np.empty(0), min(1.0, self.matched_records / max(1, self.pair_count))
            )
        columns = [f"g{number}" for number in range(len(self.compare))]
        counts = self._duck.arrays(
            f"SELECT {', '.join(columns)}, count(*) AS pairs, "
            "count(*) FILTER (is_true) AS true FROM pairs GROUP BY ALL ORDER BY ALL"
        )
        compared = np.column_stack([counts[name] for name in columns]).astype(np.int8)
        vectors = ComparisonVectors(
            compared, counts["pairs"].astype(float), counts["true"].astype(float)
        )
        if self.agreement == BY_TRUTH:
            if not vectors.true.any():
                message = "no true pair agrees on the block; nothing can be counted."
                raise InvalidInput("link", [Problem("agreement", message)])
            return count_evidence(vectors)
        pairs = max(1, self.pair_count)
        share = (
            self.matched_records if self.coverage is None else self.coverage * self.matched_records
        )
        max_true_pairs = min(self.matched_records, self.register.rows) / pairs
        rates = list_agreement_rates(self.agreement, list(self.compare))
        return estimate_evidence(vectors, share / pairs, min(1.0, max_true_pairs), rates)

    def _name_evidence_source(self) -> str:
        if not self.compare:
            return "none"
        if self.agreement == BY_TRUTH:
            return "truth"
        rates = list_agreement_rates(self.agreement, list(self.compare))
        return "given" if None not in rates else "estimated"

    @property
    def _odds_of_nobody(self) -> str:
        """The odds that nobody of a record's candidates is its person."""
        odds = (1 - self.effective_coverage) / max(self.effective_coverage, 1e-9)
        return f"number * {odds!r}::DOUBLE"

    def _build_ranking_sql(self) -> str:
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

    def _build_best_sql(self) -> str:
        return f"""
            {self._build_ranking_sql()}
            SELECT record, any_value(number)::BIGINT AS candidates,
                   any_value(best) / any_value(total + {self._odds_of_nobody}) AS chance,
                   avg(is_true::INT) FILTER (odds >= best * (1 - 1e-12)) AS right_guess,
                   coalesce(sum(odds) FILTER (is_true), 0)
                       / any_value(total + {self._odds_of_nobody}) AS belief
            FROM ranked GROUP BY record ORDER BY record
            """  # numbers and our own names only

    def _find_problems(self) -> Iterator[Problem]:
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
    rates = agreement if isinstance(agreement, Mapping) else {"": agreement}
    for name, rate in rates.items():
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
        kinds = {find_value_kind(d.columns[name].values.type) for d in (release, register)} - {None}
        if len(kinds) > 1:
            yield Problem(place, f'"{name}" has another type of value in the register.')
        near = isinstance(compared, list | tuple) and "near" in compared[:1]
        if near and not kinds <= {"number", "date"}:
            yield Problem(place, f'"{name}": near takes numbers or dates (days apart).')


def _number_rows(dataset: Dataset, names: list[str]) -> Any:
    import pyarrow as pa

    values = dataset.select(names).to_arrow()
    values = values.rename_columns([f"value{number}" for number in range(len(names))])
    return values.append_column("number", pa.array(range(dataset.rows), pa.int64()))
