"""The version, in the one place that everything reads."""

__version__ = "0.2.0"
