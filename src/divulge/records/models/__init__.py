"""Whom an attack is about: everybody, one person, or whether somebody is there at all."""
