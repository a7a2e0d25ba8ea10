"""The cold store: what was said, sent, answered and learnt, in one SQLite database."""
