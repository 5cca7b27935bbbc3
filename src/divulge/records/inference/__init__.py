"""What an adversary guesses within classes: secrets, gains, priors, each record."""
