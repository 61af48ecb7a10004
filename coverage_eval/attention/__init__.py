"""Reference NumPy implementation of the attention transformations and of the attention step."""
