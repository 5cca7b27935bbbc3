"""The cycle: measure the risk, change a little, measure again, until all limits hold."""
