-- The kinds of turns, before they were added in a step of their own.

CREATE TABLE index_entries (
    turn INTEGER PRIMARY KEY REFERENCES turns(id),
    summary TEXT NOT NULL,
    entities TEXT NOT NULL,
    dates TEXT NOT NULL,
    decision INTEGER NOT NULL,
    asks INTEGER NOT NULL,
    tells_when INTEGER NOT NULL,
    disclaims INTEGER NOT NULL,
    stems TEXT NOT NULL
);

CREATE TABLE vectors (
    turn INTEGER NOT NULL REFERENCES turns(id),
    embedder TEXT NOT NULL,
    dimension INTEGER NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (turn, embedder)
) WITHOUT ROWID;
