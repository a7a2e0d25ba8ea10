-- What is derived of a large file, so that not every process derives it again: the index of its parts, by the name that they
-- are found by, and the tokens of the whole file, by the name and the turn that it is sent with. Both can be made again.

CREATE TABLE file_segments (
    digest TEXT NOT NULL REFERENCES attachments(digest) ON DELETE CASCADE,
    name TEXT NOT NULL,
    stems_version INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (digest, name)
);

CREATE TABLE file_tokens (
    digest TEXT NOT NULL REFERENCES attachments(digest) ON DELETE CASCADE,
    sent_as TEXT NOT NULL,
    counter TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    PRIMARY KEY (digest, sent_as, counter)
) WITHOUT ROWID;
