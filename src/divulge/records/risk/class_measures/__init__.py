"""Measures of classes of records that look alike: k-anonymity, l-diversity, t-closeness."""
