-- A window is one row with all that is its own: the list of its pieces and its ledger are packed (`packed.py`), and so are
-- the pieces. What earlier versions stored here of usage and cost is in `requests` since 027.
DROP TRIGGER requests_of_earlier_versions;

CREATE TABLE packed_pieces (
    id INTEGER PRIMARY KEY,
    conversation TEXT NOT NULL REFERENCES conversations (id),
    -- 6 bytes of the content's BLAKE2b
    digest BLOB NOT NULL,
    content BLOB NOT NULL,
    -- beside whose text it is packed
    turn INTEGER REFERENCES turns (id)
);

WITH referring (id, turn) AS (
    SELECT pieces.id, MAX(t.id) FROM pieces, json_each(pieces.content, '$.pieces') p
    JOIN turns t ON t.id = json_extract(p.value, '$.same_as')
    WHERE json_valid(pieces.content) GROUP BY pieces.id
)
INSERT INTO packed_pieces
SELECT p.id, p.conversation, substr(p.digest, 1, 6),
    COALESCE(packed_piece(CAST(p.content AS BLOB), CAST(t.content AS BLOB)), p.content), t.id
FROM pieces p LEFT JOIN referring r ON r.id = p.id LEFT JOIN turns t ON t.id = r.turn;

DROP TABLE pieces;
ALTER TABLE packed_pieces RENAME TO pieces;
CREATE INDEX pieces_by_turn ON pieces (turn, digest);

CREATE TABLE ledgers AS SELECT DISTINCT ledger FROM windows;

UPDATE windows SET ledger = COALESCE(packed_window(
    pieces, (SELECT CAST(content AS BLOB) FROM blobs WHERE digest = windows.ledger), CAST(header AS BLOB)
), ledger);

CREATE TABLE lists AS SELECT l.value AS digest FROM windows, json_each(segments) l WHERE json_valid(segments);

DELETE FROM blobs WHERE digest IN (SELECT ledger FROM ledgers) AND digest NOT IN (
    SELECT digest FROM lists
    UNION SELECT json_extract(s.value, '$.blob') FROM lists JOIN blobs b ON b.digest = lists.digest, json_each(b.content) s
        WHERE json_valid(b.content) AND json_extract(s.value, '$.blob') IS NOT NULL
);

DROP TABLE lists;
DROP TABLE ledgers;

ALTER TABLE windows RENAME COLUMN ledger TO packed;
ALTER TABLE windows DROP COLUMN pieces;
ALTER TABLE windows DROP COLUMN input_tokens;
ALTER TABLE windows DROP COLUMN output_tokens;
ALTER TABLE windows DROP COLUMN cached_tokens;
ALTER TABLE windows DROP COLUMN written_tokens;
ALTER TABLE windows DROP COLUMN reasoning_tokens;
ALTER TABLE windows DROP COLUMN charged;
ALTER TABLE windows DROP COLUMN cost;
ALTER TABLE windows DROP COLUMN provider;
