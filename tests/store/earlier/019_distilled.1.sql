-- Projects group conversations; a temporary conversation reads and writes no distilled memory.

ALTER TABLE conversations ADD COLUMN project TEXT NOT NULL DEFAULT 'default';

ALTER TABLE conversations ADD COLUMN temporary INTEGER NOT NULL DEFAULT 0;

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

-- Short statements that the conversations of a project share.

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
    state TEXT NOT NULL,
    changed_at TEXT NOT NULL
);

CREATE INDEX facts_of_project ON facts (project, state);
