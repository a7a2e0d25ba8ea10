"""A terminal chat that shows, live, what is inside the context window."""

__version__ = "0.2.0.dev0"
