"""`jitchat import`: what is imported and reported, and that a failure stores nothing."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

from jitchat import models
from jitchat.cli import output
from jitchat.index.indexer import BATCH
from tests.index.support import FailingEmbedder
from tests.transfer import exports
from tests.transfer.claude_code import SESSION, claude_code_session
from tests.transfer.files import jsonl, locomo_sample, plain_turns, written
from tests.transfer.test_hostile_files import WHOLE, mutated

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Shell


def test_a_single_turn_is_reported_in_the_singular(jitchat: Shell, tmp_path: Path):
    done = jitchat("import", written(tmp_path, "one.json", plain_turns()[:1]))
    assert done.out == "one: 1 turn imported as “one”; nothing left out\n"


def test_every_conversation_of_a_file_is_imported_and_reported(jitchat: Shell, tmp_path: Path):
    path = written(tmp_path, "f.json", [locomo_sample("conv-1"), locomo_sample("conv-2"), 5])

    done = jitchat("import", path)

    assert done.code == 0
    assert done.out.splitlines() == [
        "conv-1: 4 turns imported as “Ann and Bo (conv-1)”; nothing left out",
        "conv-2: 4 turns imported as “Ann and Bo (conv-2)”; nothing left out",
        "locomo-3: nothing to import; left out: 1 sample without a conversation",
    ]
    assert done.err == ""
    assert sorted(jitchat.stored()) == ["conv-1", "conv-2"]


def test_one_conversation_can_be_picked(jitchat: Shell, tmp_path: Path):
    path = written(tmp_path, "f.json", [locomo_sample("conv-1"), locomo_sample("conv-2")])

    assert jitchat("import", path, "--pick", "conv-2").code == 0
    assert list(jitchat.stored()) == ["conv-2"]


def test_picking_an_unknown_conversation_lists_the_known_ones(jitchat: Shell, tmp_path: Path):
    path = written(tmp_path, "f.json", [locomo_sample("conv-1"), locomo_sample("conv-2")])

    done = jitchat("import", path, "--pick", "conv-3")

    assert done.code == 1
    assert "has no conversation 'conv-3'. It has conv-1, conv-2." in done.err


def test_the_report_states_what_was_left_out_or_changed_and_why(jitchat: Shell, tmp_path: Path):
    items = [*plain_turns(2), {"role": "system", "content": "x"}, {"role": "user", "content": " "}]
    items.append({"role": "system", "content": "y"})
    items.append({"role": "user", "content": "a", "created_at": "soon"})
    text = f"{jsonl(items)}half a line\n"

    done = jitchat("import", written(tmp_path, "talk.jsonl", text))

    assert done.out == (
        "talk: 3 turns imported as “talk”; left out: 1 empty message, 1 line that is not JSON (7),"
        " 1 message with instructions; imported with changes: 1 date that was not understood\n"
    )


def test_a_deleted_conversation_stays_deleted_until_it_is_requested_again(
    jitchat: Shell, tmp_path: Path
):
    path = written(tmp_path, "talk.json", plain_turns(2))
    jitchat("import", path)
    jitchat("conversations", "delete", "talk", "--yes")

    left, taken = jitchat("import", path), jitchat("import", path, "--again")

    assert left.out == "left out: 1 conversation that was deleted here (import with --again)\n"
    assert taken.out == "talk: 2 turns imported as “talk”; nothing left out\n"


def test_the_same_file_adds_only_new_turns(jitchat: Shell, tmp_path: Path):
    jitchat("import", written(tmp_path, "talk.json", plain_turns(2)))

    again = jitchat("import", tmp_path / "talk.json")
    longer = jitchat("import", written(tmp_path, "talk.json", plain_turns(5)))

    assert again.out == "talk: nothing new; stored as talk; nothing left out\n"
    assert longer.out == "talk: 3 new turns added to talk; nothing left out\n"
    assert len(jitchat.stored()["talk"]) == 5


def test_another_file_of_the_same_name_is_stored_under_another_id(jitchat: Shell, tmp_path: Path):
    jitchat("import", written(tmp_path, "talk.json", plain_turns(2)))

    other = jitchat("import", written(tmp_path, "talk.json", plain_turns(3)[1:]))

    assert "talk: 2 turns imported as “talk”; stored as talk-2; nothing left out" in other.out
    assert sorted(jitchat.stored()) == ["talk", "talk-2"]


def test_many_conversations_are_reported_in_one_sentence(jitchat: Shell, tmp_path: Path):
    samples = [locomo_sample(f"conv-{number}") for number in range(30)]
    path = written(tmp_path, "f.json", [*samples, 5])

    first, again = jitchat("import", path, "--no-index"), jitchat("import", path)

    assert first.out == (
        "120 turns imported in 30 conversations; 1 had nothing to import;"
        " left out: 1 sample without a conversation\n"
    )
    assert again.out.startswith("0 turns imported in 0 conversations; 30 had nothing new;")


def test_conversations_not_indexed_are_indexed_when_used(jitchat: Shell, tmp_path: Path):
    jitchat("import", written(tmp_path, "talk.json", plain_turns(20)), "--no-index")

    assert jitchat("window", "the harbour", "--json").json["ledger"]


def test_a_program_without_local_conversations_requires_a_file(jitchat: Shell):
    done = jitchat("import", "--from", "chatgpt")

    assert done.code == 2
    assert done.err == (
        "jitchat: FILE is missing."
        " Give one, or use --from with claude-code, codex, opencode, llm.\n"
    )


@pytest.mark.parametrize("is_there", [False, True])
def test_without_conversations_of_a_program_the_error_says_what_was_looked_for(
    jitchat: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_there: bool
):
    place = tmp_path / "projects"
    if is_there:
        place.mkdir()
        written(place, "notes.json", {"a": 1})
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))

    done = jitchat("import", "--from", "claude-code")

    assert done.code == 1
    where = (
        f"found in {place} (left out: 1 file without conversations)"
        if is_there
        else f"found: {place} does not exist"
    )
    assert done.err == (
        f"jitchat: No claude-code conversation was {where}. Looked for *.jsonl; give the path"
        " as FILE, or set $CLAUDE_CONFIG_DIR.\n"
    )


def test_the_usual_place_of_a_program_is_found_again_and_again(
    jitchat: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = tmp_path / "projects" / "-home-ann-harbor"
    folder.mkdir(parents=True)
    lines = claude_code_session()
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    written(folder, f"{SESSION}.jsonl", jsonl(lines[:4]))
    first = jitchat("import", "--from", "claude-code")
    written(folder, f"{SESSION}.jsonl", jsonl(lines))

    second, third = (jitchat("import", "--from", "claude-code") for _ in range(2))

    assert "turns imported as" in first.out
    assert "new turns added to claude-code-" in second.out
    assert "nothing new" in third.out


def test_a_file_of_another_program_is_refused(jitchat: Shell, tmp_path: Path):
    path = written(tmp_path, "f.json", [locomo_sample()])

    done = jitchat("import", path, "--from", "chatgpt")

    assert done.code == 1
    assert done.err == f"jitchat: {path} is LoCoMo's JSON. Omit --from.\n"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is empty"),
        (b"[" * 100_000, "is nested too deeply"),
        (b'[{"role": "user", "conte', "is not JSON"),
        (b"[]", "has no turns"),
        (b"\x89PNG\r\n\x1a\n", "is not JSON"),
    ],
    ids=["empty", "deep", "cut", "no turns", "image"],
)
def test_a_bad_file_ends_with_an_error_and_stores_nothing(
    jitchat: Shell, tmp_path: Path, content: bytes, told: str
):
    path = written(tmp_path, "bad.json", content)

    done = jitchat("import", path)

    assert done.code == 1
    assert done.out == ""
    assert done.err.startswith(f"jitchat: {path} {told}")
    assert not (jitchat.home / "jitchat.db").exists()


def test_a_missing_file_and_an_empty_folder_end_with_an_error(jitchat: Shell, tmp_path: Path):
    assert jitchat("import", tmp_path / "none").err == (
        f"jitchat: There is no file {tmp_path / 'none'}. Check the name.\n"
    )
    assert f"{tmp_path} has no turns. Supported formats: " in jitchat("import", tmp_path).err


def test_damaged_files_end_with_an_error_or_are_stored_completely(
    jitchat: Shell, tmp_path: Path, rounds: Callable[[int, int], int]
):
    codes = set()
    for seed in range(rounds(25, 1_000)):
        luck = random.Random(seed)
        path = written(tmp_path, "damaged.json", mutated(luck.choice(WHOLE), luck))
        before = len(jitchat.stored())

        done = jitchat("import", path, "--no-vectors")

        stored = len(jitchat.stored()) - before
        assert stored == len(re.findall(" turns? imported as ", done.out)), f"seed {seed}"
        is_known = re.search("nothing new|added to|up to date", done.out) is not None
        assert (stored == 0 and not is_known) == (done.code == 1), f"seed {seed}"
        codes.add(done.code)
    assert codes == {0, 1}


def test_a_progress_bar_is_drawn_only_in_a_terminal(
    jitchat: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = written(tmp_path, "talk.json", plain_turns(300))
    assert jitchat("import", path).err == ""

    monkeypatch.setattr(output, "is_terminal", lambda stream: True)
    done = jitchat("import", written(tmp_path, "other.json", plain_turns(300)))

    assert "other.json: importing" in done.err
    assert "other: indexing" in done.err
    assert "indexing" not in done.out


class Interrupted:
    """An embedder during whose second batch Ctrl+C is pressed, once."""

    id = "interrupted"
    dimension = 2

    def __init__(self) -> None:
        self.pressed = False
        self.done: list[str] = []

    def embed(self, texts: list[str]) -> np.ndarray:
        if len(self.done) == BATCH and not self.pressed:
            self.pressed = True
            raise KeyboardInterrupt
        self.done += texts
        return np.ones((len(texts), 2), dtype=np.float32)


def test_an_import_that_is_interrupted_while_indexing_catches_up_later(
    jitchat: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    embedder, turns = Interrupted(), plain_turns(300)
    monkeypatch.setattr(models, "make_embedder", lambda *_: embedder)

    done = jitchat("import", written(tmp_path, "talk.json", turns))

    assert done.code == 130
    assert "talk is stored; turns not indexed yet are indexed when they are next used." in done.err
    assert len(jitchat.stored()["talk"]) == 300
    assert 0 < len(embedder.done) < 300

    window = jitchat("window", "the harbour", "--json").json
    assert embedder.done == [*(turn["content"] for turn in turns), "the harbour"]
    assert window["ledger"]


def test_a_failing_embedder_is_reported_and_loses_no_turn(
    jitchat: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(models, "make_embedder", lambda *_: FailingEmbedder())

    done = jitchat("import", written(tmp_path, "talk.json", plain_turns(20)))

    assert done.code == 0
    assert "talk: 20 turns imported" in done.out
    assert done.err.startswith("talk has no vectors yet: The embedder fake-8 failed (RuntimeError)")


def test_vectors_can_be_added_later(
    jitchat: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("JITCHAT_EMBEDDER_NAME", "fastembed")
    monkeypatch.setenv("JITCHAT_EMBEDDER_PATH", str(tmp_path / "no-model"))
    path = written(tmp_path, "talk.json", plain_turns(4))

    refused, taken = jitchat("import", path), jitchat("import", path, "--no-vectors")

    assert refused.code == 1
    assert f"cannot be loaded from {tmp_path / 'no-model'}" in refused.err
    assert taken.code == 0
    assert list(jitchat.stored()) == ["talk"]


def test_output_that_cannot_be_written_ends_with_an_error(
    jitchat: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def full(text: str, *, file: object, **how: object) -> None:
        if file is output.sys.stdout:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(output.click, "echo", full)
    done = jitchat("import", written(tmp_path, "talk.json", plain_turns(2)))

    assert done.code == 1
    assert list(jitchat.stored()) == ["talk"]


def test_the_real_file_is_imported(jitchat: Shell, locomo: Path):
    done = jitchat("import", locomo, "--pick", "conv-26")

    assert done.out == (
        "conv-26: 419 turns imported as “Caroline and Melanie (conv-26)”; nothing left out\n"
    )


def test_a_check_prints_where_every_text_would_be_and_imports_nothing(
    jitchat: Shell, tmp_path: Path
):
    message = exports.claude_message("m1", "", "human", "Hello", novelty="unheard of")
    path = written(tmp_path, "c.json", [exports.claude(message)])

    failed = jitchat("import", "--check", path)
    whole = jitchat("import", "--check", written(tmp_path, "d.json", [exports.chatgpt_talk()]))

    assert (failed.code, whole.code) == (1, 0)
    assert failed.out.splitlines()[:2] == [
        "Imported into a temporary database, and compared:",
        "claude-0f0e0d0c: 1 turn imported as “Kites”;"
        " left out: 1 text that is under chat_messages.novelty",
    ]
    assert "nowhere: chat_messages.novelty: unheard of" in failed.out
    assert re.search(r"^ +1 +1 +sender \(a kind, which the turn has\)$", failed.out, re.MULTILINE)
    assert whole.out.endswith("Every text is accounted for.\n")
    assert jitchat.stored() == {}
