-- The mode that was picked in a conversation: NULL if none was. The one picked last in any is in screen_state.

ALTER TABLE conversations ADD COLUMN mode TEXT;
