"""What limits ask of every record."""
