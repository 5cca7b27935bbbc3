"""Value patterns that suggest a role: shapes, uniqueness, combinations that single out.

They never say a value: a sign names the attribute and the share of records that show it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from divulge.data import tuning
from divulge.data.column import Column
from divulge.data.dataset import Dataset
from divulge.data.dictionary import Role
from divulge.data.proposals.check_digits import CHECKED_NUMBERS
from divulge.data.proposals.role_evidence import RoleEvidence
from divulge.data.proposals.value_vocabulary import find_vocabulary_evidence

if TYPE_CHECKING:
    import pyarrow as pa

MAX_COMBINATIONS = 10

# What whole values look like, and what they then probably are. The first that fits nearly all
# decides.
_SHAPES: tuple[tuple[str, Role, str], ...] = (
    ("e-mail addresses", "identifier", r"[^@\t\n\f\r ]+@[^@\t\n\f\r ]+\.[A-Za-z]{2,}"),
    (
        "universally unique identifiers",
        "identifier",
        r"[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}",
    ),
    ("bank account numbers (IBAN)", "identifier", r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}"),
    ("Italian fiscal codes", "identifier", r"[A-Z]{6}[0-9]{2}[A-Z][0-9]{2}[A-Z][0-9]{3}[A-Z]"),
    ("Brazilian tax numbers", "identifier", r"([0-9]{3}\.){2}[0-9]{3}-[0-9]{2}"),
    ("telephone numbers", "identifier", r"\+[0-9]{1,3}[ 0-9()/-]{6,}"),
    ("internet addresses", "identifier", r"([0-9]{1,3}\.){3}[0-9]{1,3}"),
    ("British postcodes", "quasi_identifier", r"[A-Z]{1,2}[0-9][A-Z0-9]? ?[0-9][A-Z]{2}"),
    ("Brazilian or Portuguese postcodes", "quasi_identifier", r"[0-9]{4,5}-[0-9]{3}"),
    ("postcodes", "quasi_identifier", r"[0-9]{5}"),
    ("web addresses", "identifier", r"https?://.+"),
    ("dates", "quasi_identifier", r"[0-9]{1,2}[./-][0-9]{1,2}[./-]([0-9]{4}|[0-9]{2})"),
    ("sums of money", "sensitive", r"-?(€|\$|£|R\$)[\t\n\f\r ]?[0-9][0-9.,]*"),
    ("sums of money", "sensitive", r"-?[0-9][0-9.,]*[\t\n\f\r ]?(€|\$|£|EUR|USD|BRL|GBP|CHF)"),
)  # fmt: skip


@dataclass(frozen=True)
class Combination:
    """A few attributes that together single out many records."""

    attributes: tuple[str, ...]
    share: float
    of_a_sample: bool

    def to_dict(self) -> dict[str, Any]:
        """The combination as plain values."""
        return {
            "attributes": list(self.attributes),
            "share": self.share,
            "of_a_sample": self.of_a_sample,
        }

    def __str__(self) -> str:
        names = " and ".join(f'"{name}"' for name in self.attributes)
        among = f"{tuning.MAX_SAMPLED_RECORDS:,} records" if self.of_a_sample else "the records"
        return f"{names} together single out {self.share:.0%} of {among}"


def find_role_evidence(dataset: Dataset, name: str) -> list[RoleEvidence]:
    """What an attribute's values show.

    >>> import pyarrow as pa
    >>> numbered = Dataset.from_arrow(pa.table({"n": list(range(1000))}))
    >>> [sign.role for sign in find_role_evidence(numbered, "n")]
    ['identifier']
    """
    column = dataset.columns[name]
    evidence = []
    shape = _find_shape_evidence(column.values)
    if shape is not None:
        evidence.append(shape)
    unique = _find_uniqueness_evidence(column)
    if unique is not None and (shape is None or shape.role != "identifier"):
        evidence.append(unique)
    return evidence


def find_singling_combinations(
    dataset: Dataset, names: Sequence[str], share: float = tuning.MIN_SINGLED_OUT_SHARE
) -> list[Combination]:
    """Pairs and triples that single out at least a share of the records; the smallest only.

    Large data are looked at through evenly spaced records, which makes the shares too high, so
    they are signs and no assessment.

    >>> import divulge as dv
    >>> census = dv.datasets.school_census(1000)
    >>> names = ["day_of_birth", "month_of_birth", "gender"]
    >>> [c.attributes for c in find_singling_combinations(census, names)]
    [('day_of_birth', 'month_of_birth', 'gender')]
    """
    if dataset.rows < tuning.MIN_RECORDS_TO_COMBINE:
        return []
    usable = [n for n in names if _may_combine(dataset.columns[n])][
        : tuning.MAX_COMBINED_ATTRIBUTES
    ]
    step = max(1, dataset.rows // tuning.MAX_SAMPLED_RECORDS)
    sampled_rows = slice(None, None, step)
    codes = {n: dataset.columns[n].codes[sampled_rows].astype(np.int64) for n in usable}
    combinations: list[Combination] = []
    for size in (2, 3):
        for attributes in itertools.combinations(usable, size):
            if any(set(smaller.attributes) <= set(attributes) for smaller in combinations):
                continue
            unique_share = _compute_unique_share([codes[n] for n in attributes])
            if unique_share >= share:
                combinations.append(Combination(attributes, unique_share, step > 1))
    combinations.sort(key=lambda c: (len(c.attributes), -c.share))
    return combinations[:MAX_COMBINATIONS]


def _compute_unique_share(columns: Sequence[npt.NDArray[np.int64]]) -> float:
    """The share of records whose combination no other has."""
    combined = columns[0]
    for codes in columns[1:]:
        combined = combined * (int(codes.max(initial=0)) + 1) + codes
        # Renumbered, so that the next step cannot run over.
        combined = np.unique(combined, return_inverse=True)[1]
    sizes = np.bincount(combined)
    return float(np.count_nonzero(sizes == 1) / max(1, len(combined)))


def _may_combine(column: Column) -> bool:
    """A constant tells nothing; what is unique by itself is a sign of its own."""
    return column.cardinality > 1 and not _is_nearly_unique(column)


def _is_nearly_unique(column: Column) -> bool:
    rows = len(column.codes)
    return (
        rows >= tuning.MIN_RECORDS_FOR_UNIQUENESS
        and len(column.values) >= tuning.NEARLY_ALL_SHARE * rows
    )


def _find_uniqueness_evidence(column: Column) -> RoleEvidence | None:
    import pyarrow as pa

    if not _is_nearly_unique(column):
        return None
    # Measures such as amounts are often unique by their decimals: no mark of identity.
    if pa.types.is_floating(column.values.type) or pa.types.is_decimal(column.values.type):
        return None
    if pa.types.is_integer(column.values.type) and not _is_numbering(column):
        return None
    is_unique = len(column.values) == len(column.codes)
    records = (
        "every record" if is_unique else f"{len(column.values) / len(column.codes):.0%} of records"
    )
    return RoleEvidence("identifier", f"{records} has a value of its own", "identity")


def _is_numbering(column: Column) -> bool:
    """Whether whole numbers that nearly all differ number the records, rather than measure them.

    Numbers that were given out lie close together, rise with the records, or have as many digits
    each; those of amounts are far apart, in any order, of any length.
    """
    lowest, highest = column.values[0].as_py(), column.values[-1].as_py()
    if highest - lowest < tuning.NUMBERING_SPREAD * len(column.values):
        return True
    present = column.codes[column.codes < len(column.values)]
    if bool(np.all(present[1:] > present[:-1])):
        return True
    return lowest >= tuning.LEAST_LONG_NUMBER and len(str(lowest)) == len(str(highest))


def _find_shape_evidence(values: pa.Array) -> RoleEvidence | None:
    import pyarrow as pa

    if len(values) < 2:
        return None
    kind = values.type
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return RoleEvidence("quasi_identifier", "its values are dates", "birth")
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return None
    # Distinct values are sorted: evenly spaced ones, for the first may be of one kind.
    step = max(1, len(values) // tuning.MAX_SAMPLED_VALUES)
    sampled_values = values.to_pylist()[::step] if step > 1 else values.to_pylist()
    for what, is_checked in CHECKED_NUMBERS.items():
        if _is_nearly_all(is_checked, sampled_values) and len(values) >= tuning.MIN_CHECKED_NUMBERS:
            reason = f"its values are {what}: their check digits are right"
            return RoleEvidence("identifier", reason, "identity", is_sure=True)
    vocabulary = find_vocabulary_evidence(sampled_values)
    if vocabulary is not None:
        return vocabulary
    if _is_free_text(sampled_values):
        return RoleEvidence("identifier", "its values are texts, which may name people", "identity")
    for what, role, pattern in _SHAPES:
        if _has_shape(pattern, sampled_values):
            return RoleEvidence(role, f"its values look like {what}")
    return None


def _has_shape(pattern: str, texts: Sequence[str]) -> bool:
    """Whether so many match."""
    fits = re.compile(pattern).fullmatch
    return _is_nearly_all(lambda text: fits(text) is not None, texts)


def _is_nearly_all(is_kind: Callable[[str], bool], texts: Sequence[str]) -> bool:
    """Whether so many are; it is over as soon as too many are not, mostly at the first."""
    possible_matches = len(texts)
    for text in texts:
        if not is_kind(text):
            possible_matches -= 1
            if possible_matches < tuning.NEARLY_ALL_SHARE * len(texts):
                return False
    return True


def _is_free_text(texts: Sequence[str]) -> bool:
    """Whether values are sentences: many, and mostly of several words."""
    if len(texts) < tuning.MIN_FREE_TEXTS:
        return False
    words = sorted(text.count(" ") + 1 for text in texts)
    return words[len(words) // 2] >= tuning.FREE_TEXT_WORDS
