"""What is printed of scores and evidence, and in which formats; nothing is computed here."""
