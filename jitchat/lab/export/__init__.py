"""A run as a file: JSON, CSV, a picture as SVG and as plain text."""
