"""The report of a defect says where it was, and nothing that anybody wrote."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from jitchat.crash import crash_report, redacted, remember_secret, write_crash

TEXT = "my diagnosis is confidential"
KEY = "sk-canary-0123456789abcdef"


def failed_with(error: BaseException) -> BaseException:
    """`error`, raised among locals that hold what must not leak."""
    said, api_key = TEXT, KEY
    try:
        raise error
    except BaseException as caught:  # noqa: BLE001  groups and interrupts too
        assert (said, api_key) == (TEXT, KEY)
        return caught


@pytest.mark.parametrize(
    "error",
    [
        ValueError(f"could not parse {TEXT}"),
        KeyError(TEXT),
        RuntimeError(f"Authorization: Bearer {KEY}"),
        OSError(28, "No space left", f"/home/{TEXT}"),
        UnicodeEncodeError("ascii", TEXT, 0, 1, "ordinal not in range"),
        ExceptionGroup(TEXT, [ValueError(TEXT), KeyError(KEY)]),
        SystemExit(TEXT),
    ],
    ids=lambda error: type(error).__name__,
)
def test_no_text_no_key_and_no_locals_are_in_it(error: BaseException):
    report = crash_report(failed_with(error), "1.0")

    assert type(error).__name__ in report
    for canary in (*TEXT.split()[1:2], "confidential", "canary"):
        assert canary not in report


def test_it_says_what_failed_and_where():
    report = crash_report(failed_with(ValueError("x")), "1.2.3")

    first, kind, place = report.splitlines()
    assert first.startswith("jitchat 1.2.3, Python 3.")
    assert kind == "ValueError"
    assert place.startswith("  test_crash.py:")
    assert place.endswith(" in failed_with")


def test_frames_name_the_module_and_not_the_machine():
    with pytest.raises(json.JSONDecodeError) as caught:
        json.loads("{")
    report = crash_report(caught.value, "1.0")

    assert "  json/decoder.py:" in report
    assert str(Path.home()) not in report
    with pytest.raises(AttributeError) as inside:
        write_crash(None, "")  # type: ignore[arg-type]
    assert "  jitchat/crash.py:" in crash_report(inside.value, "1.0")


def test_the_codes_of_libraries_are_in_it():
    connection = sqlite3.connect(":memory:")
    with pytest.raises(sqlite3.IntegrityError) as caught:
        connection.executescript("CREATE TABLE t (a NOT NULL); INSERT INTO t VALUES (NULL)")
    connection.close()

    assert "IntegrityError (sqlite SQLITE_CONSTRAINT" in crash_report(caught.value, "1.0")
    assert "OSError (errno 5)" in crash_report(OSError(5, "x"), "1.0")
    assert "(module numpyy)" in crash_report(ImportError("x", name="numpyy"), "1.0")


def test_causes_and_contexts_follow():
    try:
        try:
            raise KeyError("a")
        except KeyError as error:
            raise ValueError("b") from error
    except ValueError as error:
        report = crash_report(error, "1.0")

    kinds = [line for line in report.splitlines()[1:] if not line.startswith("  ")]
    assert kinds == ["ValueError", "after", "KeyError"]


def test_a_cause_that_was_put_aside_is_left_out():
    try:
        try:
            raise KeyError("a")
        except KeyError:
            raise ValueError("b") from None
    except ValueError as error:
        report = crash_report(error, "1.0")

    assert "ValueError" in report
    assert "KeyError" not in report


def test_causes_in_a_circle_end():
    one, two = ValueError("1"), KeyError("2")
    one.__cause__, two.__cause__ = two, one

    assert crash_report(one, "1.0").splitlines()[1:] == ["ValueError", "after", "KeyError"]


def test_endless_recursion_makes_a_short_report():
    def again() -> None:
        again()

    with pytest.raises(RecursionError) as caught:
        again()

    lines = crash_report(caught.value, "1.0").splitlines()
    assert len(lines) < 60
    assert any(line.endswith(" more") for line in lines)


@pytest.mark.parametrize(
    "text",
    [
        "Bearer abcdef123456",
        "x-api-key: abcdef123456",
        "api_key=abcdef123456",
        "Authorization: abcdef123456",
        "sk-proj-abcdef123456",
        "AIzaabcdef123456",
        "gsk_abcdef123456",
    ],
)
def test_what_looks_like_a_key_is_blotted_out(text: str):
    assert "abcdef" not in redacted(f"it said {text} and stopped")
    assert redacted("a short task list, no keys") == "a short task list, no keys"


def test_a_known_secret_is_blotted_out_whatever_it_looks_like():
    assert redacted("the word is swordfish!", ["swordfish", ""]) == "the word is •••!"


def test_the_file_is_for_the_user_alone_even_where_one_was_before(tmp_path: Path):
    path = tmp_path / "data" / "crash.txt"

    assert write_crash(path, "first")
    path.chmod(0o644)
    assert write_crash(path, "second")

    assert path.read_text() == "second"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_a_link_in_its_place_is_not_followed(tmp_path: Path):
    precious = tmp_path / "precious"
    precious.write_text("keep")
    path = tmp_path / "crash.txt"
    path.symlink_to(precious)

    assert write_crash(path, "report")

    assert precious.read_text() == "keep"
    assert not path.is_symlink()


def test_a_place_that_cannot_be_written_is_told_not_raised(tmp_path: Path):
    (tmp_path / "file").write_text("")

    assert not write_crash(tmp_path / "file" / "crash.txt", "report")
    assert not write_crash(tmp_path, "report")


def test_what_was_found_in_this_process_is_blotted_out(monkeypatch: pytest.MonkeyPatch):
    remember_secret("remembered-0123456789")
    remember_secret("none")
    monkeypatch.setenv("WORK_TOKEN", "of-a-variable-0123456789")
    monkeypatch.setenv("A_SHORT_KEY", "local")

    told = redacted("remembered-0123456789 of-a-variable-0123456789 none local")

    assert told == "••• ••• none local"
