"""What is written of turns for later windows: built in and extractive, or by a model."""
