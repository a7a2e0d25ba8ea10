-- A conversation's own system text, and its persona: NULL where it is as the settings say, an empty name for none.

ALTER TABLE conversations ADD COLUMN system TEXT;
ALTER TABLE conversations ADD COLUMN persona TEXT;
