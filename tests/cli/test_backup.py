"""`jitchat backup`, and the log when no copy is kept before a migration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jitchat.store.database import migration_names
from tests.store.test_schema import database_at

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Shell


def test_a_backup_says_its_size_and_is_never_overwritten(
    jitchat: Shell, demo: object, tmp_path: Path
):
    target = tmp_path / "backup.db"
    done = jitchat("backup", target)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"{jitchat.home / 'jitchat.db'} was copied to {target}: 0.")
    assert done.out.endswith(" MB.\n")
    again = jitchat("backup", target)
    assert (again.code, again.out) == (1, "")
    assert again.err.startswith(f"jitchat: No backup was written to {target}: File exists.")
    other = tmp_path / "other.db"
    told = jitchat("backup", other, "--json").json
    assert told == {"file": str(other), "bytes": other.stat().st_size}
    listed = jitchat("conversations", "--json", "--db", target).json
    assert listed == jitchat("conversations", "--json").json


def test_a_database_that_is_not_copied_before_a_migration_leaves_a_line_in_the_log(
    jitchat: Shell, home: Path
):
    home.mkdir()
    database_at(home / "jitchat.db", migration_names()[-1])
    copy = home / f"jitchat.db.before-{migration_names()[-1][:3]}"
    copy.mkdir()  # so that no file can have the name
    done = jitchat("send", "Which port?", "--provider", "reader")
    assert done.code == 0, done.err
    assert (
        f"{home / 'jitchat.db'} was not copied before migration" in (home / "log.txt").read_text()
    )
