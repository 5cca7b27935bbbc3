"""What a protected release writes, and what a rerun or a revision reads back from it."""
