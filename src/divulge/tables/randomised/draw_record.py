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

from divulge.tables.knowledge.suppressor_knowledge import Parameters
from divulge.tables.randomised.randomised_suppression import Drawn, draw_pattern, fingerprint
from divulge.tables.table.structure import BoolArray
from divulge.tables.table.table import Table
from divulge.work import InvalidInput, Problem, input_file, whole_file

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
            known = content["format"] == FORMAT
            sealed = cls(int(content["seed"]), dict(content["draws"]))
            seal = str(content["seal"])
            sealed.seal()  # a seed that is none has no key
            seal.encode("ascii")
        except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
            known, sealed, seal = False, cls(0), ""
        if not known:
            raise InvalidInput(str(path), [Problem("", "is not a file of sealed draws.")])
        if not hmac.compare_digest(seal, sealed.seal()):
            message = "its seal is broken: it was changed after it was written. Restore a copy."
            raise InvalidInput(str(path), [Problem("seal", message)])
        return sealed

    def write(self, path: Path | str) -> None:
        """Write the file, for its owner's eyes only; it appears whole or not."""
        content = {
            "format": FORMAT,
            "seed": str(self.seed),
            "draws": self.draws,
            "seal": self.seal(),
        }
        with whole_file(path, overwrite=True, private=True) as part:
            part.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")

    def seal(self) -> str:
        """A digest of all draws that only the seed can make."""
        text = json.dumps([str(self.seed), self.draws], sort_keys=True)
        return hmac.new(self._key(), text.encode(), hashlib.sha256).hexdigest()

    def name(self, table: Table, parameters: Parameters) -> str:
        """What the file calls a table: nothing that could be guessed from its cells."""
        told = f"name {fingerprint(table, parameters)}"
        return hmac.new(self._key(), told.encode(), hashlib.sha256).hexdigest()

    def _key(self) -> bytes:
        return self.seed.to_bytes(32, "big", signed=True)


def sealed_pattern(
    table: Table, parameters: Parameters, seed: int | None, path: Path | str | None
) -> tuple[Drawn, int]:
    """The pattern that the file keeps for this table; or a new one, which it then keeps.

    Without a seed, a secret one is drawn (and kept in the file). Gives the draw and the seed.
    """
    sealed = None
    if path is not None and Path(path).exists():
        sealed = SealedDraws.read(path)
        if seed is not None and seed != sealed.seed:
            message = "is not the seed of this file; leave it out, or take another file."
            raise InvalidInput(str(path), [Problem("seed", message)])
    if sealed is None:
        sealed = SealedDraws(secrets.randbits(128) if seed is None else seed)
    name = sealed.name(table, parameters)
    if name in sealed.draws:
        kept = sealed.draws[name]
        return Drawn(_pattern(kept["pattern"], table), int(kept["draws"])), sealed.seed
    drawn = draw_pattern(table, parameters, sealed.seed)
    if path is not None:
        text = "".join("01"[int(hidden)] for hidden in drawn.pattern)
        sealed.draws[name] = {"draws": drawn.draws, "pattern": text}
        sealed.write(path)
    return drawn, sealed.seed


def _pattern(text: str, table: Table) -> BoolArray:
    found: BoolArray = np.array([letter == "1" for letter in text], dtype=bool)
    if len(found) != table.structure.size:
        raise InvalidInput("sealed draws", [Problem("", "hold a pattern of another shape.")])
    return found
