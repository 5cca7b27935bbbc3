"""All tables of totals: what they tell alone, of each other, phase by phase."""
