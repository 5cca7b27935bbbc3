"""The matching attack on suppressed tables."""
