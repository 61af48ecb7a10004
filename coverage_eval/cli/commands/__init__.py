"""The commands, one file each; those of single metrics are made from the metrics in ``score``."""
