"""Candidate pairs of a linkage: who is compared with whom, and what the comparisons say.

Records and people are compared where they agree on the blocking attributes, or a value of them is
missing: who was hidden in a block may be anybody. The pairs are in a database while they are
weighed; the posterior over a record's candidates, and nobody among them, follows from the scores.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import numpy as np

from divulge import work
from divulge.data import Dataset
from divulge.data.value_texts import format_value
from divulge.engines import DuckSession
from divulge.records import tuning
from divulge.records.linkage.agreement_weights import (
    ComparisonVectors,
    Evidence,
    count_evidence,
    estimate_evidence,
    list_agreement_rates,
)
from divulge.records.linkage.assess import LinkageResult
from divulge.records.linkage.comparison import build_agreement_sql, find_common_kind
from divulge.records.linkage.request import BY_TRUTH, LinkageRequest
from divulge.work import InvalidInput, Problem

if TYPE_CHECKING:
    import pyarrow as pa


class CandidatePairs:
    """The pairs of one linkage in a database, and the evidence in them."""

    def __init__(self, request: LinkageRequest) -> None:
        self.request = request
        self.release, self.register = request.release, request.register
        names = request.names
        # A user's names never reach SQL: DuckDB takes "Age" and "age" for one.
        self._column_names = {name: f"value{number}" for number, name in enumerate(names)}
        self._tables = {
            "release": _number_rows(request.release, names),
            "register": _number_rows(request.register, names),
        }
        self._resources = ExitStack()

    def __enter__(self) -> CandidatePairs:
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
        coverage = self.request.coverage
        self.effective_coverage = coverage if coverage is not None else min(1.0, likely)
        if not self.request.compare and coverage is None:
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
            knows=(*self.request.blocks, *self.request.compare),
            has_truth=self.request.truth is not None,
            candidates=spread_column("candidates"),
            chance=spread_column("chance"),
            right_guess=spread_column("right_guess"),
            belief=spread_column("belief"),
            in_register=self._find_in_register(),
            pairs=self.pair_count,
            coverage=self.effective_coverage,
            names=tuple(self.request.compare),
            evidence=self.evidence,
            evidence_source=self._name_evidence_source(),
        )

    def _find_in_register(self) -> Any:
        """Whether the person of each record is in the register; as is said where nobody knows."""
        truth, coverage = self.request.truth, self.request.coverage
        if truth is None:
            return np.full(self.release.rows, 1.0 if coverage is None else coverage)
        ours, theirs = (d.columns[truth] for d in (self.release, self.register))
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
        columns = [self._column_names[name] for name in self.request.blocks]
        return "(" + " OR ".join(f"{side}.{column} IS NULL" for column in columns) + ")"

    def _build_pairs_sql(self) -> str:
        names = [self._column_names[name] for name in self.request.blocks]
        equal = " AND ".join(f"a.{name} = b.{name}" for name in names)
        maybe = " AND ".join(
            f"(a.{name} = b.{name} OR a.{name} IS NULL OR b.{name} IS NULL)" for name in names
        )
        agreements = [
            build_agreement_sql(
                self._column_names[name], kind, find_common_kind(*self._find_value_types(name))
            )
            for name, kind in self.request.compare.items()
        ]
        compared = "".join(f", {sql} AS g{number}" for number, sql in enumerate(agreements))
        truth = self._column_names[self.request.truth] if self.request.truth else None
        true = f"a.{truth} = b.{truth}" if truth else "false"
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
        request = self.request
        if not request.compare:
            return Evidence(
                np.empty(0), np.empty(0), min(1.0, self.matched_records / max(1, self.pair_count))
            )
        columns = [f"g{number}" for number in range(len(request.compare))]
        counts = self._duck.arrays(
            f"SELECT {', '.join(columns)}, count(*) AS pairs, "
            "count(*) FILTER (is_true) AS true FROM pairs GROUP BY ALL ORDER BY ALL"
        )
        compared = np.column_stack([counts[name] for name in columns]).astype(np.int8)
        vectors = ComparisonVectors(
            compared, counts["pairs"].astype(float), counts["true"].astype(float)
        )
        if request.agreement == BY_TRUTH:
            if not vectors.true.any():
                message = "no true pair agrees on the block; nothing can be counted."
                raise InvalidInput("link", [Problem("agreement", message)])
            return count_evidence(vectors)
        pairs = max(1, self.pair_count)
        coverage = 1 if request.coverage is None else request.coverage
        share = coverage * self.matched_records
        max_true_pairs = min(self.matched_records, self.register.rows) / pairs
        rates = list_agreement_rates(request.agreement, list(request.compare))
        return estimate_evidence(vectors, share / pairs, min(1.0, max_true_pairs), rates)

    def _name_evidence_source(self) -> str:
        if not self.request.compare:
            return "none"
        if self.request.agreement == BY_TRUTH:
            return "truth"
        rates = list_agreement_rates(self.request.agreement, list(self.request.compare))
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


def _number_rows(dataset: Dataset, names: list[str]) -> Any:
    import pyarrow as pa

    values = dataset.select(names).to_arrow()
    values = values.rename_columns([f"value{number}" for number in range(len(names))])
    return values.append_column("number", pa.array(range(dataset.rows), pa.int64()))
