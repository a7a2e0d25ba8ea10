"""Wire protocols: pure translations of a window into a request, and of a stream into deltas."""
