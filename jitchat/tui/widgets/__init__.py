"""The chat's own widgets: one datum each, attributes down, messages up."""
