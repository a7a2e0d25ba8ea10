-- What servers said of their models' limits, and when; what they charged for each request.

CREATE TABLE told_limits (
    server TEXT NOT NULL,
    model TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    source TEXT NOT NULL,
    told_at TEXT NOT NULL,
    PRIMARY KEY (server, model)
) WITHOUT ROWID;

ALTER TABLE windows ADD COLUMN charged REAL;
