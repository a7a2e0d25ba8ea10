"""What is asked or shown over a screen, one dialog a file."""
