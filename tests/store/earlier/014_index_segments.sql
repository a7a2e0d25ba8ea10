-- Packed rows of the hot index: they can be made again from entries and vectors at any time.

CREATE TABLE index_segments (
    conversation TEXT NOT NULL REFERENCES conversations(id),
    embedder TEXT NOT NULL,
    dimension INTEGER NOT NULL,
    start INTEGER NOT NULL,
    last INTEGER NOT NULL,
    path TEXT NOT NULL,
    checksum INTEGER NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (conversation, embedder, start)
);

CREATE TRIGGER index_segments_by_status AFTER UPDATE OF status ON turns BEGIN
    DELETE FROM index_segments
        WHERE conversation = new.conversation AND last >= new.position;
END;
