"""Tables: axes, relations, cells, what is published of them, and their files."""
