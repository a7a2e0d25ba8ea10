"""The cold store: turns, windows, replies and what was learnt of models, in a SQLite database."""
