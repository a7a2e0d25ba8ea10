"""Benchmarks of the app on labelled conversations, through the code that the app runs."""
