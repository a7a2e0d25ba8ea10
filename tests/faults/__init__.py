"""What must never happen, provoked. Few rounds by default, many with --long."""
