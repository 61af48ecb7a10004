"""What each score sees of errors that people marked, or that were put into a text."""
