-- The highest N of the ids chat-N, so that no conversation gets the id of a deleted one.

CREATE TABLE last_chat (number INTEGER NOT NULL);

INSERT INTO last_chat
SELECT COALESCE(MAX(CAST(substr(id, 6) AS INTEGER)), 0) FROM conversations WHERE id GLOB 'chat-[0-9]*';
