"""The audit of minimality: what an adversary who knows the method can exclude."""
