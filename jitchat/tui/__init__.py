"""The terminal app. It watches the session's events and draws the window that was built."""
