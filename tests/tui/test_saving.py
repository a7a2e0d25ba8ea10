"""A file is written correctly, or the error is reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from jitchat.errors import JitchatError
from jitchat.tui.widgets.input_lines import AlreadyThere, save


def test_a_file_is_replaced_only_after_confirmation(tmp_path: Path) -> None:
    name = str(tmp_path / "request.json")
    assert save(name, b"first, and longer") == Path(name)
    assert Path(name).stat().st_mode & 0o777 == 0o600
    with pytest.raises(AlreadyThere, match=r"already exists\. Press Enter to replace it"):
        save(name, b"second")
    assert Path(name).read_bytes() == b"first, and longer"
    save(name, b"second", over=True)
    assert Path(name).read_bytes() == b"second"


def test_a_replacing_file_is_private_and_follows_no_link(tmp_path: Path) -> None:
    folder, kept, name = (tmp_path / each for each in ("folder", "kept.json", "request.json"))
    folder.mkdir()
    kept.write_bytes(b"kept")
    kept.chmod(0o644)
    name.symlink_to(kept)
    save(str(name), b"new", over=True)
    assert (name.read_bytes(), name.stat().st_mode & 0o777) == (b"new", 0o600)
    assert not name.is_symlink()
    assert kept.read_bytes() == b"kept"
    with pytest.raises(JitchatError):
        save(str(folder), b"x", over=True)
    assert sorted(tmp_path.iterdir()) == [folder, kept, name]


@pytest.mark.parametrize("name", ["no/such/folder/x", "\0", ".", "x" * 3_000])
def test_a_file_that_cannot_be_written_is_reported(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(JitchatError) as failed:
        save(name, b"x", over=True)
    assert "cannot be written: " in failed.value.what
    assert failed.value.remedy == "Choose another name."
