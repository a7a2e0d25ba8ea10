"""The chat screen, and its controllers: each with its own state."""
