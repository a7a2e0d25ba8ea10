-- What is known of a reply belongs to the reply: the model that wrote it, the usage and cost of its request, why it stopped.
-- `requests` keeps the same figures without the turn, for totals that outlive it.

CREATE TABLE reply_notes (
    turn INTEGER PRIMARY KEY REFERENCES turns(id) ON DELETE CASCADE,
    model TEXT NOT NULL,
    provider TEXT NOT NULL DEFAULT '',
    stop TEXT,
    input_tokens INTEGER,
    output_tokens INTEGER,
    cached_tokens INTEGER,
    written_tokens INTEGER,
    reasoning_tokens INTEGER,
    charged REAL,
    cost REAL
);

INSERT INTO reply_notes
SELECT w.reply, CASE WHEN json_valid(w.header) THEN COALESCE(json_extract(w.header, '$.model'), '') ELSE '' END,
    COALESCE(q.provider, ''), w.stop, q.input_tokens, q.output_tokens, q.cached_tokens, q.written_tokens,
    q.reasoning_tokens, q.charged, q.cost
FROM windows w LEFT JOIN requests q ON q.window = w.id
WHERE w.id IN (SELECT MAX(id) FROM windows WHERE reply IS NOT NULL GROUP BY reply);

INSERT OR IGNORE INTO reply_notes (turn, model) SELECT turn, model FROM imported_turns WHERE model IS NOT NULL;

UPDATE imported_turns SET model = NULL;

-- `key` identifies a turn in its source, `form` is a hash of what the source said of it last: NULL for turns that were
-- imported before there were forms, whose key is such a hash.

ALTER TABLE imported_turns ADD COLUMN form BLOB;

-- A source's title is taken over until the user gives another; an older copy of a source changes nothing.

ALTER TABLE imported_conversations ADD COLUMN title TEXT;

ALTER TABLE imported_conversations ADD COLUMN updated_at TEXT;
