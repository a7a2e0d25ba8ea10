"""The rot lab: how answers in each mode change as the conversation grows."""
