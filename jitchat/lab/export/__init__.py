"""A run as a file: JSON, or a page of HTML."""
