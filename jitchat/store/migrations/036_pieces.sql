-- What windows are written in. A segment that is carried from window to window is stored once: as
-- JSON without what can differ between windows, which is listed with the window.
CREATE TABLE pieces (
    id INTEGER PRIMARY KEY,
    conversation TEXT NOT NULL REFERENCES conversations (id),
    -- 16 bytes of the content's BLAKE2b
    digest BLOB NOT NULL,
    content TEXT NOT NULL,
    UNIQUE (conversation, digest)
);

-- Of a window: ranges of pieces, and the reason, place and tokens of each segment, as compressed
-- JSON; null in windows of earlier versions, which list their segments in `segments`.
ALTER TABLE windows ADD COLUMN pieces BLOB;
