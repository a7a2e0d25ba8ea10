-- The search index. jitchat makes the tokens and deletes them: no trigger writes here. A document is a turn, by its id, or a
-- conversation, by the negative of its number.

CREATE VIRTUAL TABLE search_tokens USING fts5 (
    tokens, content='', columnsize=0, tokenize="ascii tokenchars '+#'"
);

INSERT INTO search_tokens (search_tokens, rank) VALUES ('usermerge', 2);

CREATE TABLE search_conversations (
    number INTEGER PRIMARY KEY,
    conversation TEXT NOT NULL UNIQUE REFERENCES conversations(id) ON DELETE CASCADE
);

INSERT INTO search_conversations (conversation) SELECT id FROM conversations;

-- The documents that are not indexed yet, in the background: `first` to `last` are ids.

CREATE TABLE search_backlog (first INTEGER NOT NULL, last INTEGER NOT NULL);

INSERT INTO search_backlog SELECT 1, MAX(id) FROM turns HAVING MAX(id);

INSERT INTO search_backlog SELECT -MAX(number), -1 FROM search_conversations HAVING MAX(number);

-- Until then, turns are also found by the index of earlier versions, which is no longer written to, and dropped at the end.

DROP TRIGGER IF EXISTS turns_fts_insert;

DROP TRIGGER IF EXISTS turns_fts_update;

INSERT INTO turns_fts (turns_fts, rowid, content)
SELECT 'delete', t.id, t.content FROM turns t WHERE status = 'streaming' AND id IN (SELECT id FROM turns_fts_docsize);
