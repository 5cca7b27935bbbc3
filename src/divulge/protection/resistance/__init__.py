"""What attackers refill of a protection: which columns tell, and who is at risk then."""
