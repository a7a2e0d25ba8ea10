-- The size of a conversation's windows, in tokens or 'auto': NULL if the settings say it.
ALTER TABLE conversations ADD COLUMN size;
