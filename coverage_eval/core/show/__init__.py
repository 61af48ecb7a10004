"""Tables as values, and their forms for people and programs."""
