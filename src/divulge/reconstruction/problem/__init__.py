"""The problem and its results in whole numbers: packages, bins, intervals, solutions."""
