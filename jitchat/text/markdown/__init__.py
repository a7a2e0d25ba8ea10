"""Markdown as models write it: its blocks and what is to be read of them, with their offsets."""
