"""The HTTP provider for every wire protocol: requests over httpx, decoding of answers."""
