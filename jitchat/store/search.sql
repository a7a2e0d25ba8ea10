-- The statements that list and search conversations, by name. A document is a turn, by its id, or a conversation, by the
-- negative of its number.

-- name: condition
-- On the table `conversations` as c, with the parameters of a Filter; {condition} in other statements is this one.
NOT c.deleted_by AND (:archived IS NULL OR c.archived = :archived)
AND (:project = '' OR instr(fold(c.project), :project))
AND NOT EXISTS (SELECT 1 FROM json_each(:tags) w
    WHERE w.value NOT IN (SELECT fold(tag) FROM tags WHERE conversation = c.id))
AND (:model = '' OR EXISTS (SELECT 1 FROM turns t JOIN reply_notes n ON n.turn = t.id
    WHERE t.conversation = c.id AND instr(fold(n.model), :model)))

-- name: columns
-- Of a conversation in the table `conversations` as c; {columns} in other statements are these.
c.id, c.title, c.created_at, c.updated_at, c.project, c.temporary, c.archived,
    (SELECT json_group_array(tag) FROM tags WHERE conversation = c.id), c.persona, {tree}

-- name: by_id
SELECT {columns}
FROM conversations c WHERE c.id = :id AND NOT c.deleted_by

-- name: listed
SELECT {columns}
FROM conversations c
WHERE {condition} AND (:after IS NULL OR julianday(c.updated_at) >= julianday(:after))
    AND (:before IS NULL OR julianday(c.created_at) < julianday(:before))
ORDER BY c.touched DESC

-- name: parts
-- The texts of some documents, a JSON array of ids: a turn's own text, its tools, its reasoning and its files, or the
-- title, the tags and the system prompt of a conversation. As bytes, since damaged text must not prevent a deletion.
WITH wanted (id) AS (SELECT value FROM json_each(?)),
calls (turn, name, arguments) AS (
    SELECT t.id, json_extract(c.value, '$.name'), json_extract(c.value, '$.arguments')
    FROM wanted w JOIN turns t ON t.id = w.id JOIN json_each(t.tools, '$.calls') c
    WHERE t.tools IS NOT NULL AND json_valid(t.tools)
)
SELECT t.id, '', CAST(t.content AS BLOB) FROM wanted w JOIN turns t ON t.id = w.id
UNION ALL SELECT turn, 'tool call', CAST(name AS BLOB) FROM calls
UNION ALL SELECT c.turn, 'call of ' || c.name, CAST(
    CASE typeof(a.key) WHEN 'text' THEN a.key || char(10) ELSE '' END || COALESCE(a.atom, '') AS BLOB
) FROM calls c JOIN json_tree(CASE WHEN json_valid(c.arguments) THEN c.arguments ELSE json_quote(c.arguments) END) a
WHERE a.atom IS NOT NULL OR typeof(a.key) = 'text'
UNION ALL SELECT t.id, 'tool result', CAST(json_extract(t.tools, '$.answers.name') AS BLOB)
FROM wanted w JOIN turns t ON t.id = w.id
WHERE t.tools IS NOT NULL AND json_valid(t.tools) AND json_extract(t.tools, '$.answers') IS NOT NULL
UNION ALL SELECT r.turn, 'reasoning', CAST(r.content AS BLOB) FROM wanted w JOIN reasoning r ON r.turn = w.id
UNION ALL SELECT f.turn, f.name, CAST(f.name AS BLOB) FROM wanted w JOIN turn_attachments f ON f.turn = w.id
UNION ALL SELECT * FROM (
    SELECT f.turn, f.name, CAST(p.head || char(10) || p.text AS BLOB)
    FROM wanted w JOIN turn_attachments f ON f.turn = w.id JOIN attachment_parts p ON p.digest = f.digest
    ORDER BY f.turn, f.number, p.number
)
UNION ALL SELECT w.id, 'title', CAST(c.title AS BLOB)
FROM wanted w JOIN search_conversations s ON s.number = -w.id JOIN conversations c ON c.id = s.conversation
UNION ALL SELECT w.id, 'tag', CAST(g.tag AS BLOB)
FROM wanted w JOIN search_conversations s ON s.number = -w.id JOIN tags g ON g.conversation = s.conversation
UNION ALL SELECT w.id, 'system prompt', CAST(c.system AS BLOB)
FROM wanted w JOIN search_conversations s ON s.number = -w.id JOIN conversations c ON c.id = s.conversation
WHERE c.system IS NOT NULL

-- name: indexable
-- Those of some documents that are in the index, or have to be.
SELECT w.value FROM json_each(?) w LEFT JOIN turns t ON t.id = w.value
LEFT JOIN search_conversations s ON s.number = -w.value
JOIN conversations c ON c.id = COALESCE(t.conversation, s.conversation)
WHERE t.status IS NOT 'streaming' AND NOT c.temporary
    AND NOT EXISTS (SELECT 1 FROM search_backlog b WHERE w.value BETWEEN b.first AND b.last)

-- name: add
INSERT INTO search_tokens (rowid, tokens) VALUES (?, ?)

-- name: delete
INSERT INTO search_tokens (search_tokens, rowid, tokens) VALUES ('delete', ?, ?)

-- name: delete_earlier
INSERT INTO turns_fts (turns_fts, rowid, content) SELECT 'delete', id, content FROM turns
WHERE id IN (SELECT value FROM json_each(?)) AND id IN (SELECT id FROM turns_fts_docsize)

-- name: not_waiting
-- Documents that are indexed at once do not wait for it; the triggers on `turns` and `conversations` put them there.
DELETE FROM search_backlog WHERE first = last AND last IN (SELECT value FROM json_each(?))

-- name: merge
-- The number is of pages. Each run ends with a page that is nearly empty: of 16, a sixteenth more.
INSERT INTO search_tokens (search_tokens, rank) VALUES ('merge', 64)

-- name: all_to_backlog
INSERT INTO search_backlog (first, last) SELECT 1, MAX(id) FROM turns HAVING MAX(id)
UNION ALL SELECT -MAX(number), -1 FROM search_conversations HAVING MAX(number)

-- name: next_in_backlog
SELECT first, last FROM search_backlog ORDER BY last DESC, first DESC LIMIT 1

-- name: last_documents
-- The last :most documents from :first to :last, which are turns or conversations, from the last on.
SELECT * FROM (SELECT id FROM turns WHERE id BETWEEN :first AND :last ORDER BY id DESC LIMIT :most)
UNION ALL SELECT * FROM (
    SELECT -number FROM search_conversations WHERE number BETWEEN -:last AND -:first ORDER BY number LIMIT :most
)

-- name: count_backlog
SELECT COALESCE(SUM(last - first + 1), 0) FROM search_backlog

-- name: is_unfinished
-- Whether documents are to be indexed, the index of earlier versions to be dropped, or more than 8 segments to be merged.
WITH RECURSIVE segments (id) AS (
    SELECT MIN(segid) FROM search_tokens_idx UNION ALL
    SELECT (SELECT MIN(segid) FROM search_tokens_idx WHERE segid > id) FROM segments WHERE id IS NOT NULL
)
SELECT EXISTS (SELECT 1 FROM search_backlog) OR EXISTS (SELECT 1 FROM sqlite_master WHERE name GLOB 'turns_fts*')
    OR (SELECT COUNT(id) FROM segments) > 8

-- name: matching
SELECT rowid FROM search_tokens WHERE search_tokens MATCH :wanted

-- name: within
AND +search_tokens.rowid IN (
    SELECT t.id FROM turns t WHERE t.conversation IN (
        SELECT c.id FROM conversations c WHERE {condition} AND (:conversation IS NULL OR c.id = :conversation)
    )
    UNION ALL SELECT -s.number FROM search_conversations s JOIN conversations c ON c.id = s.conversation
    WHERE {condition} AND :conversation IS NULL
)

-- name: earlier
SELECT rowid FROM turns_fts WHERE turns_fts MATCH :wanted
    AND EXISTS (SELECT 1 FROM search_backlog b WHERE turns_fts.rowid BETWEEN b.first AND b.last) ORDER BY rank

-- name: not_indexed
-- For scripts without blanks, too, of which the index of earlier versions takes a run for one word.
SELECT t.id FROM search_backlog b JOIN turns t ON t.id BETWEEN b.first AND b.last
WHERE t.conversation NOT IN (SELECT id FROM conversations WHERE temporary)
    AND NOT EXISTS (SELECT 1 FROM json_each(:wanted) w WHERE instr(lower(t.content), w.value) = 0)
ORDER BY t.id DESC

-- name: hits
-- Those of the documents :documents that a filter lets pass. As in Filter.has, a turn without a time is before all dates.
SELECT j.value, c.id, COALESCE(t.position, 0)
FROM json_each(:documents) j LEFT JOIN turns t ON t.id = j.value
LEFT JOIN search_conversations s ON s.number = -j.value
JOIN conversations c ON c.id = COALESCE(t.conversation, s.conversation)
WHERE {condition} AND (:conversation IS NULL OR t.conversation = :conversation)
    AND (:after IS NULL OR julianday(IIF(t.id, t.created_at, c.updated_at)) >= julianday(:after))
    AND (:before IS NULL OR COALESCE(julianday(IIF(t.id, t.created_at, c.updated_at)), 0) < julianday(:before))
ORDER BY j.key
