-- What was left by migrations that were edited or renamed. The definitions themselves are repaired before
-- any migration is applied: see repair.py.

DROP TRIGGER IF EXISTS index_segments_by_status;

-- Each version of a document was a list of the ids of its lines. Now it is compressed JSON, as in 019_distilled;
-- the numbers of the lines only have to ascend.

CREATE TABLE IF NOT EXISTS document_lines (id INTEGER PRIMARY KEY, line TEXT NOT NULL);

UPDATE documents SET first = 1000000 * version WHERE typeof(lines) = 'text';

UPDATE documents SET
    count = json_array_length(lines),
    lines = compressed(json_object(
        'new', json((
            SELECT json_group_array(line) FROM (
                SELECT l.line FROM json_each(documents.lines) i JOIN document_lines l ON l.id = i.value ORDER BY i.key
            )
        )),
        'steps', json((
            SELECT json_group_array(CASE key WHEN 0 THEN documents.first ELSE 1 END) FROM json_each(documents.lines)
        ))
    ))
WHERE typeof(lines) = 'text';

DROP TABLE document_lines;
