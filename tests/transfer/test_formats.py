"""Recognizing a file's format, and the errors for files in none."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jitchat.errors import ImportFailed
from jitchat.store.imported import IncomingTurn, Origin
from jitchat.transfer import formats, json_text
from jitchat.transfer.format import Format, values_of
from jitchat.transfer.incoming import IncomingConversation, Tally
from jitchat.transfer.json_text import mapping, sequence, text
from jitchat.transfer.pieces import Text
from jitchat.transfer.turns import TurnMaker
from jitchat.values import Role
from tests.transfer.files import brief, jsonl, locomo_sample, plain_turns, read_file, written

if TYPE_CHECKING:
    from collections.abc import Callable


def refusal(path: Path, pick: str | None = None) -> str:
    with pytest.raises(ImportFailed) as caught:
        read_file(path, pick)
    return str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        json.dumps(plain_turns(3)),
        json.dumps({"messages": plain_turns(3)}),
        json.dumps(plain_turns(3), indent=4),
        jsonl(plain_turns(3)),
        jsonl(plain_turns(3)).replace("\n", "\r\n"),
        "\n\n" + jsonl(plain_turns(3)).rstrip(),
        b"\xef\xbb\xbf" + json.dumps(plain_turns(3)).encode(),
        b"\xef\xbb\xbf" + jsonl(plain_turns(3)).encode(),
        json.dumps(plain_turns(3)).encode("utf-16"),
        jsonl(plain_turns(3)).encode("utf-16-le"),
        jsonl(plain_turns(3)).encode("utf-32"),
    ],
    ids=brief,
)
def test_a_list_of_turns_is_read_in_every_variant_and_encoding(
    tmp_path: Path, content: str | bytes
):
    (found,) = read_file(written(tmp_path, "my talk.jsonl", content))

    assert [turn.content for turn in found.turns] == [each["content"] for each in plain_turns(3)]
    assert found.title == "my talk"
    assert not found.skipped


def test_a_single_line_of_jsonl_is_read(tmp_path: Path):
    (found,) = read_file(written(tmp_path, "talk.jsonl", jsonl(plain_turns(1))))

    assert len(found.turns) == 1


def test_line_separators_inside_a_text_do_not_end_a_line(tmp_path: Path):
    content = "one\u2028two\x85three\x0cfour"
    line = json.dumps({"role": "user", "content": content}, ensure_ascii=False)

    (found,) = read_file(written(tmp_path, "talk.jsonl", f"{line}\n{line}\n".encode()))

    assert [turn.content for turn in found.turns] == [content, content]


def test_broken_lines_are_counted_and_the_rest_is_taken(tmp_path: Path):
    lines = jsonl(plain_turns(3)).splitlines()
    lines[1:1] = ['{"role": "user", "content": "half', "nonsense", "[" * 100_000, "5"]

    (found,) = read_file(written(tmp_path, "talk.jsonl", "\n".join(lines)))

    assert len(found.turns) == 3
    assert dict(found.skipped) == {
        "line that is not JSON (2, 3, 4)": 3,
        "item that is not an object": 1,
    }


@pytest.mark.parametrize("first", ["nonsense", '{"role": "us', "[" * 100_000, "{" * 3], ids=brief)
def test_a_broken_first_line_does_not_hide_the_others(tmp_path: Path, first: str):
    text = f"{first}\n{jsonl(plain_turns(2))}"
    if first.startswith("["):
        assert "nested too deeply" in refusal(written(tmp_path, "talk.jsonl", text))
        return

    (found,) = read_file(written(tmp_path, "talk.jsonl", text))

    assert dict(found.skipped) == {"line that is not JSON (1)": 1}
    assert len(found.turns) == 2


@pytest.mark.parametrize("indent", [None, 0, 2])
@pytest.mark.parametrize(
    "value", [plain_turns(5), [locomo_sample()], locomo_sample()], ids=["plain", "locomo", "one"]
)
def test_a_truncated_file_is_refused_completely(tmp_path: Path, value: object, indent: int | None):
    whole = json.dumps(value, indent=indent)

    for cut in range(1, len(whole) - 1, max(1, len(whole) // 40)):
        told = refusal(written(tmp_path, "cut.json", whole[:cut]))
        assert "is not JSON" in told


def test_a_truncated_list_with_one_turn_per_line_is_refused_completely(tmp_path: Path):
    lines = ",\n".join(json.dumps(turn) for turn in plain_turns(5))

    assert "is not JSON" in refusal(written(tmp_path, "cut.json", f"[\n{lines}\n"))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is empty"),
        (b" \n\t\n", "is empty"),
        (b"\xef\xbb\xbf", "is empty"),
        (b"hello", "is not JSON"),
        (b"\x89PNG\r\n\x1a\n\0\0\0", "is not JSON"),
        (b"[" * 100_000, "is nested too deeply"),
        (b'{"a":' * 100_000, "is nested too deeply"),
        (b"null", "has no turns"),
        (b"5", "has no turns"),
        (b"{}", "has no turns"),
        (b"[]", "has no turns"),
        (b'[1, "a", null]', "has no turns (left out: 3 items that are not an object)"),
        (b'[{"role": "user"}]', "has no turns (left out: 1 message whose content is not text)"),
        (b'{"messages": {"a": 1}}', "has no turns (left out: 1 message without a known role)"),
        (b'[{"conversation": {"speaker_a": "A"}}]', "has no turns"),
    ],
    ids=brief,
)
def test_a_file_without_conversations_is_refused_with_the_supported_formats(
    tmp_path: Path, content: bytes, told: str
):
    said = refusal(written(tmp_path, "file", content))

    assert told in said
    assert said.endswith("(created_at and name are optional).")


def test_numbers_with_thousands_of_digits_are_harmless(tmp_path: Path):
    digits = "9" * 5_000
    text = f'[{{"role": "user", "content": "hi", "created_at": {digits}, "x": -{digits}}}]'

    (found,) = read_file(written(tmp_path, "file.json", text))

    assert dict(found.changed) == {"date that was not understood": 1}


@pytest.mark.parametrize(
    ("raw", "kept"),
    [
        (b"caf\xe9 ol\xe9", "caf� ol�"),
        (b"a\\ud83d b", "a� b"),
        (b"a\0b", "a␀b"),
        (b"a\\u0000b", "a␀b"),
        (b"\\ud83d\\ude00", "😀"),
    ],
)
def test_invalid_bytes_are_replaced_and_the_rest_is_read(tmp_path: Path, raw: bytes, kept: str):
    content = b'[{"role": "user", "content": "' + raw + b'"}]'

    (found,) = read_file(written(tmp_path, "file.json", content))

    assert found.turns[0].content == kept
    assert bool(found.changed) == ("😀" not in kept)


def test_a_missing_file_and_an_empty_folder_are_reported(tmp_path: Path):
    assert (
        refusal(tmp_path / "none.json") == f"There is no file {tmp_path}/none.json. Check the name."
    )
    (tmp_path / "empty").mkdir()
    assert refusal(tmp_path / "empty").startswith(
        f"{tmp_path}/empty has no turns. Supported formats: "
    )


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (
            json.dumps([*plain_turns(1), {"role": "user", "content": "x" * 3_000}]),
            "item that is larger",
        ),
        (
            jsonl([*plain_turns(1), {"role": "user", "content": "x" * 3_000}]),
            "line that is not JSON (2)",
        ),
        (
            json.dumps([*plain_turns(1), {"role": "user", "content": "x", "y": [0] * 100}]),
            "item that is larger than 90 values",
        ),
        (
            json.dumps([*plain_turns(1), {"role": "user", "y": [[[[[[[[0]]]]]]]]}]),
            "item that is nested too deeply",
        ),
    ],
    ids=["letters", "letters on a line", "values", "depth"],
)
def test_an_item_beyond_the_limits_is_skipped_and_the_rest_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str, told: str
):
    monkeypatch.setattr(json_text, "MAX_CHARACTERS", 2_000)
    monkeypatch.setattr(json_text, "MAX_VALUES", 90)
    monkeypatch.setattr(json_text, "MAX_DEPTH", 8)

    (found,) = read_file(written(tmp_path, "many", content))

    assert len(found.turns) == 1
    ((reason, number),) = found.skipped.items()
    assert reason.startswith(told)
    assert number == 1


def test_values_after_one_that_is_too_large_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(json_text, "MAX_CHARACTERS", 2_000)
    monkeypatch.setattr(json_text, "_CHUNK", 64)
    huge = {"role": "user", "content": 'a\\"[' * 3_000, "more": [[["x" * 5_000]]]}
    items = [plain_turns(1)[0], huge, plain_turns(2)[1]]

    (found,) = read_file(written(tmp_path, "f.json", json.dumps(items)))

    assert [turn.content for turn in found.turns] == [plain_turns(2)[n]["content"] for n in (0, 1)]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs the system's own count")
@pytest.mark.parametrize(
    ("before", "between", "after"),
    [("[", ",", "]"), ("", "\n", ""), ('{"messages": [', ",", "]}")],
    ids=["list", "lines", "object"],
)
def test_a_large_file_is_read_in_little_memory(
    tmp_path: Path, before: str, between: str, after: str, rounds: Callable[[int, int], int]
):
    count = rounds(30_000, 2_000_000)
    message = '{"role":"user","content":"' + "word " * 40 + '"}'
    path = tmp_path / "many.json"
    path.write_text(before + between.join([message] * count) + after)
    code = (
        "import pathlib, sys\n"
        "from jitchat.transfer.formats import conversations_of\n"
        "from jitchat.transfer.source import open_source\n"
        "status = pathlib.Path('/proc/self/status')\n"
        "most = lambda: int(status.read_text().partition('VmHWM:')[2].split()[0])\n"
        "bare = most()\n"
        "found = conversations_of(open_source(pathlib.Path(sys.argv[1])))\n"
        "print(sum(1 for each in found for turn in each.read()), most() - bare)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, path], capture_output=True, text=True, check=True
    )
    turns, kilobytes = map(int, done.stdout.split())
    assert turns == count
    assert kilobytes < 8 << 10


def test_a_turn_of_a_megabyte_on_one_line_is_taken(tmp_path: Path):
    content = "word " * 200_000 + "x" * 200_000

    (found,) = read_file(
        written(tmp_path, "f.jsonl", jsonl([{"role": "user", "content": content}]))
    )

    assert found.turns[0].content == content


def test_one_conversation_can_be_picked(tmp_path: Path):
    path = written(tmp_path, "f.json", [locomo_sample("conv-1"), locomo_sample("conv-2")])

    assert [each.id for each in read_file(path, "conv-2")] == ["conv-2"]


def test_picking_an_unknown_conversation_lists_the_known_ones(tmp_path: Path):
    path = written(tmp_path, "f.json", [locomo_sample(f"conv-{n}") for n in range(30)])

    told = refusal(path, "conv-99")

    assert "has no conversation 'conv-99'" in told
    assert "It has conv-0, conv-1," in told
    assert told.endswith("conv-19 and 10 more.")


def test_titles_and_ids_of_any_length_become_short(tmp_path: Path):
    sample = locomo_sample("i" * 9_000, speaker_a="a" * 9_000)

    (found,) = read_file(written(tmp_path, "f.json", [sample]))

    assert len(found.id) == 80
    assert len(found.title) <= 120


def test_a_new_format_needs_only_an_entry_in_the_list(tmp_path, monkeypatch):
    def read(file, source):
        for value in values_of(file, source.tally):
            maker, turns = TurnMaker(Tally()), list[IncomingTurn]()
            for number, line in enumerate(sequence(mapping(value)["lines"])):
                turns += maker.turns(str(number), Role.USER, [Text(text(line))])
            origin = Origin("lines", file.stem)
            yield IncomingConversation(origin, turns=turns, tally=maker.tally, id=file.stem)

    def matches(sample):
        return any("lines" in each for each in sample.items)

    lines = Format("lines", "a list of lines", matches, read)
    monkeypatch.setattr(formats, "FORMATS", (lines, *formats.FORMATS))
    path = tmp_path / "talk.json"
    path.write_text('{"lines": ["one", "two"]}')
    (found,) = read_file(path)
    assert (found.id, [turn.content for turn in found.turns]) == ("talk", ["one", "two"])
