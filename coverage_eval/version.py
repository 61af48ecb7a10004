"""The version of the package, stated once; signatures and files name it."""

__all__ = ["__version__"]

__version__ = "0.1.0"
