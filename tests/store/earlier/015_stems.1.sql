-- Which version of the stems an index entry has: one with older stems serves until it is made anew.

ALTER TABLE index_entries ADD COLUMN stems_version INTEGER NOT NULL DEFAULT 0;
