-- Where conversations and turns of elsewhere come from: importing again adds only what is new.

CREATE TABLE imported_conversations (
    source TEXT NOT NULL,
    key TEXT NOT NULL,
    conversation TEXT NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    PRIMARY KEY (source, key)
) WITHOUT ROWID;

CREATE INDEX imported_by_conversation ON imported_conversations (conversation);

CREATE TABLE imported_turns (
    turn INTEGER PRIMARY KEY REFERENCES turns(id) ON DELETE CASCADE,
    key BLOB NOT NULL,
    model TEXT
);

-- Many turns at once go into the full-text index in one statement, not by the trigger: FTS5 writes what it has to the disk
-- whenever a statement with a trigger begins. The table has a row while that goes on, in its transaction only.

CREATE TABLE bulk_inserts (id INTEGER PRIMARY KEY CHECK (id = 1));

DROP TRIGGER turns_fts_insert;

CREATE TRIGGER turns_fts_insert AFTER INSERT ON turns WHEN NOT EXISTS (SELECT 1 FROM bulk_inserts) BEGIN
    INSERT INTO turns_fts (rowid, content) VALUES (new.id, new.content);
END;
