-- What a turn follows, where that is not the position before; and where a conversation is.

ALTER TABLE turns ADD COLUMN parent INTEGER;

ALTER TABLE conversations ADD COLUMN head INTEGER;

