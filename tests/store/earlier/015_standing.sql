-- What the user always wants. The index is made again: it is told from the words of each turn.

DELETE FROM index_entries;

DELETE FROM index_segments;

ALTER TABLE index_entries ADD COLUMN standing INTEGER NOT NULL DEFAULT 0;
