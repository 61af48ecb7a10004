"""One HTML file that a person reads: a template, its style and its script, and data put into it."""
