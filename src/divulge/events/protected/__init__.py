"""Whom knowledge fits in a protected release, where hidden and coarser values are maybe."""
