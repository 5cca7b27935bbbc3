"""What a protection gives: data, audit, utility, charts."""
