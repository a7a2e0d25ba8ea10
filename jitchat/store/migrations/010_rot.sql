-- A run of the rot lab, in a store of its own: its settings, and what came of its cells.

CREATE TABLE rot_run (id INTEGER PRIMARY KEY CHECK (id = 1), fields TEXT NOT NULL);

CREATE TABLE rot_cells (
    id INTEGER PRIMARY KEY,
    cell TEXT NOT NULL UNIQUE,
    window INTEGER REFERENCES windows(id),
    fields TEXT NOT NULL
);
