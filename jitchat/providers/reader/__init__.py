"""`reader`: the embedded provider, and how it finds its answers."""
