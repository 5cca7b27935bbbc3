"""Rules in a release: which files it names, what follows from them, and what that decides."""
