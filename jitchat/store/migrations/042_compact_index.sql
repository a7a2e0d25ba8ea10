-- The numbers of vectors are stored in half precision. What an index entry says is packed beside the text of its turn, most of
-- which it repeats; a damaged entry is made again in the background.
UPDATE vectors SET vector = halved(vector) WHERE typeof(vector) = 'blob' AND length(vector) = 4 * dimension;
UPDATE part_vectors SET vector = halved(vector) WHERE typeof(vector) = 'blob' AND length(vector) = 4 * dimension;

CREATE TABLE packed_entries (
    turn INTEGER PRIMARY KEY REFERENCES turns(id),
    decision INTEGER NOT NULL,
    asks INTEGER NOT NULL,
    tells_when INTEGER NOT NULL,
    disclaims INTEGER NOT NULL,
    stems_version INTEGER NOT NULL,
    standing INTEGER NOT NULL,
    -- the summary, the entities and the dates, in lines, and the stems
    texts BLOB NOT NULL
);

INSERT OR IGNORE INTO packed_entries
SELECT e.turn, e.decision, e.asks, e.tells_when, e.disclaims, e.stems_version, e.standing,
    packed_texts(
        CAST(t.content AS BLOB), CAST(e.summary AS BLOB), CAST(e.entities AS BLOB), CAST(e.dates AS BLOB),
        CAST(e.stems AS BLOB)
    )
FROM index_entries e JOIN turns t ON t.id = e.turn;

DROP TABLE index_entries;
ALTER TABLE packed_entries RENAME TO index_entries;

-- Tables whose key is their row: each had an index of its own beside it.
CREATE TABLE kept AS SELECT * FROM index_segments;
DROP TABLE index_segments;
CREATE TABLE index_segments (
    conversation TEXT NOT NULL REFERENCES conversations(id),
    embedder TEXT NOT NULL,
    dimension INTEGER NOT NULL,
    start INTEGER NOT NULL,
    last INTEGER NOT NULL,
    path TEXT NOT NULL,
    checksum INTEGER NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (conversation, embedder, start)
) WITHOUT ROWID;
INSERT OR IGNORE INTO index_segments SELECT * FROM kept;
DROP TABLE kept;

CREATE TABLE kept AS SELECT * FROM turn_costs;
DROP TABLE turn_costs;
CREATE TABLE turn_costs (
    conversation TEXT NOT NULL REFERENCES conversations(id),
    counter TEXT NOT NULL,
    last INTEGER NOT NULL,
    path TEXT NOT NULL,
    checksum INTEGER NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (conversation, counter)
) WITHOUT ROWID;
INSERT OR IGNORE INTO turn_costs SELECT * FROM kept;
DROP TABLE kept;

CREATE TABLE kept AS SELECT * FROM drafts;
DROP TABLE drafts;
CREATE TABLE drafts (
    conversation TEXT PRIMARY KEY REFERENCES conversations(id),
    text TEXT NOT NULL,
    typed BLOB NOT NULL DEFAULT x''
) WITHOUT ROWID;
INSERT OR IGNORE INTO drafts SELECT * FROM kept;
DROP TABLE kept;

CREATE TABLE kept AS SELECT * FROM tool_grants;
DROP TABLE tool_grants;
CREATE TABLE tool_grants (
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    digest TEXT NOT NULL,
    granted_at TEXT NOT NULL,
    definition TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (server, tool)
) WITHOUT ROWID;
INSERT OR IGNORE INTO tool_grants SELECT * FROM kept;
DROP TABLE kept;

CREATE TABLE kept AS SELECT * FROM allowed_folders;
DROP TABLE allowed_folders;
CREATE TABLE allowed_folders (path TEXT PRIMARY KEY) WITHOUT ROWID;
INSERT OR IGNORE INTO allowed_folders SELECT * FROM kept;
DROP TABLE kept;

-- When all is done, also after an interruption, the file is rewritten without its free pages.
PRAGMA user_version = 1;
