"""Data frames of R: files written by saveRDS."""
