"""Reading attached files: which are accepted, their text, and how it is split."""
