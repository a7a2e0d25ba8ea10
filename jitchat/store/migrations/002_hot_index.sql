-- One index entry a turn, and its vectors, one an embedder.

CREATE TABLE index_entries (
    turn INTEGER PRIMARY KEY REFERENCES turns(id),
    summary TEXT NOT NULL,
    entities TEXT NOT NULL,
    dates TEXT NOT NULL,
    decision INTEGER NOT NULL,
    stems TEXT NOT NULL
);

CREATE TABLE vectors (
    turn INTEGER NOT NULL REFERENCES turns(id),
    embedder TEXT NOT NULL,
    dimension INTEGER NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (turn, embedder)
) WITHOUT ROWID;
