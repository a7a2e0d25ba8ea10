-- The texts of the documents ?1, a JSON array of ids: a turn's own text, its tools, its reasoning, its files; or the title,
-- the tags and the system prompt of a conversation. As bytes, since a damaged text must not prevent a deletion.

SELECT t.id, '', CAST(t.content AS BLOB) FROM turns t WHERE t.id IN (SELECT value FROM json_each(?1))
UNION ALL
SELECT t.id, 'tools', CAST(t.tools AS BLOB) FROM turns t
WHERE t.tools IS NOT NULL AND t.id IN (SELECT value FROM json_each(?1))
UNION ALL
SELECT r.turn, 'reasoning', CAST(r.content AS BLOB) FROM reasoning r WHERE r.turn IN (SELECT value FROM json_each(?1))
UNION ALL
SELECT f.turn, f.name, CAST(f.name AS BLOB) FROM turn_attachments f WHERE f.turn IN (SELECT value FROM json_each(?1))
UNION ALL
SELECT * FROM (
    SELECT f.turn, f.name, CAST(p.head || char(10) || p.text AS BLOB)
    FROM turn_attachments f CROSS JOIN attachment_parts p ON p.digest = f.digest
    WHERE f.turn IN (SELECT value FROM json_each(?1)) ORDER BY f.turn, f.number, p.number
)
UNION ALL
SELECT -s.number, 'title', CAST(c.title AS BLOB)
FROM search_conversations s JOIN conversations c ON c.id = s.conversation
WHERE s.number IN (SELECT -value FROM json_each(?1))
UNION ALL
SELECT -s.number, 'tag', CAST(g.tag AS BLOB) FROM search_conversations s JOIN tags g ON g.conversation = s.conversation
WHERE s.number IN (SELECT -value FROM json_each(?1))
UNION ALL
SELECT -s.number, 'system prompt', CAST(c.system AS BLOB)
FROM search_conversations s JOIN conversations c ON c.id = s.conversation
WHERE c.system IS NOT NULL AND s.number IN (SELECT -value FROM json_each(?1));
