-- What came with a reply beside its text.

CREATE TABLE reasoning (
    turn INTEGER PRIMARY KEY REFERENCES turns(id),
    content TEXT NOT NULL
);

ALTER TABLE windows ADD COLUMN written_tokens INTEGER;

ALTER TABLE windows ADD COLUMN reasoning_tokens INTEGER;

ALTER TABLE windows ADD COLUMN stop TEXT;

ALTER TABLE windows ADD COLUMN cost REAL;

ALTER TABLE windows ADD COLUMN provider TEXT;

