"""Check digits: numbers that cannot be a chance, because one digit in them follows from the rest.

IBAN by ISO 13616 (modulo 97), payment cards by Luhn's sum, Brazilian CPF by its two sums modulo
11, Italian fiscal codes by their letter of control. A column nearly all of whose values meet the
rule is what it looks like: at random one in 97, in 10, in 100 or in 26 would.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
# What a character in an odd place adds to the sum of an Italian fiscal code.
_ODD_PLACES = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25,
               24, 23)  # fmt: skip


def is_iban(text: str) -> bool:
    """Whether a text is an international bank account number.

    >>> is_iban("GB82 WEST 1234 5698 7654 32"), is_iban("GB83 WEST 1234 5698 7654 32")
    (True, False)
    """
    compact = re.sub(r"[\s-]", "", text)
    if not re.fullmatch(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}", compact):
        return False
    digits = "".join(str(int(character, 36)) for character in compact[4:] + compact[:4])
    return int(digits) % 97 == 1


def is_card_number(text: str) -> bool:
    """Whether a text is the number of a payment card.

    >>> is_card_number("4111 1111 1111 1111"), is_card_number("4111 1111 1111 1112")
    (True, False)
    """
    compact = re.sub(r"[\s-]", "", text)
    if not re.fullmatch(r"[0-9]{13,19}", compact):
        return False
    doubled = [sum(divmod(2 * int(digit), 10)) for digit in compact[-2::-2]]
    return (sum(doubled) + sum(int(digit) for digit in compact[::-2])) % 10 == 0


def is_cpf(text: str) -> bool:
    """Whether a text is a Brazilian tax number of a person.

    >>> is_cpf("529.982.247-25"), is_cpf("529.982.247-26")
    (True, False)
    """
    if not re.fullmatch(r"[0-9]{3}\.?[0-9]{3}\.?[0-9]{3}-?[0-9]{2}", text):
        return False
    digits = [int(character) for character in text if character.isdigit()]
    return len(set(digits)) > 1 and all(
        _compute_cpf_digit(digits[:length]) == digits[length] for length in (9, 10)
    )


def is_fiscal_code(text: str) -> bool:
    """Whether a text is an Italian fiscal code.

    >>> is_fiscal_code("RSSMRA85T10A562S"), is_fiscal_code("RSSMRA85T10A562T")
    (True, False)
    """
    if not re.fullmatch(r"[A-Z]{6}[0-9]{2}[A-Z][0-9]{2}[A-Z][0-9]{3}[A-Z]", text):
        return False
    values = [int(c) if c.isdigit() else _LETTERS.index(c) for c in text[:15]]
    total = sum(_ODD_PLACES[v] if place % 2 == 0 else v for place, v in enumerate(values))
    return _LETTERS[total % 26] == text[15]


def _compute_cpf_digit(digits: Sequence[int]) -> int:
    weights = range(len(digits) + 1, 1, -1)
    rest = sum(w * d for w, d in zip(weights, digits, strict=True)) * 10 % 11
    return rest % 10


CHECKED_NUMBERS: Mapping[str, Callable[[str], bool]] = {
    "bank account numbers (IBAN)": is_iban,
    "numbers of payment cards": is_card_number,
    "Brazilian tax numbers": is_cpf,
    "Italian fiscal codes": is_fiscal_code,
}
"""What is recognised by its check digits, and by what."""
