-- Files that came with turns. What they hold is kept once, by the SHA-256 of its bytes, with the parts that its text was
-- cut into; what no turn has any more is deleted with the last turn that had it. `path` and `modified_at` tell whether the
-- file has changed since.

CREATE TABLE attachments (
    digest TEXT PRIMARY KEY,
    media_type TEXT NOT NULL,
    width INTEGER,
    height INTEGER,
    content BLOB NOT NULL
);

CREATE TABLE attachment_parts (
    digest TEXT NOT NULL REFERENCES attachments(digest) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    locator TEXT NOT NULL,
    head TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (digest, number)
) WITHOUT ROWID;

CREATE TABLE part_vectors (
    digest TEXT NOT NULL,
    number INTEGER NOT NULL,
    embedder TEXT NOT NULL,
    dimension INTEGER NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (digest, number, embedder),
    FOREIGN KEY (digest, number) REFERENCES attachment_parts(digest, number) ON DELETE CASCADE
);

CREATE TABLE turn_attachments (
    turn INTEGER NOT NULL REFERENCES turns(id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    digest TEXT NOT NULL REFERENCES attachments(digest),
    name TEXT NOT NULL,
    path TEXT NOT NULL,
    modified_at REAL NOT NULL,
    PRIMARY KEY (turn, number)
) WITHOUT ROWID;

CREATE INDEX turn_attachments_by_digest ON turn_attachments (digest);

CREATE TRIGGER attachments_unused AFTER DELETE ON turn_attachments
WHEN NOT EXISTS (SELECT 1 FROM turn_attachments WHERE digest = old.digest) BEGIN
    DELETE FROM attachments WHERE digest = old.digest;
END;
