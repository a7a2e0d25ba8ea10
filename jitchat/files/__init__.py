"""Reading files that are attached: what may be, what their text is, and where it is cut."""
