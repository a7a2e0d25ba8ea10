"""Reading an answer: what it says, and whether it says so of what was asked."""
