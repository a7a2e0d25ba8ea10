"""The rot lab on screen: choosing a run, watching it, looking into each answer, comparing two."""
