"""Protection of event histories."""
