"""What turns text into vectors, and where its model comes from."""
