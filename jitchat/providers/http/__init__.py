"""The loop around every wire protocol: requests over httpx, bytes back into pieces."""
