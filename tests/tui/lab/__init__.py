"""The rot lab on screen."""
