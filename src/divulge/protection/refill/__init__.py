"""The refill attack: suppressed cells read from what the release still shows."""
