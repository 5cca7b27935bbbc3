"""What is known of a program before it runs: what is wrong with it, and how to carry it out."""
