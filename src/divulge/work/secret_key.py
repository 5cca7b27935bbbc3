"""A secret key from which random choices are derived, each for one purpose.

Whoever protects the same data twice must not draw anew: two draws can be compared, and what one of
them hides the other shows.
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field
from hashlib import sha256

import numpy as np

from divulge.work.arrays import Ints

KEY_BYTES = 32


@dataclass(frozen=True)
class SecretKey:
    """A key of 32 bytes; what is derived from it for one purpose tells nothing of another.

    >>> sorted(SecretKey(bytes(32)).permute("order of people", 5).tolist())
    [0, 1, 2, 3, 4]
    """

    key: bytes = field(default_factory=lambda: secrets.token_bytes(KEY_BYTES), repr=False)

    @classmethod
    def from_text(cls, text: str) -> SecretKey:
        """The key of a text that nobody else knows, such as a digest of confidential data."""
        return cls(sha256(text.encode()).digest())

    def derive_key(self, purpose: str) -> bytes:
        """A key for one purpose (HMAC-SHA-256)."""
        return hmac.new(self.key, purpose.encode(), sha256).digest()

    def derive_seed(self, purpose: str) -> int:
        """A seed for one purpose, as a whole number of 63 bits."""
        return int.from_bytes(self.derive_key(purpose)[:8], "big") >> 1

    def permute(self, purpose: str, size: int) -> Ints:
        """An order of so many records that nobody without the key can tell."""
        # 128 bits of key: an order cannot be found by trying all seeds.
        key = int.from_bytes(self.derive_key(purpose)[:16], "big")
        return np.random.Generator(np.random.Philox(key=key)).permutation(size)
