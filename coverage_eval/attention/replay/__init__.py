"""A trained model's encoder and decoder replayed in NumPy."""
