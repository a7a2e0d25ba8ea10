"""What is talked about, a file for a few subjects."""
