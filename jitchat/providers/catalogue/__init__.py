"""Which providers and models there are, how much they take, and what they cost."""
