"""The schema of the cold store, as numbered migrations. It only grows: append, never edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlite_utils import Database, Migrations

from jitchat.store.database import MIGRATION_SET

if TYPE_CHECKING:
    import sqlite3

migrations = Migrations(MIGRATION_SET)


def migrate(connection: sqlite3.Connection) -> None:
    """Apply what is missing, inside the transaction that is open."""
    migrations.apply(Database(connection, recursive_triggers=False))


_FULL_TEXT = (
    "CREATE VIRTUAL TABLE turns_fts USING fts5"
    " (content, content='turns', content_rowid='id', tokenize='porter unicode61')",
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
)
"""A full-text index of the turns, which triggers keep up to date."""


@migrations(name="001_cold_store")
def cold_store(db: Database) -> None:
    """Conversations and their turns, in order of position."""
    for statement in (
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
        *_FULL_TEXT,
    ):
        db.execute(statement)


@migrations(name="002_hot_index")
def hot_index(db: Database) -> None:
    """One entry a turn, and its vectors, one an embedder."""
    for statement in (
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
    ):
        db.execute(statement)


@migrations(name="003_windows")
def windows(db: Database) -> None:
    """Every window that was sent; its parts are stored once, by their hash."""
    for statement in (
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
    ):
        db.execute(statement)


@migrations(name="004_kinds_of_turn")
def kinds_of_turn(db: Database) -> None:
    """What kind of turn each is. Entries are made anew: words are matched in another way."""
    db.execute("DELETE FROM index_entries")
    for column in ("asks", "tells_when", "disclaims"):
        db.execute(f"ALTER TABLE index_entries ADD COLUMN {column} INTEGER NOT NULL DEFAULT 0")


@migrations(name="005_model_lines")
def model_lines(db: Database) -> None:
    """Index lines that a model wrote; those of `index_entries` stay beside them."""
    db.execute(
        """
        CREATE TABLE model_lines (
            turn INTEGER PRIMARY KEY REFERENCES turns(id),
            model TEXT NOT NULL,
            line TEXT NOT NULL
        )
        """
    )


@migrations(name="006_forks")
def forks(db: Database) -> None:
    """What a turn follows, where that is not the position before; and where a conversation is."""
    db.execute("ALTER TABLE turns ADD COLUMN parent INTEGER")
    db.execute("ALTER TABLE conversations ADD COLUMN head INTEGER")
    db.execute(
        "CREATE INDEX turns_forked ON turns (conversation, position, parent)"
        " WHERE parent IS NOT NULL"
    )


@migrations(name="007_replies")
def replies(db: Database) -> None:
    """What came with a reply beside its text."""
    db.execute(
        """
        CREATE TABLE reasoning (
            turn INTEGER PRIMARY KEY REFERENCES turns(id),
            content TEXT NOT NULL
        )
        """
    )
    for column in (
        "written_tokens INTEGER",
        "reasoning_tokens INTEGER",
        "stop TEXT",
        "cost REAL",
        "provider TEXT",
    ):
        db.execute(f"ALTER TABLE windows ADD COLUMN {column}")
    db.execute("CREATE INDEX windows_by_reply ON windows (reply)")


_OF_MODELS = (
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
)


@migrations(name="008_models")
def models(db: Database) -> None:
    """What servers taught about their models, what models they have, and the one in use."""
    for statement in _OF_MODELS:
        db.execute(statement)


_OF_INSPECTION = (
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
)


@migrations(name="009_inspection")
def inspection(db: Database) -> None:
    """What is kept of a send beside its window; what the user decided about turns."""
    for statement in _OF_INSPECTION:
        db.execute(statement)


_OF_ROT = (
    "CREATE TABLE rot_run (id INTEGER PRIMARY KEY CHECK (id = 1), fields TEXT NOT NULL)",
    "CREATE TABLE rot_cells (id INTEGER PRIMARY KEY, cell TEXT NOT NULL UNIQUE,"
    " window INTEGER REFERENCES windows(id), fields TEXT NOT NULL)",
)


@migrations(name="010_rot")
def rot(db: Database) -> None:
    """A run of the rot lab, in a store of its own: its settings, and what came of its cells."""
    for statement in _OF_ROT:
        db.execute(statement)


_OF_VECTORS = (
    "CREATE TABLE vectors_in_rows (turn INTEGER NOT NULL REFERENCES turns(id),"
    " embedder TEXT NOT NULL, dimension INTEGER NOT NULL, vector BLOB NOT NULL,"
    " PRIMARY KEY (turn, embedder))",
    "INSERT INTO vectors_in_rows SELECT * FROM vectors ORDER BY turn",
    "DROP TABLE vectors",
    "ALTER TABLE vectors_in_rows RENAME TO vectors",
)


@migrations(name="011_vectors_in_rows")
def vectors_in_rows(db: Database) -> None:
    """Keep vectors in rows: without a rowid, SQLite gives a page of its own to each large one."""
    for statement in _OF_VECTORS:
        db.execute(statement)


_TOLD = (
    "CREATE TABLE told_limits (server TEXT NOT NULL, model TEXT NOT NULL, tokens INTEGER NOT NULL,"
    " source TEXT NOT NULL, told_at TEXT NOT NULL, PRIMARY KEY (server, model)) WITHOUT ROWID",
    "ALTER TABLE windows ADD COLUMN charged REAL",
)


@migrations(name="012_told_by_providers")
def told_by_providers(db: Database) -> None:
    """What servers said of their models' limits, and when; what they charged for each request."""
    for statement in _TOLD:
        db.execute(statement)


_OF_THE_SCREEN = (
    "CREATE TABLE drafts (conversation TEXT PRIMARY KEY REFERENCES conversations(id),"
    " text TEXT NOT NULL)",
    "CREATE TABLE chosen_theme (id INTEGER PRIMARY KEY CHECK (id = 1), name TEXT NOT NULL)",
)


@migrations(name="013_screen_state")
def screen_state(db: Database) -> None:
    """What the screen had when it was left: drafts that were not sent, and the theme."""
    for statement in _OF_THE_SCREEN:
        db.execute(statement)
