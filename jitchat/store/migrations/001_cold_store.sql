-- Conversations and their turns, in order of position.

CREATE TABLE conversations (
    id TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    touched INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
);

CREATE TABLE turns (
    id INTEGER PRIMARY KEY,
    conversation TEXT NOT NULL REFERENCES conversations(id),
    position INTEGER NOT NULL,
    role TEXT NOT NULL,
    name TEXT,
    content TEXT NOT NULL,
    created_at TEXT,
    status TEXT NOT NULL DEFAULT 'complete',
    UNIQUE (conversation, position)
);

CREATE TABLE streaming (
    turn INTEGER PRIMARY KEY REFERENCES turns(id),
    process INTEGER NOT NULL,
    seen_at REAL NOT NULL
);

CREATE VIRTUAL TABLE turns_fts USING fts5 (
    content, content='turns', content_rowid='id', tokenize='porter unicode61'
);

CREATE TRIGGER turns_fts_insert AFTER INSERT ON turns BEGIN
    INSERT INTO turns_fts (rowid, content) VALUES (new.id, new.content);
END;

CREATE TRIGGER turns_fts_update AFTER UPDATE OF content ON turns BEGIN
    INSERT INTO turns_fts (turns_fts, rowid, content)
        VALUES ('delete', old.id, old.content);
    INSERT INTO turns_fts (rowid, content) VALUES (new.id, new.content);
END;
