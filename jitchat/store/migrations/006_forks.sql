-- What a turn follows, where that is not the position before; and where a conversation is.

ALTER TABLE turns ADD COLUMN parent INTEGER;

ALTER TABLE conversations ADD COLUMN head INTEGER;

CREATE INDEX turns_forked ON turns (conversation, position, parent)
    WHERE parent IS NOT NULL;
