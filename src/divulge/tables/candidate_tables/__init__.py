"""What somebody knows who knows the suppressor: candidate tables, and which it would release."""
