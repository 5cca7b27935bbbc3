"""Recoding: levels of whole attributes with the least loss, or coarser values record by record."""
