"""The cold store, which keeps everything, and the hot index, which knows what exists."""
