"""What is asked and what is found, in whole numbers: packages, bins, intervals, solutions."""
