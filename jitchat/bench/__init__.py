"""Measuring the app against labelled conversations, through the code that the app runs."""
