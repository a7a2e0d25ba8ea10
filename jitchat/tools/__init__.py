"""What a model may call, who allows it, and how much of what comes back enters the window."""
