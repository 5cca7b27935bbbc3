"""What becomes of each hidden cell: told, told rightly, or guessed; counted and drawn."""
