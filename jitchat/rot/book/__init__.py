"""The facts that are planted, a file a kind."""
