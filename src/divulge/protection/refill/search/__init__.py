"""The search for relations between columns, and the hidden cells that they tell: on integers."""
