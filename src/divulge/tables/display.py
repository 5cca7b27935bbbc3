"""How a table looks: rows of text, with the kinds of its cells seen at a glance."""

from __future__ import annotations

from collections.abc import Sequence

from divulge.tables.structure import Structure


def rows_of(structure: Structure, texts: Sequence[str]) -> list[list[str]]:
    """A head and one row a code of the first dimensions; the last dimension goes across."""
    axes, numbers = structure.grids[0], structure.numbers[0]
    head = [" x ".join(axis.name for axis in axes[:-1]) or axes[-1].name, *axes[-1].codes]
    lines = numbers.reshape(-1, axes[-1].size)
    starts = [""]
    for axis in axes[:-1]:
        starts = [f"{start} {code}".strip() for start in starts for code in axis.codes]
    return [
        head,
        *(
            [start, *(texts[cell] for cell in line)]
            for start, line in zip(starts, lines.tolist(), strict=True)
        ),
    ]
