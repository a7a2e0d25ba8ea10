-- A window is one row with all that is its own: its ledger is packed (`packed.py`), and so are the pieces. What earlier
-- versions stored here of usage and cost is in `requests` since 027.
DROP TRIGGER requests_of_earlier_versions;

-- The turn whose text a piece refers to, if any.
ALTER TABLE pieces ADD COLUMN turn INTEGER REFERENCES turns (id);

UPDATE pieces SET turn = (
    SELECT t.id FROM json_each(pieces.content, '$.pieces') p
    JOIN turns t ON t.id = json_extract(p.value, '$.same_as') LIMIT 1
) WHERE json_valid(content);

UPDATE pieces SET content = packed_piece(content);

CREATE TABLE ledgers AS SELECT DISTINCT ledger FROM windows;

UPDATE windows SET ledger = COALESCE(
    packed_ledger((SELECT content FROM blobs WHERE digest = windows.ledger), header), ledger
);

CREATE TABLE lists AS SELECT l.value AS digest FROM windows, json_each(segments) l WHERE json_valid(segments);

DELETE FROM blobs WHERE digest IN (SELECT ledger FROM ledgers) AND digest NOT IN (
    SELECT digest FROM lists
    UNION SELECT json_extract(s.value, '$.blob') FROM lists JOIN blobs b ON b.digest = lists.digest, json_each(b.content) s
        WHERE json_valid(b.content) AND json_extract(s.value, '$.blob') IS NOT NULL
);

DROP TABLE lists;
DROP TABLE ledgers;

ALTER TABLE windows DROP COLUMN input_tokens;
ALTER TABLE windows DROP COLUMN output_tokens;
ALTER TABLE windows DROP COLUMN cached_tokens;
ALTER TABLE windows DROP COLUMN written_tokens;
ALTER TABLE windows DROP COLUMN reasoning_tokens;
ALTER TABLE windows DROP COLUMN charged;
ALTER TABLE windows DROP COLUMN cost;
ALTER TABLE windows DROP COLUMN provider;
