-- Keep vectors in rows: without a rowid, SQLite gives a page of its own to each large one.

CREATE TABLE vectors_in_rows (
    turn INTEGER NOT NULL REFERENCES turns(id),
    embedder TEXT NOT NULL,
    dimension INTEGER NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (turn, embedder)
);

INSERT INTO vectors_in_rows SELECT * FROM vectors ORDER BY turn;

DROP TABLE vectors;

ALTER TABLE vectors_in_rows RENAME TO vectors;
