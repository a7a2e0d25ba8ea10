-- Every window that was sent; its parts are stored once, by their hash.

CREATE TABLE blobs (digest TEXT PRIMARY KEY, content TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE windows (
    id INTEGER PRIMARY KEY,
    turn INTEGER NOT NULL REFERENCES turns(id),
    reply INTEGER REFERENCES turns(id),
    digest TEXT NOT NULL,
    header TEXT NOT NULL,
    segments TEXT NOT NULL,
    ledger TEXT NOT NULL,
    input_tokens INTEGER,
    output_tokens INTEGER,
    cached_tokens INTEGER
);

CREATE INDEX windows_by_turn ON windows (turn);
