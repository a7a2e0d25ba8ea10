-- What the user decides about a conversation. `title_given`: by the user or by its source, so that nothing makes another;
-- `deleted_by`: the process in which that can still be undone, 0 for a conversation that stays.

ALTER TABLE conversations ADD COLUMN title_given INTEGER NOT NULL DEFAULT 1;

ALTER TABLE conversations ADD COLUMN archived INTEGER NOT NULL DEFAULT 0;

ALTER TABLE conversations ADD COLUMN deleted_by INTEGER NOT NULL DEFAULT 0;

CREATE TABLE tags (
    conversation TEXT NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    tag TEXT NOT NULL,
    PRIMARY KEY (conversation, tag)
) WITHOUT ROWID;

-- Temporary conversations are in no full-text index, also where many turns can come at once.

DROP TRIGGER turns_fts_insert;

CREATE TRIGGER turns_fts_insert AFTER INSERT ON turns
WHEN NOT EXISTS (SELECT 1 FROM bulk_inserts)
    AND (SELECT temporary FROM conversations WHERE id = new.conversation) = 0 BEGIN
    INSERT INTO turns_fts (rowid, content) VALUES (new.id, new.content);
END;

INSERT INTO turns_fts (turns_fts) SELECT 'rebuild' WHERE EXISTS (
    SELECT 1 FROM turns_fts_docsize d LEFT JOIN turns t ON t.id = d.id
    LEFT JOIN conversations c ON c.id = t.conversation WHERE t.id IS NULL OR c.temporary
);

INSERT INTO turns_fts (turns_fts, rowid, content)
SELECT 'delete', t.id, t.content FROM turns t JOIN conversations c ON c.id = t.conversation
WHERE c.temporary AND t.id IN (SELECT id FROM turns_fts_docsize);
