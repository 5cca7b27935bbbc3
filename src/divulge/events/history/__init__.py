"""Event histories: who did what when, read, ordered, and described."""
