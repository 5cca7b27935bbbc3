"""Text files: how fields are cut and quoted, what their values are, and how they are written."""
