"""One planner per mode: `choose` in each mode's module takes `Parts` and returns a `Choice`."""
