-- What is kept of a send beside its window; what the user decided about turns.

ALTER TABLE windows ADD COLUMN sizes TEXT;

ALTER TABLE windows ADD COLUMN request TEXT;

ALTER TABLE windows ADD COLUMN sent_at TEXT;

CREATE TABLE held_turns (
    turn INTEGER PRIMARY KEY REFERENCES turns(id),
    hold TEXT NOT NULL CHECK (hold IN ('pinned', 'excluded'))
);

CREATE TABLE cases (
    id INTEGER PRIMARY KEY,
    said INTEGER NOT NULL REFERENCES turns(id),
    wanted INTEGER NOT NULL REFERENCES turns(id),
    kind TEXT NOT NULL CHECK (kind IN ('miss', 'kept')),
    window INTEGER REFERENCES windows(id),
    noted_at TEXT NOT NULL,
    UNIQUE (said, wanted)
);
