"""Import and export conversations; one module per format."""
