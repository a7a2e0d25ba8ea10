"""Conversations in from files, one module a format."""
