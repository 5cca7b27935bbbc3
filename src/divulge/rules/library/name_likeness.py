"""The plug-in `#similar(A, B, S)`: how alike the names of two attributes are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from divulge.rules.plugin_atoms import plugin

if TYPE_CHECKING:
    import pyarrow as pa


@plugin("similar", inputs=["text", "text"], outputs=["number"])
def measure_likeness(names: pa.Array, others: pa.Array) -> list[float | None]:
    """How alike pairs of names are, from 0 to 1; no answer for those that are not alike enough.

    >>> import pyarrow as pa
    >>> measure_likeness(pa.array(["birthDate", "Id"]), pa.array(["date of birth", "income"]))
    [0.95, None]
    """
    from divulge.data import tuning
    from divulge.data.proposals.name_similarity import measure_similarity

    degrees = (
        0.0 if name is None or other is None else measure_similarity(name, other)
        for name, other in zip(names.to_pylist(), others.to_pylist(), strict=True)
    )
    return [degree if degree >= tuning.SIMILARITY_THRESHOLD else None for degree in degrees]
