"""The sealed file of draws: a table that is released again shows the same pattern again.

Fresh draws of one table tell more together than each alone (`fresh_draws`). The file keeps the
secret seed and the pattern of every table that was drawn, under a keyed digest of the table: it
holds no cell. A seal over everything, made with the seed, shows an edit. Only its owner may read
it; whoever has it knows the draws.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from divulge.tables.candidate_tables.suppressor_parameters import SuppressorParameters
from divulge.tables.randomised.randomised_suppression import (
    PatternDraw,
    compute_fingerprint,
    draw_pattern,
)
from divulge.tables.table.table import Table
from divulge.work import InvalidInput, Problem, input_file, whole_file
from divulge.work.arrays import Bools

FORMAT = "divulge sealed draws 1"


@dataclass
class SealedDraws:
    """The draws that a seed has made so far, by table."""

    seed: int
    draws: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path | str) -> SealedDraws:
        """Read a sealed file.

        Raises:
            InvalidInput: if it is not one, or its seal is broken.
        """
        try:
            content = json.loads(input_file(path).read_text(encoding="utf-8"))
            has_format = content["format"] == FORMAT
            sealed_draws = cls(int(content["seed"]), dict(content["draws"]))
            seal = str(content["seal"])
            sealed_draws.compute_seal()  # a seed that is none has no key
            seal.encode("ascii")
        except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
            has_format, sealed_draws, seal = False, cls(0), ""
        if not has_format:
            raise InvalidInput(str(path), [Problem("", "is not a file of sealed draws.")])
        if not hmac.compare_digest(seal, sealed_draws.compute_seal()):
            message = "its seal is broken: it was changed after it was written. Restore a copy."
            raise InvalidInput(str(path), [Problem("seal", message)])
        return sealed_draws

    def write(self, path: Path | str) -> None:
        """Write the file, for its owner's eyes only; it appears whole or not."""
        content = {
            "format": FORMAT,
            "seed": str(self.seed),
            "draws": self.draws,
            "seal": self.compute_seal(),
        }
        with whole_file(path, overwrite=True, private=True) as part:
            part.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")

    def compute_seal(self) -> str:
        """A digest of all draws that only the seed can make."""
        text = json.dumps([str(self.seed), self.draws], sort_keys=True)
        return hmac.new(self._build_key(), text.encode(), hashlib.sha256).hexdigest()

    def name_table(self, table: Table, parameters: SuppressorParameters) -> str:
        """What the file calls a table: nothing that could be guessed from its cells."""
        text = f"name {compute_fingerprint(table, parameters)}"
        return hmac.new(self._build_key(), text.encode(), hashlib.sha256).hexdigest()

    def _build_key(self) -> bytes:
        return self.seed.to_bytes(32, "big", signed=True)


def draw_sealed_pattern(
    table: Table, parameters: SuppressorParameters, seed: int | None, path: Path | str | None
) -> tuple[PatternDraw, int]:
    """The pattern that the file keeps for this table; or a new one, which it then keeps.

    Without a seed, a secret one is drawn (and kept in the file). Gives the draw and the seed.
    """
    sealed_draws = None
    if path is not None and Path(path).exists():
        sealed_draws = SealedDraws.read(path)
        if seed is not None and seed != sealed_draws.seed:
            message = "is not the seed of this file; leave it out, or take another file."
            raise InvalidInput(str(path), [Problem("seed", message)])
    if sealed_draws is None:
        sealed_draws = SealedDraws(secrets.randbits(128) if seed is None else seed)
    name = sealed_draws.name_table(table, parameters)
    if name in sealed_draws.draws:
        record = sealed_draws.draws[name]
        return PatternDraw(
            _parse_pattern(record["pattern"], table), int(record["draws"])
        ), sealed_draws.seed
    draw = draw_pattern(table, parameters, sealed_draws.seed)
    if path is not None:
        text = "".join("01"[int(hidden)] for hidden in draw.pattern)
        sealed_draws.draws[name] = {"draws": draw.draws, "pattern": text}
        sealed_draws.write(path)
    return draw, sealed_draws.seed


def _parse_pattern(text: str, table: Table) -> Bools:
    pattern: Bools = np.array([letter == "1" for letter in text], dtype=bool)
    if len(pattern) != table.structure.size:
        raise InvalidInput("sealed draws", [Problem("", "contain a pattern of another shape.")])
    return pattern
