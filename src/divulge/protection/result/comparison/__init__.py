"""What protection changed, variable by variable: distributions, moments and a regression."""
