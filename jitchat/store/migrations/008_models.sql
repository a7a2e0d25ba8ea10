-- What servers taught about their models, what models they have, and the one in use.

CREATE TABLE refused_parameters (
    server TEXT NOT NULL,
    model TEXT NOT NULL,
    parameter TEXT NOT NULL,
    PRIMARY KEY (server, model, parameter)
) WITHOUT ROWID;

CREATE TABLE learnt_limits (
    server TEXT NOT NULL,
    model TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    PRIMARY KEY (server, model)
) WITHOUT ROWID;

CREATE TABLE token_samples (
    id INTEGER PRIMARY KEY,
    server TEXT NOT NULL,
    model TEXT NOT NULL,
    counter TEXT NOT NULL,
    counted INTEGER NOT NULL,
    reported INTEGER NOT NULL
);

CREATE INDEX token_samples_by_model ON token_samples (server, model, counter);

CREATE TABLE model_lists (
    server TEXT PRIMARY KEY,
    fetched_at TEXT NOT NULL,
    models TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE chosen_model (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    provider TEXT NOT NULL,
    model TEXT NOT NULL
);
