"""What is proposed from the data alone: roles of attributes, hierarchies, and weights."""
