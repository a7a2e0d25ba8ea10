-- Which message a reply answers, by position, where it is not the last message before the reply on
-- its branch: two programs can write to one conversation. NULL means that last message, as it was
-- for all replies until now.

ALTER TABLE turns ADD COLUMN question INTEGER;

CREATE INDEX turns_by_question ON turns (conversation, position, question)
    WHERE question IS NOT NULL;
