"""First guesses and mistakes of new users, and what must happen."""
