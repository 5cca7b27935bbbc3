"""How many allocations there are: a dynamic program over bins, and two bins at once."""
