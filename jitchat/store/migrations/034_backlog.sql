-- What an older jitchat writes, which may stay open while this one is in use, is to be indexed in the background. As triggers
-- run for all writers, this one takes what it indexes itself out of the backlog in the same transaction.

DROP TABLE search_backlog;

CREATE TABLE search_backlog (
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    PRIMARY KEY (last, first)
) WITHOUT ROWID;

CREATE TRIGGER turns_to_backlog AFTER INSERT ON turns WHEN new.status <> 'streaming' BEGIN
    INSERT OR IGNORE INTO search_backlog VALUES (new.id, new.id);
END;

CREATE TRIGGER replies_to_backlog AFTER UPDATE OF status ON turns
WHEN old.status = 'streaming' AND new.status <> 'streaming' BEGIN
    INSERT OR IGNORE INTO search_backlog VALUES (new.id, new.id);
END;

CREATE TRIGGER conversations_to_backlog AFTER INSERT ON conversations BEGIN
    INSERT INTO search_conversations (conversation) VALUES (new.id);
    INSERT OR IGNORE INTO search_backlog
        SELECT -number, -number FROM search_conversations WHERE conversation = new.id;
END;

-- What an older one has written since the search index was made is not known: all is indexed again.

INSERT INTO search_tokens (search_tokens) VALUES ('delete-all');

INSERT OR IGNORE INTO search_conversations (conversation) SELECT id FROM conversations;

INSERT INTO search_backlog SELECT 1, MAX(id) FROM turns HAVING MAX(id);

INSERT INTO search_backlog SELECT -MAX(number), -1 FROM search_conversations HAVING MAX(number);
