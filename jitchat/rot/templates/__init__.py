"""Templates of talk: how they are written, read, kept free of words, and said."""
