"""The rot lab: how answers fare in each mode as the conversation grows."""
