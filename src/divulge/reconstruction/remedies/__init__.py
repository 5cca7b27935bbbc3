"""What would help against the attack, and what it costs."""
