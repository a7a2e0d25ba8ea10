-- What requests under way are expected to cost, in US dollars. Limits count this instead of the least cost in `requests`, so
-- that requests that are sent at once cannot exceed a limit together. The row is deleted when its request ends; one whose
-- process is gone does not count.

CREATE TABLE reservations (
    request INTEGER PRIMARY KEY REFERENCES requests(id) ON DELETE CASCADE,
    amount REAL NOT NULL,
    process INTEGER NOT NULL,
    made_at REAL NOT NULL
);
