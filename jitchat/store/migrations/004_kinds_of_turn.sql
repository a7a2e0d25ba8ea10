-- What kind of turn each is. The index is rebuilt: words are matched in another way.

DELETE FROM index_entries;

ALTER TABLE index_entries ADD COLUMN asks INTEGER NOT NULL DEFAULT 0;

ALTER TABLE index_entries ADD COLUMN tells_when INTEGER NOT NULL DEFAULT 0;

ALTER TABLE index_entries ADD COLUMN disclaims INTEGER NOT NULL DEFAULT 0;
