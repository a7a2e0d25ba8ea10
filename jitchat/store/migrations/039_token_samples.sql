-- What a server reported for a request, with the tokens that are not of text. Earlier samples do not
-- say what was in the request.

DELETE FROM token_samples;

ALTER TABLE token_samples ADD COLUMN others TEXT NOT NULL DEFAULT '{}';
