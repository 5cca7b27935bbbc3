"""Before and after protection: what is known comes from the original, matches from the release.

The release is the original row by row, with values made coarser or suppressed. The adversary knows
a person's true values, knows how values were made coarser, and takes a suppressed value to match
anything. A person is singled out if one released record is left; a secret is inferred if all that
are left agree on it, and guessed by what most of them say (Alvim et al. 2022, Appendix D).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from divulge.assessment import Assessment, Chart, Sentence
from divulge.data import Column, Dataset
from divulge.engines import IntArray
from divulge.qif import PriorPosterior
from divulge.records import charts
from divulge.records.partition import Classes, Knowledge
from divulge.records.prior import success_before
from divulge.work import Problems


def attack_release(
    original: Dataset, release: Dataset, knows: list[str], seeks: list[str], model: str
) -> Assessment:
    """Attack a protected version with knowledge of the original."""
    _require_rows_alike(original, release, knows, seeks)
    known, hidden = _coarsened(original, release, knows)
    if seeks:
        [secret] = [Knowledge.of(release.columns[name]) for name in seeks[:1]]
        truth = _truth(original.columns[seeks[0]], release.columns[seeks[0]])
    else:
        secret, truth = Knowledge(np.zeros(original.rows, np.int64), 1), None
    people = Classes.all_alike(original.rows).refined([Knowledge(k, c) for k, c in known])
    counts = _matches(people, known, hidden, secret)
    matched = counts.sum(axis=1)[people.of_record]
    if truth is None:
        certain = matched == 1
        right = np.divide(1, matched, where=matched > 0, out=np.zeros(len(matched)))
    else:
        most = counts.max(axis=1)
        ties = (counts == most[:, None]).sum(axis=1)
        of_truth = np.where(truth >= 0, counts[people.of_record, truth], 0)
        certain = (of_truth == matched) & (matched > 0)
        right = ((of_truth == most[people.of_record]) & (of_truth > 0)) / ties[people.of_record]
    return _assessment(original, release, knows, seeks, model, certain, right)


def _matches(
    people: Classes,
    known: Sequence[tuple[IntArray, int]],
    hidden: npt.NDArray[np.bool_],
    secret: Knowledge,
) -> IntArray:
    """For each class of people, how many released records match it, by secret value.

    Released records are taken by which of their values are suppressed; on the others they must
    agree with what is known.
    """
    counts = np.zeros((people.number, secret.cardinality), np.int64)
    someone = np.zeros(people.number, np.int64)
    someone[people.of_record] = np.arange(len(people.of_record))
    patterns, of_record = np.unique(hidden, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        released = np.flatnonzero(of_record.reshape(-1) == number)
        visible = [Knowledge(*each) for each, gone in zip(known, pattern, strict=True) if not gone]
        classes = Classes.all_alike(len(people.of_record)).refined(visible)
        here = np.zeros((classes.number, secret.cardinality), np.int64)
        np.add.at(here, (classes.of_record[released], secret.codes[released]), 1)
        counts += here[classes.of_record[someone]]
    return counts


def _coarsened(
    original: Dataset, release: Dataset, knows: Sequence[str]
) -> tuple[list[tuple[IntArray, int]], npt.NDArray[np.bool_]]:
    """What is known, as coarse as it was released, and which released values are suppressed."""
    problems = Problems("attack")
    known, hidden = [], []
    for name in knows:
        before, after = original.columns[name], release.columns[name]
        gone = np.zeros(original.rows, bool)
        if after.has_missing:
            gone = after.codes == after.missing_code
            if before.has_missing:
                gone &= before.codes != before.missing_code
        # Where a value is released at all, it says what the original became.
        became = np.full(before.cardinality, -1, np.int64)
        became[before.codes[~gone]] = after.codes[~gone]
        if (became[before.codes[~gone]] != after.codes[~gone]).any():
            problems.add(
                "release",
                f'"{name}" was made coarser in some records and not in others that had the same '
                "value; what the release leaves open cannot be told from it alone.",
            )
        unseen = became < 0
        became[unseen] = after.cardinality + np.arange(int(unseen.sum()))
        known.append((became[before.codes], after.cardinality + int(unseen.sum())))
        hidden.append(gone)
    problems.raise_any()
    return known, np.column_stack(hidden)


def _truth(before: Column, after: Column) -> IntArray:
    """Each record's true secret as a code of the release; -1 if the release has no such value."""
    import pyarrow.compute as pc

    if before.values.type != after.values.type:
        return np.asarray(after.codes, np.int64)
    table = pc.index_in(before.values, value_set=after.values).fill_null(-1).to_numpy(
        zero_copy_only=False)  # fmt: skip
    missing = after.missing_code if after.has_missing else -1
    return np.append(table, missing).astype(np.int64)[before.codes]


def _require_rows_alike(
    original: Dataset, release: Dataset, knows: Sequence[str], seeks: Sequence[str]
) -> None:
    problems = Problems("attack")
    if original.rows != release.rows:
        problems.add(
            "release",
            f"has {release.rows:,} records and the original {original.rows:,}; give the protected "
            "version row by row (a removed record has all its values missing).",
        )
    for name in [*knows, *seeks]:
        if name not in release.names:
            problems.add("release", f'has no attribute "{name}".', name, release.names)
    if len(seeks) > 1:
        problems.add("seeks", "names several attributes; of a protected version, seek one.")
    problems.raise_any()


def _assessment(
    original: Dataset,
    release: Dataset,
    knows: list[str],
    seeks: list[str],
    model: str,
    certain: npt.NDArray[Any],
    right: npt.NDArray[Any],
) -> Assessment:
    rows = original.rows
    secret = seeks[0] if seeks else None
    before = {k: success_before(original, secret, k) * rows
              for k in ("deterministic", "probabilistic")}  # fmt: skip
    sure = PriorPosterior(round(before["deterministic"]), int(np.count_nonzero(certain)))
    guessed = PriorPosterior(before["probabilistic"], round(float(right.sum()), 9))
    values = {
        "knows": knows,
        "seeks": seeks,
        "subjects": original.subjects,
        "total": rows,
        "certain": sure.posterior,
        "certain_share": sure.posterior / rows,
        "right": guessed.posterior,
        "right_share": guessed.posterior / rows,
        "right_before": guessed.prior,
    }

    def chart() -> Chart:
        shares = [PriorPosterior(p.prior / rows, p.posterior / rows) for p in (sure, guessed)]
        return charts.before_and_after("What the protected release still tells", *shares)

    return Assessment.from_counts(
        attack="records",
        model=model,
        dataset=release.name,
        knows=tuple(knows),
        seeks=tuple(seeks),
        secrets=rows,
        subjects=original.subjects,
        claim="exact",
        certain=sure,
        right=guessed,
        sentences=(
            Sentence("divulge.records", "inferred" if seeks else "singled_out", values),
            Sentence("divulge.records", "guessed", values),
        ),
        _chart=chart,
        _risk=lambda: np.asarray(right, np.float64),
    )
