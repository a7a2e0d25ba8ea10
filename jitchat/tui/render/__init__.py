"""Draws a reply as lines with `render(text, look)`, a pure function; reads and grows lines."""
