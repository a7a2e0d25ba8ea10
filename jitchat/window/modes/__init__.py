"""One planner a mode: `choose` in the module of the mode's name takes `Parts`, gives a `Choice`."""
