"""The older place of `value_texts`, for the packages that still look here."""

from divulge.data.value_texts import format_value, match_value_texts

__all__ = ["format_value", "match_value_texts"]
