"""Documents whose lines do not match: outputs are put on the lines of their source."""
