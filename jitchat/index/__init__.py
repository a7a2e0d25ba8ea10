"""The hot index: one entry per turn, and the search that finds the turns a draft needs."""
