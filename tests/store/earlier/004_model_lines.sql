-- Index lines that a model wrote; those of `index_entries` stay beside them.

CREATE TABLE model_lines (
    turn INTEGER PRIMARY KEY REFERENCES turns(id),
    model TEXT NOT NULL,
    line TEXT NOT NULL
);
