"""Local recoding: coarser values record by record, nested from the top or by clusters."""
