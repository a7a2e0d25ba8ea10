-- What the screen had when it was left, by name: the theme, and whether the inspector was open.

CREATE TABLE screen_state (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

INSERT INTO screen_state SELECT 'theme', name FROM chosen_theme;

DROP TABLE chosen_theme;
