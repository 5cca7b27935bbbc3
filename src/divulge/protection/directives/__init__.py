"""What people who know the business say must be done or left."""
