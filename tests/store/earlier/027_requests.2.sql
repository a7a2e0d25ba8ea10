-- Every request to a provider: what it was for, and what it took. A row outlives the window and the conversation that it
-- was made for, so that what was spent stays in the sums; it has no word of either. What `windows` had of this is here now.
-- `counted_input` and `counted_output` are own counts of what the provider did not report; `billed` is 0 for a request that
-- was refused or never arrived; `project` is that of a conversation that is gone.

CREATE TABLE requests (
    id INTEGER PRIMARY KEY,
    window INTEGER UNIQUE REFERENCES windows(id) ON DELETE SET NULL,
    conversation TEXT REFERENCES conversations(id) ON DELETE SET NULL,
    project TEXT,
    purpose TEXT NOT NULL,
    sent_at TEXT,
    provider TEXT,
    model TEXT NOT NULL,
    input_tokens INTEGER,
    output_tokens INTEGER,
    cached_tokens INTEGER,
    written_tokens INTEGER,
    reasoning_tokens INTEGER,
    charged REAL,
    counted_input INTEGER,
    counted_output INTEGER,
    cost REAL,
    billed INTEGER NOT NULL DEFAULT 1
);

-- What was spent is summed up ahead of each request, where a limit is set: from an index alone.

CREATE INDEX requests_of_conversation ON requests (
    conversation, purpose, cost, billed, charged, counted_input, counted_output
);

CREATE INDEX requests_by_day ON requests (sent_at, cost, billed, charged, counted_input, counted_output);

CREATE INDEX requests_of_model ON requests (model, provider);

CREATE TRIGGER requests_outlive_conversations BEFORE DELETE ON conversations BEGIN
    UPDATE requests SET project = old.project, conversation = NULL WHERE conversation = old.id;
END;

INSERT INTO requests (
    window, conversation, purpose, sent_at, provider, model, input_tokens, output_tokens, cached_tokens,
    written_tokens, reasoning_tokens, charged, cost, billed
)
SELECT w.id, t.conversation, 'answer', w.sent_at, w.provider, COALESCE(json_extract(w.header, '$.model'), ''),
    w.input_tokens, w.output_tokens, w.cached_tokens, w.written_tokens, w.reasoning_tokens, w.charged,
    CASE WHEN COALESCE(w.provider, json_extract(w.header, '$.model')) = 'reader' THEN COALESCE(w.cost, 0.0) ELSE w.cost END,
    COALESCE(w.reply, w.input_tokens, w.output_tokens) IS NOT NULL
FROM windows w JOIN turns t ON t.id = w.turn WHERE json_valid(w.header) ORDER BY w.id;

-- What choosing turns took was kept with the first window of each message, and what observing took with each pass.

INSERT INTO requests (conversation, purpose, sent_at, model, counted_input, counted_output, cost)
SELECT t.conversation, 'picking', w.sent_at, COALESCE(json_extract(w.header, '$.picking.model'), ''),
    json_extract(w.header, '$.picking.input_tokens'), json_extract(w.header, '$.picking.output_tokens'),
    json_extract(w.header, '$.picking.cost')
FROM windows w JOIN turns t ON t.id = w.turn
WHERE json_valid(w.header) AND json_extract(w.header, '$.picking.input_tokens') > 0
GROUP BY w.turn, json_extract(w.header, '$.picking') HAVING MIN(w.id);

INSERT INTO requests (conversation, purpose, sent_at, model, counted_input, counted_output, cost)
SELECT conversation, 'observation', made_at, made_by, json_extract(note, '$.input'), json_extract(note, '$.output'),
    json_extract(note, '$.cost')
FROM observation_passes WHERE json_valid(note) AND json_extract(note, '$.input') > 0;

DROP INDEX windows_by_day;
