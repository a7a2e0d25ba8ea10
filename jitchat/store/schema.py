"""The schema of the cold store, as numbered migrations. It only grows: append, never edit."""

import sqlite3
from collections.abc import Callable

MIGRATION_SET = "jitchat"
MIGRATION_TABLE = "_sqlite_migrations"
"""Where sqlite-utils notes which migrations were applied."""

MIGRATIONS: dict[str, tuple[str, ...]] = {
    # Conversations and their turns, in order of position.
    "001_cold_store": (
        """
        CREATE TABLE conversations (
            id TEXT PRIMARY KEY,
            title TEXT NOT NULL,
            touched INTEGER NOT NULL,
            created_at TEXT NOT NULL,
            updated_at TEXT NOT NULL
        )
        """,
        """
        CREATE TABLE turns (
            id INTEGER PRIMARY KEY,
            conversation TEXT NOT NULL REFERENCES conversations(id),
            position INTEGER NOT NULL,
            role TEXT NOT NULL,
            name TEXT,
            content TEXT NOT NULL,
            created_at TEXT,
            status TEXT NOT NULL DEFAULT 'complete',
            UNIQUE (conversation, position)
        )
        """,
        """
        CREATE TABLE streaming (
            turn INTEGER PRIMARY KEY REFERENCES turns(id),
            process INTEGER NOT NULL,
            seen_at REAL NOT NULL
        )
        """,
        """
        CREATE VIRTUAL TABLE turns_fts USING fts5 (
            content, content='turns', content_rowid='id', tokenize='porter unicode61'
        )
        """,
        """
        CREATE TRIGGER turns_fts_insert AFTER INSERT ON turns BEGIN
            INSERT INTO turns_fts (rowid, content) VALUES (new.id, new.content);
        END
        """,
        """
        CREATE TRIGGER turns_fts_update AFTER UPDATE OF content ON turns BEGIN
            INSERT INTO turns_fts (turns_fts, rowid, content)
                VALUES ('delete', old.id, old.content);
            INSERT INTO turns_fts (rowid, content) VALUES (new.id, new.content);
        END
        """,
    ),
    # One index entry a turn, and its vectors, one an embedder.
    "002_hot_index": (
        """
        CREATE TABLE index_entries (
            turn INTEGER PRIMARY KEY REFERENCES turns(id),
            summary TEXT NOT NULL,
            entities TEXT NOT NULL,
            dates TEXT NOT NULL,
            decision INTEGER NOT NULL,
            stems TEXT NOT NULL
        )
        """,
        """
        CREATE TABLE vectors (
            turn INTEGER NOT NULL REFERENCES turns(id),
            embedder TEXT NOT NULL,
            dimension INTEGER NOT NULL,
            vector BLOB NOT NULL,
            PRIMARY KEY (turn, embedder)
        ) WITHOUT ROWID
        """,
    ),
    # Every window that was sent; its parts are stored once, by their hash.
    "003_windows": (
        "CREATE TABLE blobs (digest TEXT PRIMARY KEY, content TEXT NOT NULL) WITHOUT ROWID",
        """
        CREATE TABLE windows (
            id INTEGER PRIMARY KEY,
            turn INTEGER NOT NULL REFERENCES turns(id),
            reply INTEGER REFERENCES turns(id),
            digest TEXT NOT NULL,
            header TEXT NOT NULL,
            segments TEXT NOT NULL,
            ledger TEXT NOT NULL,
            input_tokens INTEGER,
            output_tokens INTEGER,
            cached_tokens INTEGER
        )
        """,
        "CREATE INDEX windows_by_turn ON windows (turn)",
    ),
    # What kind of turn each is. The index is rebuilt: words are matched in another way.
    "004_kinds_of_turn": (
        "DELETE FROM index_entries",
        "ALTER TABLE index_entries ADD COLUMN asks INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE index_entries ADD COLUMN tells_when INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE index_entries ADD COLUMN disclaims INTEGER NOT NULL DEFAULT 0",
    ),
    # Index lines that a model wrote; those of `index_entries` stay beside them.
    "005_model_lines": (
        """
        CREATE TABLE model_lines (
            turn INTEGER PRIMARY KEY REFERENCES turns(id),
            model TEXT NOT NULL,
            line TEXT NOT NULL
        )
        """,
    ),
    # What a turn follows, where that is not the position before; and where a conversation is.
    "006_forks": (
        "ALTER TABLE turns ADD COLUMN parent INTEGER",
        "ALTER TABLE conversations ADD COLUMN head INTEGER",
        """
        CREATE INDEX turns_forked ON turns (conversation, position, parent)
            WHERE parent IS NOT NULL
        """,
    ),
    # What came with a reply beside its text.
    "007_replies": (
        """
        CREATE TABLE reasoning (
            turn INTEGER PRIMARY KEY REFERENCES turns(id),
            content TEXT NOT NULL
        )
        """,
        "ALTER TABLE windows ADD COLUMN written_tokens INTEGER",
        "ALTER TABLE windows ADD COLUMN reasoning_tokens INTEGER",
        "ALTER TABLE windows ADD COLUMN stop TEXT",
        "ALTER TABLE windows ADD COLUMN cost REAL",
        "ALTER TABLE windows ADD COLUMN provider TEXT",
        "CREATE INDEX windows_by_reply ON windows (reply)",
    ),
    # What servers taught about their models, what models they have, and the one in use.
    "008_models": (
        """
        CREATE TABLE refused_parameters (
            server TEXT NOT NULL,
            model TEXT NOT NULL,
            parameter TEXT NOT NULL,
            PRIMARY KEY (server, model, parameter)
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE learnt_limits (
            server TEXT NOT NULL,
            model TEXT NOT NULL,
            tokens INTEGER NOT NULL,
            PRIMARY KEY (server, model)
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE token_samples (
            id INTEGER PRIMARY KEY,
            server TEXT NOT NULL,
            model TEXT NOT NULL,
            counter TEXT NOT NULL,
            counted INTEGER NOT NULL,
            reported INTEGER NOT NULL
        )
        """,
        "CREATE INDEX token_samples_by_model ON token_samples (server, model, counter)",
        """
        CREATE TABLE model_lists (
            server TEXT PRIMARY KEY,
            fetched_at TEXT NOT NULL,
            models TEXT NOT NULL
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE chosen_model (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            provider TEXT NOT NULL,
            model TEXT NOT NULL
        )
        """,
    ),
    # What is kept of a send beside its window; what the user decided about turns.
    "009_inspection": (
        "ALTER TABLE windows ADD COLUMN sizes TEXT",
        "ALTER TABLE windows ADD COLUMN request TEXT",
        "ALTER TABLE windows ADD COLUMN sent_at TEXT",
        """
        CREATE TABLE held_turns (
            turn INTEGER PRIMARY KEY REFERENCES turns(id),
            hold TEXT NOT NULL CHECK (hold IN ('pinned', 'excluded'))
        )
        """,
        """
        CREATE TABLE cases (
            id INTEGER PRIMARY KEY,
            said INTEGER NOT NULL REFERENCES turns(id),
            wanted INTEGER NOT NULL REFERENCES turns(id),
            kind TEXT NOT NULL CHECK (kind IN ('miss', 'kept')),
            window INTEGER REFERENCES windows(id),
            noted_at TEXT NOT NULL,
            UNIQUE (said, wanted)
        )
        """,
    ),
    # A run of the rot lab, in a store of its own: its settings, and what came of its cells.
    "010_rot": (
        "CREATE TABLE rot_run (id INTEGER PRIMARY KEY CHECK (id = 1), fields TEXT NOT NULL)",
        """
        CREATE TABLE rot_cells (
            id INTEGER PRIMARY KEY,
            cell TEXT NOT NULL UNIQUE,
            window INTEGER REFERENCES windows(id),
            fields TEXT NOT NULL
        )
        """,
    ),
    # Keep vectors in rows: without a rowid, SQLite gives a page of its own to each large one.
    "011_vectors_in_rows": (
        """
        CREATE TABLE vectors_in_rows (
            turn INTEGER NOT NULL REFERENCES turns(id),
            embedder TEXT NOT NULL,
            dimension INTEGER NOT NULL,
            vector BLOB NOT NULL,
            PRIMARY KEY (turn, embedder)
        )
        """,
        "INSERT INTO vectors_in_rows SELECT * FROM vectors ORDER BY turn",
        "DROP TABLE vectors",
        "ALTER TABLE vectors_in_rows RENAME TO vectors",
    ),
    # What servers said of their models' limits, and when; what they charged for each request.
    "012_told_by_providers": (
        """
        CREATE TABLE told_limits (
            server TEXT NOT NULL,
            model TEXT NOT NULL,
            tokens INTEGER NOT NULL,
            source TEXT NOT NULL,
            told_at TEXT NOT NULL,
            PRIMARY KEY (server, model)
        ) WITHOUT ROWID
        """,
        "ALTER TABLE windows ADD COLUMN charged REAL",
    ),
    # What the screen had when it was left: drafts that were not sent, and the theme.
    "013_screen_state": (
        """
        CREATE TABLE drafts (
            conversation TEXT PRIMARY KEY REFERENCES conversations(id),
            text TEXT NOT NULL
        )
        """,
        "CREATE TABLE chosen_theme (id INTEGER PRIMARY KEY CHECK (id = 1), name TEXT NOT NULL)",
    ),
}
"""The statements of each migration, by its name, in the order in which they are applied."""


def migrate(connection: sqlite3.Connection, stop_before: str | None = None) -> None:
    """Apply what is missing, inside the transaction that is open."""
    # 200 ms with the numpy that it brings, and needed once a database.
    from sqlite_utils import Database, Migrations  # noqa: PLC0415

    def running(statements: tuple[str, ...]) -> Callable[[Database], None]:
        def run(database: Database) -> None:
            for statement in statements:
                database.execute(statement)

        return run

    migrations = Migrations(MIGRATION_SET)
    for name, statements in MIGRATIONS.items():
        migrations(name=name)(running(statements))
    migrations.apply(Database(connection, recursive_triggers=False), stop_before=stop_before)
