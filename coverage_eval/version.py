"""The version of the package, stated once; signatures and files name it."""

__version__ = "0.1.0"
