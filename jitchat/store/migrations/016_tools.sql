-- What a turn has of tools: its calls and what is handed back with them, or the call that it answers; JSON.

ALTER TABLE turns ADD COLUMN tools TEXT;
