"""The twelve models on records that stay where they are: an engine counts, the figures are ours."""
