"""Special uniques: the smallest sets of attributes on which a record stands alone (SUDA)."""
