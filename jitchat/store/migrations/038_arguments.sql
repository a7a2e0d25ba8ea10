-- The arguments of a call are a part of its turn's text: turns with calls are indexed and embedded again, in the background.

UPDATE index_entries SET stems_version = 0
WHERE turn IN (SELECT id FROM turns WHERE json_valid(tools) AND json_type(tools, '$.calls') = 'array');

DELETE FROM vectors
WHERE turn IN (SELECT id FROM turns WHERE json_valid(tools) AND json_type(tools, '$.calls') = 'array');
