"""Hierarchies of values: by table, rule or number; read, proposed and shown."""
