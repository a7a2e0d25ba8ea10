-- Tools that the user allowed for good, each as it described itself then.

CREATE TABLE tool_grants (
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    digest TEXT NOT NULL,
    granted_at TEXT NOT NULL,
    PRIMARY KEY (server, tool)
);
