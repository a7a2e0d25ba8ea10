-- Projects group conversations. A temporary conversation reads and writes no distilled memory, is in no full-text index,
-- and is deleted: `temporary` is the process that has it open, 0 for a conversation that stays.

ALTER TABLE conversations ADD COLUMN project TEXT NOT NULL DEFAULT 'default';

ALTER TABLE conversations ADD COLUMN temporary INTEGER NOT NULL DEFAULT 0;

DROP TRIGGER turns_fts_insert;

DROP TRIGGER turns_fts_update;

CREATE TRIGGER turns_fts_insert AFTER INSERT ON turns
WHEN (SELECT temporary FROM conversations WHERE id = new.conversation) = 0 BEGIN
    INSERT INTO turns_fts (rowid, content) VALUES (new.id, new.content);
END;

CREATE TRIGGER turns_fts_update AFTER UPDATE OF content ON turns
WHEN (SELECT temporary FROM conversations WHERE id = new.conversation) = 0 BEGIN
    INSERT INTO turns_fts (turns_fts, rowid, content)
        VALUES ('delete', old.id, old.content);
    INSERT INTO turns_fts (rowid, content) VALUES (new.id, new.content);
END;

-- A pass takes turns into observations, or rewrites all that stand. Each follows the pass before it: what holds on a
-- path is the chain of passes that ends there. `first` and `last` are positions of turns.

CREATE TABLE observation_passes (
    id INTEGER PRIMARY KEY,
    conversation TEXT NOT NULL REFERENCES conversations(id),
    follows INTEGER REFERENCES observation_passes(id),
    kind TEXT NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    made_by TEXT NOT NULL,
    made_at TEXT NOT NULL,
    note TEXT NOT NULL,
    undone_at TEXT
);

CREATE INDEX observation_passes_last ON observation_passes (conversation, last);

CREATE TABLE observations (
    pass INTEGER NOT NULL REFERENCES observation_passes(id),
    number INTEGER NOT NULL,
    line TEXT NOT NULL,
    PRIMARY KEY (pass, number)
) WITHOUT ROWID;

-- One memory document a project, in versions; each line is JSON. `through` has the last turn of each conversation that
-- the document was written from.

CREATE TABLE documents (
    project TEXT NOT NULL,
    version INTEGER NOT NULL,
    made_by TEXT NOT NULL,
    made_at TEXT NOT NULL,
    lines TEXT NOT NULL,
    through TEXT NOT NULL,
    PRIMARY KEY (project, version)
);

-- Short statements that the conversations of a project share. `superseded_by` is the fact that took the
-- place of one on the day `valid_until`.

CREATE TABLE facts (
    id INTEGER PRIMARY KEY,
    project TEXT NOT NULL,
    text TEXT NOT NULL,
    kind TEXT NOT NULL,
    conversation TEXT REFERENCES conversations(id),
    first INTEGER,
    last INTEGER,
    stated_on TEXT,
    valid_until TEXT,
    superseded_by INTEGER REFERENCES facts(id),
    state TEXT NOT NULL,
    changes INTEGER NOT NULL DEFAULT 1
);

CREATE INDEX facts_of_project ON facts (project, state);
