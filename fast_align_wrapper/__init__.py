"""Word alignment with a compiled fast_align: train, align, save, load."""
