"""What an attacker knows of events: facets, and how they are drawn."""
