"""The hot index: one entry a turn, and how the turns that a draft needs are found by them."""
