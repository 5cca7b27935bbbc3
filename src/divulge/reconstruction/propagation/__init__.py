"""What is excluded without any search."""
