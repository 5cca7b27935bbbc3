"""Local suppression: cells hidden one by one or class by class, and how few suffice."""
