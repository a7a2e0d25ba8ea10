-- What a tool that the user allowed for good was like, and how its server was started, as lines of
-- text; the digest is no longer used. Earlier grants were not bound to variables and headers, so the
-- user is asked once more.

ALTER TABLE tool_grants ADD COLUMN definition TEXT NOT NULL DEFAULT '';

DELETE FROM tool_grants;
