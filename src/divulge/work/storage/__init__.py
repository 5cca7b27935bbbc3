"""Where results are kept: one door to every change of a file, and sets that are whole or absent."""
