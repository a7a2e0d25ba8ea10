-- Where a draft's text comes from, and the files of an earlier message that are sent again with it. `typed` is the text in
-- UTF-8 with NUL in place of each visible character that the user did not type; drafts of earlier versions count as not typed.
-- The content of the files stays with the turns that have them.

ALTER TABLE drafts ADD COLUMN typed BLOB NOT NULL DEFAULT x'';

CREATE TABLE draft_attachments (
    conversation TEXT NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    digest TEXT NOT NULL,
    name TEXT NOT NULL,
    path TEXT NOT NULL,
    modified_at REAL NOT NULL,
    PRIMARY KEY (conversation, number)
) WITHOUT ROWID;

-- Folders outside the current one, or hidden ones, whose files a mention may attach.

CREATE TABLE allowed_folders (path TEXT PRIMARY KEY);
