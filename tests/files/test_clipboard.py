"""Pictures from the clipboard, and the errors if there is none."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from PIL import Image, ImageGrab

from jitchat.errors import FileRefused
from jitchat.files.clipboard import remove_taken, take_pictures
from jitchat.files.load import MOST_OF_PICTURE
from jitchat.files.named import attach, find_mention, pasted_folder

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 11, 25, 17, 30, 5, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JITCHAT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DISPLAY", ":99")


def holds(monkeypatch: pytest.MonkeyPatch, found: object) -> None:
    def grabbed() -> object:
        if isinstance(found, Exception):
            raise found
        return found

    monkeypatch.setattr(ImageGrab, "grabclipboard", grabbed)


def test_a_picture_is_found_by_its_name_until_it_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    holds(monkeypatch, Image.new("CMYK", (30, 20)))
    named = take_pictures(NOW)
    assert named == "@clipboard-20261125-173005.png"
    assert take_pictures(NOW) == "@clipboard-20261125-173005-2.png"

    [file] = attach([find_mention(f"{named[1:]}.", tmp_path)], tmp_path)
    assert file.name == named[1:]
    assert file.picture is not None
    assert (file.picture.width, file.picture.height) == (30, 20)
    assert (pasted_folder() / file.name).stat().st_mode & 0o077 == 0
    remove_taken([file])
    assert find_mention(f"{named[1:]}.", tmp_path).files == ()
    assert len(list(pasted_folder().iterdir())) == 1


def test_a_picture_that_no_message_included_is_removed_after_a_month(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    holds(monkeypatch, Image.new("RGB", (30, 20)))
    old = pasted_folder() / take_pictures(NOW)[1:]
    os.utime(old, (0, 0))
    take_pictures(NOW.replace(day=26))
    assert not old.exists()


def test_a_picture_that_is_large_is_kept_as_jpeg(monkeypatch: pytest.MonkeyPatch) -> None:
    holds(monkeypatch, Image.frombytes("RGB", (1_500, 1_500), os.urandom(1_500 * 1_500 * 3)))
    named = take_pictures(NOW)
    assert named.endswith(".jpg")
    assert (pasted_folder() / named[1:]).stat().st_size < MOST_OF_PICTURE


def test_copied_files_are_mentioned(monkeypatch: pytest.MonkeyPatch) -> None:
    holds(monkeypatch, ["/a/shot.png", "/a/other one.png"])
    assert take_pictures(NOW) == '@/a/shot.png @"/a/other one.png"'


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (None, "no picture in the clipboard. Copy one"),
        (NotImplementedError("wl-paste or xclip is required"), "Install wl-clipboard"),
        (ChildProcessError("xclip error: Can't open display: :99"), "Can't open display: :99"),
        (Image.new("F", (1, 1)).crop((0, 0, 0, 0)), "is damaged"),
    ],
)
def test_without_a_picture_the_error_says_why(
    monkeypatch: pytest.MonkeyPatch, found: object, why: str
) -> None:
    holds(monkeypatch, found)
    with pytest.raises(FileRefused, match=why):
        take_pictures(NOW)


def test_without_a_display_or_the_extra_the_error_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(FileRefused, match=r"pip install 'jitchat\[pictures\]'"):
        take_pictures(NOW)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("DISPLAY")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    with pytest.raises(FileRefused, match="no display, so"):
        take_pictures(NOW)
