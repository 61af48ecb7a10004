"""Tables as values, and their forms for people and programs: one file an output format."""
