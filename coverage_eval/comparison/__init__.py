"""Several systems on one test set: scores, intervals, tests, and where they differ."""
