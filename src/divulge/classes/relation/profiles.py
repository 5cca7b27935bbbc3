"""Profiles of classes (how many records have which sensitive value), counted by an engine.

A profile is how many records of a class have which value. Measures of classes look at nothing else,
so classes of the same profile come home as one: most classes are small, and there are few profiles
of small ones. An engine writes a profile as text, by codes of the values that it is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from divulge import work
from divulge.classes.relation.classes import list_columns
from divulge.classes.relation.frequencies import SampleView, weigh_sample
from divulge.classes.relation.record_view import join_names
from divulge.classes.relation.values import list_values
from divulge.classes.relation.weights import WEIGHT, WIDE
from divulge.work.arrays import Floats, Ints

if TYPE_CHECKING:
    import pyarrow as pa

    from divulge.data import Column, Relation

CODES = "secret_codes"
_ITEM, _PAIR = ";", ":"


@dataclass(frozen=True, kw_only=True)
class Profiles:
    """Entries of profiles: entry e says that profile `of_profile[e]` has `amount[e]` of a code.

    Entries are sorted by profile, then by code. `size` is how many records a class of each profile
    has, `classes` how many classes have it.
    """

    column: Column
    of_profile: Ints
    code: Ints
    amount: Floats
    size: Ints
    classes: Ints


def count_relation_profiles(
    relation: Relation, names: Sequence[str], attribute: str, nulls: str, *, weighed: bool
) -> Profiles:
    """The profiles of the classes; `weighed` counts the population for whom records stand."""
    column = list_values(relation, attribute).column
    sample = weigh_sample(relation) if weighed else None
    found = work.memoise(
        "relation-profiles",
        lambda: {
            "data": relation.fingerprint,
            "knows": sorted(names),
            "seeks": attribute,
            "nulls": nulls,
            "weighed": weighed,
        },
        lambda: _count_profiles(relation, names, attribute, nulls, column=column, sample=sample),
    )
    of_profile, code, amount = [], [], []
    for number, text in enumerate(map(str, found["profile"])):
        entries = sorted(
            (int(key), int(value))
            for key, value in (item.split(_PAIR) for item in text.split(_ITEM))
        )
        of_profile += [number] * len(entries)
        code += [key for key, _ in entries]
        amount += [value for _, value in entries]
    unit = Fraction(1) if sample is None else sample.unit
    return Profiles(
        column=column,
        of_profile=np.array(of_profile, np.int64),
        code=np.array(code, np.int64),
        amount=np.array([float(each / unit) for each in amount], np.float64),
        size=found["size"].astype(np.int64),
        classes=found["classes"].astype(np.int64),
    )


def _count_profiles(
    relation: Relation,
    names: Sequence[str],
    attribute: str,
    nulls: str,
    *,
    column: Column,
    sample: SampleView | None,
) -> dict[str, np.ndarray]:
    sql = _build_profile_query(
        list_columns(relation, names),
        relation.find_column(attribute),
        amount="1" if sample is None else WEIGHT,
        is_standard=nulls == "standard",
    )
    view = relation.open() if sample is None else sample.view.open()
    with work.step(f"Counting classes of {relation.subjects}"), view as session:
        session.register(CODES, _build_code_table(relation, attribute, column))
        found = session.table(sql)
    return {
        "profile": np.array(found.column("profile").to_pylist(), np.str_),
        "size": found.column("size").to_numpy(),
        "classes": found.column("classes").to_numpy(),
    }


def _build_code_table(relation: Relation, attribute: str, column: Column) -> pa.Table:
    """The values with their codes as text; a missing value has the code after the last."""
    import pyarrow as pa

    kind = relation.kinds[attribute]
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    values = [*column.values.to_pylist(), None]
    codes = [str(code) for code in range(len(values))]
    return pa.table({"secret": pa.array(values, plain), "code": pa.array(codes, pa.string())})


def _build_profile_query(
    known: Sequence[str], secret: str, *, amount: str, is_standard: bool
) -> str:
    both = join_names(dict.fromkeys([*known, secret]))
    missing = " OR ".join(f"{name} IS NULL" for name in known)
    whole = f"WHERE NOT ({missing})" if is_standard else ""
    text = f"concat(c.code, '{_PAIR}', CAST(CAST(j.w AS {WIDE}) AS VARCHAR))"
    joined = [f"j.{name}" for name in known]
    # A record with a missing value is a class of its own where it equals nothing else.
    own = f"r.{amount}" if amount == WEIGHT else amount
    single = f"concat(c.code, '{_PAIR}', CAST(CAST({own} AS {WIDE}) AS VARCHAR))"
    alone = f"""
        UNION ALL
        SELECT {single} AS profile, CAST(1 AS BIGINT) AS members
        FROM records AS r JOIN {CODES} AS c ON r.{secret} IS NOT DISTINCT FROM c.secret
        WHERE {" OR ".join(f"r.{name} IS NULL" for name in known)}
        """
    return f"""
        WITH joint AS (
            SELECT {both}, count(*) AS n, sum({amount}) AS w
            FROM records {whole} GROUP BY {both}
        ), classes AS (
            SELECT array_to_string(list_sort(array_agg({text})), '{_ITEM}') AS profile,
                   CAST(sum(j.n) AS BIGINT) AS members
            FROM joint AS j JOIN {CODES} AS c ON j.{secret} IS NOT DISTINCT FROM c.secret
            GROUP BY {join_names(joined)} {alone if is_standard else ""}
        )
        SELECT profile, members AS size, count(*) AS classes
        FROM classes GROUP BY profile, members ORDER BY profile, size
        """
