-- A version of a memory document is stored whole: `lines` is the compressed JSON of all its lines, with
-- the fields of a `DocumentLine`. Before, a version had only the lines that were new in it, numbered
-- from `first`, and for all its lines the steps from one number to the next. A version that is damaged
-- stays as it is; a line that is in no version becomes null, so that its version stays damaged.

-- the table below has text that is compressed everywhere else: nothing of it stays in free pages

PRAGMA secure_delete = ON;

CREATE TABLE document_lines (
    project TEXT NOT NULL,
    number INTEGER NOT NULL,
    line TEXT NOT NULL,
    PRIMARY KEY (project, number)
) WITHOUT ROWID;

INSERT INTO document_lines
SELECT d.project, d.first + n.key, json_object(
    'section', json_extract(n.value, '$.in'),
    'text', json_extract(n.value, '$.text'),
    'source', CASE WHEN json_type(n.value, '$.by') NOT NULL THEN json_object(
        'first', json_extract(n.value, '$.by[1]'),
        'last', json_extract(n.value, '$.by[2]'),
        'conversation', json_extract(n.value, '$.by[0]')
    ) END,
    'day', json_extract(n.value, '$.on'),
    'speaker', IFNULL(json_extract(n.value, '$.who'), ''),
    'refers_to', json(IFNULL(json_extract(n.value, '$.of'), '[]')),
    'replaced', CASE WHEN json_type(n.value, '$.old') NOT NULL THEN json_object(
        'text', json_extract(n.value, '$.old.text'),
        'source', CASE WHEN json_type(n.value, '$.old.by') NOT NULL THEN json_object(
            'first', json_extract(n.value, '$.old.by[1]'),
            'last', json_extract(n.value, '$.old.by[2]'),
            'conversation', json_extract(n.value, '$.old.by[0]')
        ) END,
        'day', json_extract(n.value, '$.old.on')
    ) END,
    'mentions', IFNULL(json_extract(n.value, '$.again'), 0),
    'is_pinned', json(iif(json_type(n.value, '$.pinned') NOT NULL, 'true', 'false')),
    'is_edited', json(iif(json_type(n.value, '$.edited') NOT NULL, 'true', 'false'))
)
FROM documents d, json_each(expanded(d.lines), '$.new') n
WHERE json_valid(n.value);

UPDATE documents SET lines = compressed((
    SELECT json_group_array(json(line)) FROM (
        SELECT l.line FROM (
            SELECT key, SUM(value) OVER (ORDER BY key) AS number
            FROM json_each(expanded(documents.lines), '$.steps')
        ) s
        LEFT JOIN document_lines l ON l.project = documents.project AND l.number = s.number
        ORDER BY s.key
    )
))
WHERE expanded(lines) NOT NULL;

DROP TABLE document_lines;

ALTER TABLE documents DROP COLUMN first;

-- A line of observations has the fields of an `Observation`. What is no JSON is damaged, and stays as it is.

UPDATE observations SET line = json_object(
    'text', json_extract(line, '$.text'),
    'source', json_object('first', json_extract(line, '$.first'), 'last', json_extract(line, '$.last')),
    'priority', json_extract(line, '$.priority'),
    'said_at', json_extract(line, '$.said_at'),
    'refers_to', json(IFNULL(json_extract(line, '$.refers_to'), '[]')),
    'superseded', CASE WHEN json_type(line, '$.superseded') NOT NULL THEN json_object(
        'turn', json_extract(line, '$.superseded[0]'), 'on', json_extract(line, '$.superseded[1]')
    ) END
)
WHERE json_valid(line);

-- Every window has its tokens by kind of segment; the first versions did not store them.

UPDATE windows SET sizes = (
    SELECT json_group_object(kind, tokens) FROM (
        SELECT json_extract(s.value, '$.kind') AS kind, SUM(json_extract(s.value, '$.tokens')) AS tokens
        FROM json_each(windows.segments) l JOIN blobs b ON b.digest = l.value,
            json_each(iif(json_valid(b.content), b.content, '[]')) s
        GROUP BY 1
    )
)
WHERE sizes IS NULL AND json_valid(segments);
