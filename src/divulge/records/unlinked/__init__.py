"""Years that no id links: who of one year may be who of the next, and what that tells."""
