-- Every request to a provider: its purpose, usage and cost. A row outlives its window and conversation, so that totals stay
-- complete; it has no text of either. The usage and cost in `windows` are moved here.
-- `counted_input` and `counted_output` are jitchat's own counts of what the provider did not report; `billed` is 0 for a
-- request that was refused or never arrived; `project` is set when the conversation is deleted.

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

-- If there is a spending limit, costs are summed before each request; these indexes cover the queries.

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

-- A process of an earlier version that is still open stores usage and cost with the window.

CREATE TRIGGER requests_of_earlier_versions AFTER UPDATE OF input_tokens ON windows BEGIN
    INSERT OR REPLACE INTO requests (
        window, conversation, purpose, sent_at, provider, model, input_tokens, output_tokens, cached_tokens,
        written_tokens, reasoning_tokens, charged, cost, billed
    )
    SELECT new.id, t.conversation, 'answer', new.sent_at, new.provider,
        COALESCE(json_extract(new.header, '$.model'), ''), new.input_tokens, new.output_tokens, new.cached_tokens,
        new.written_tokens, new.reasoning_tokens, new.charged,
        CASE new.provider WHEN 'reader' THEN COALESCE(new.cost, 0.0) ELSE new.cost END,
        COALESCE(new.reply, new.input_tokens, new.output_tokens) IS NOT NULL
    FROM turns t WHERE t.id = new.turn;
END;

-- The usage of picking was stored with the first window of each message, that of observing with each pass.

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
