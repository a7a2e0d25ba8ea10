"""A terminal chat that shows, live, what is inside the context window."""

__version__ = "0.1.0"
