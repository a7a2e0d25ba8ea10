"""`jitchat backup`, and what of a conversation is left in jitchat's folder after it is erased."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jitchat.store.copies import upgrade_copies
from jitchat.store.database import migration_names
from tests.store.test_schema import database_at
from tests.transfer.files import plain_turns, written

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Shell

CANARY = "heliotrope"


def holding(folder: Path) -> list[str]:
    """The files in a folder that have the canary, by their paths in it."""
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and CANARY.encode() in path.read_bytes()
    )


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


def test_an_erased_conversation_is_left_only_in_runs_of_the_lab_which_are_named(
    jitchat: Shell, tmp_path: Path
):
    turns = plain_turns(40)
    for number, turn in enumerate(turns):
        turn["content"] = f"{CANARY} {number}: {turn['content']} and so on, as we said before."
    jitchat("import", written(tmp_path, "talk.json", turns))
    (made,) = jitchat("conversations", "--json").json
    tiny = ("--lengths", "500", "--depths", "0", "--kinds", "direct", "--modes", "jit")
    for own in (("--conversation", made["id"]), (), ("--conversation", made["id"])):
        done = jitchat("rot", "--headless", "--yes", "--provider", "reader", *own, *tiny)
        assert done.code == 0, done.err
    assert holding(jitchat.home) == ["jitchat.db", "rot/r1.db", "rot/r3.db"]

    done = jitchat("conversations", "delete", made["id"], "--yes", "--erase")

    assert "copies of it: r3, r1. `jitchat rot forget RUN` deletes one." in done.err
    assert holding(jitchat.home) == ["rot/r1.db", "rot/r3.db"]
    for run in ("r1", "r3"):
        assert jitchat("rot", "forget", run, "--yes").code == 0
    assert holding(jitchat.home) == []


def test_a_run_is_forgotten_with_the_copy_from_before_a_migration(jitchat: Shell, home: Path):
    jitchat("rot", "--headless", "--yes", "--provider", "reader", "--lengths", "500")
    run = home / "rot" / "r1.db"
    run.with_name("r1.db.before-020").write_text(CANARY)
    assert jitchat("rot", "forget", "r1", "--yes").code == 0
    assert upgrade_copies(run) == []
    assert not run.exists()


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
