"""Where things are, and what decided it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from jitchat.paths import locate

if TYPE_CHECKING:
    import pytest


def test_one_folder_holds_everything_with_jitchat_home(tmp_path: Path):
    paths = locate({"JITCHAT_HOME": str(tmp_path)})

    assert list(paths.rows()) == [
        ("config", tmp_path / "config.toml", "$JITCHAT_HOME"),
        ("keys", tmp_path / "keys.toml", "$JITCHAT_HOME"),
        ("database", tmp_path / "jitchat.db", "$JITCHAT_HOME"),
        ("models", tmp_path / "models", "$JITCHAT_HOME"),
        ("crash", tmp_path / "crash.txt", "$JITCHAT_HOME"),
        ("answers", tmp_path / "answers.jsonl", "$JITCHAT_HOME"),
        ("rot", tmp_path / "rot", "$JITCHAT_HOME"),
        ("servers", tmp_path / "servers", "$JITCHAT_HOME"),
        ("pasted", tmp_path / "pasted", "$JITCHAT_HOME"),
        ("log", tmp_path / "log.txt", "$JITCHAT_HOME"),
    ]


def test_a_flag_wins_over_its_variable_over_the_home(tmp_path: Path):
    environ = {"JITCHAT_HOME": "/home-of", "JITCHAT_DB": "/v.db", "JITCHAT_CONFIG": "/v.toml"}

    by_variable = locate(environ)
    by_flag = locate(environ, config=tmp_path / "f.toml", database=tmp_path / "f.db")

    assert (by_variable.database, by_variable.origins["database"]) == (Path("/v.db"), "$JITCHAT_DB")
    assert (by_variable.config, by_variable.origins["config"]) == (
        Path("/v.toml"),
        "$JITCHAT_CONFIG",
    )
    assert (by_flag.database, by_flag.origins["database"]) == (tmp_path / "f.db", "--db")
    assert (by_flag.config, by_flag.origins["config"]) == (tmp_path / "f.toml", "--config")


def test_without_a_home_the_platforms_folders_are_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for variable in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))

    paths = locate({})

    assert len({paths.config.parent, paths.database.parent, paths.models.parent}) >= 2
    for _, path, origin in paths.rows():
        assert path.is_relative_to(tmp_path)
        assert "jitchat" in path.parts
        assert origin == "default"


def test_nothing_is_created(tmp_path: Path):
    locate({"JITCHAT_HOME": str(tmp_path / "home")})

    assert list(tmp_path.iterdir()) == []


def test_every_location_is_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "me"))

    paths = locate({"JITCHAT_HOME": "here", "JITCHAT_DB": "~/my.db"})

    assert paths.config == tmp_path / "here" / "config.toml"
    assert paths.database == tmp_path / "me" / "my.db"


def test_the_home_of_nobody_is_an_ordinary_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)

    assert locate({"JITCHAT_HOME": "~no-such-user"}).database == (
        tmp_path / "~no-such-user" / "jitchat.db"
    )


def test_a_current_folder_that_was_deleted_is_no_obstacle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    assert locate({"JITCHAT_HOME": str(tmp_path)}).database == tmp_path / "jitchat.db"
    assert locate({"JITCHAT_HOME": "x"}).database == Path("x/jitchat.db")
