"""The language of rules: from the text of a program to its syntax tree, and back."""
