"""A request as it is written: the pieces that a model reads, in order."""
