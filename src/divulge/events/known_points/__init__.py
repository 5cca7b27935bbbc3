"""Knowledge of several points of a history."""
