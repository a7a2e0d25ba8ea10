"""The views of a window."""
