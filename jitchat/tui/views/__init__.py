"""Views of a window: why it is so, what else it could be, and what it was. None sends by itself."""
