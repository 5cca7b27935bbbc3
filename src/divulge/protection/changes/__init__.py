"""What is changed, cell by cell, and the log of decisions."""
