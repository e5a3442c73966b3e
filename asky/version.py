"""The version of asky."""

__version__ = "0.1.0"
