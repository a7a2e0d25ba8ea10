-- What the screen had when it was left: drafts that were not sent, and the theme.

CREATE TABLE drafts (
    conversation TEXT PRIMARY KEY REFERENCES conversations(id),
    text TEXT NOT NULL
);

CREATE TABLE chosen_theme (id INTEGER PRIMARY KEY CHECK (id = 1), name TEXT NOT NULL);
