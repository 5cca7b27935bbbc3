"""Links between records and the clusters that they make: whose risk spreads to others."""
