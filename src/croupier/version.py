"""The version of croupier."""

__version__ = "0.1.0"
