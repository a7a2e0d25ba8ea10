"""The dialogs, one per file."""
