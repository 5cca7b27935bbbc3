"""What the sums of a published table tell of its suppressed cells."""
