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
