"""The tools that a model can call, their approval, and how much of a result enters the window."""
