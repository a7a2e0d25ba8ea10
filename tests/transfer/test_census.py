"""The census of an import: every string of a source is stored, counted, or excluded by its key."""

from __future__ import annotations

import json
import re
import tomllib
from base64 import b64encode
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest

from jitchat.attachments import digest_of_bytes
from jitchat.text.figures import plural
from jitchat.transfer import census, incoming
from jitchat.transfer.census import Census, Place, rules_of
from tests.transfer.exports import PNG_URL, chatgpt, chatgpt_node
from tests.transfer.files import jsonl, plain_turns, take, written

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable
    from pathlib import Path

    from jitchat.store.store import ColdStore


def places_of(source: object, *stored: str, place: Place = Place.TURNS) -> dict[str, Place]:
    """Return the place of each key's string in a census of a ChatGPT source."""
    compared = Census(rules_of("chatgpt"))
    compared.read(source)
    compared.compare([(place, text) for text in stored], ["what the importer left out"])
    return dict(compared.counts.keys())


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("plain words", "some plain words here"),
        ("two  words\n\nin lines ", "two words in lines"),
        ("<p>Use <b>ls</b> &amp; look</p>", "Use *ls* & look"),
        ('<a href="https://a.example/b">here</a>', "[here](https://a.example/b)"),
        ("> a line\n> and &lt;another&gt;", "a line\nand <another>"),
        (json.dumps({"path": "a\nb", "text": 'a "quoted" one'}), 'a b: a "quoted" one'),
        ("what the importer left out", ""),
    ],
)
def test_a_text_is_found_whole_or_in_all_of_its_parts(text: str, stored: str):
    place = Place.TURNS if stored else Place.TALLY
    assert places_of({"x": text}, stored) == {"x": place}


@pytest.mark.parametrize("keys", files("jitchat.transfer").joinpath("keys").iterdir())
def test_what_is_left_out_has_a_plural(keys: Traversable):
    for name in tomllib.loads(keys.read_text("utf-8")).get("left_out", {}):
        head = re.split(r" (?:of|on|that|from)\b", name)[0]
        assert re.fullmatch("[a-z -]*[a-rt-z]", head)
        assert plural(2, name).startswith((f"2 {head}s", f"2 {head[:-1]}ies"))


@pytest.mark.parametrize("size", [1, 20, 2_000])
def test_a_file_in_a_data_url_is_found_by_its_digest(size: int):
    data = bytes(size)
    url = f"data:text/plain;base64,{b64encode(data).decode()}"
    assert places_of({"x": url}, digest_of_bytes(data), place=Place.FILES) == {"x": Place.FILES}


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("auto", "automatically"),
        ("List<String>", "List"),
        ("<b>one</b> <i>two</i>", "one"),
        ('<a href="https://a.example/b">here</a>', "here"),
        (json.dumps(["one", "two"]), "one"),
        ("one\ntwo", "one"),
        (PNG_URL, "a picture"),
    ],
)
def test_a_text_of_which_a_part_is_missing_is_nowhere(text: str, stored: str):
    assert places_of({"x": text}, stored) == {"x": Place.NOWHERE}


def test_a_file_without_text_has_no_other_text():
    assert places_of({"x": "words"}, "", place=Place.FILES) == {"x": Place.NOWHERE}


def test_a_key_holds_for_everything_below_it_and_an_id_is_no_key():
    tree = {"mapping": {"one": {"id": "one", "message": {"x": {"y": ["deep"]}}}}}

    assert places_of(tree) == {"id": Place.EXCLUDED, "x.y": Place.NOWHERE}


def test_a_long_file_is_compared_while_it_is_read(
    tmp_path: Path, store: ColdStore, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(incoming, "_WINDOW", 7)
    monkeypatch.setattr(census, "_WINDOW", 100)
    lines = [{**turn, "novelty": f"lost {at}"} for at, turn in enumerate(plain_turns(100))]

    (taken,) = take(store, written(tmp_path, "f.jsonl", jsonl(lines)), is_whole=False)

    assert taken.census.counts["content", Place.TURNS] == 100
    assert taken.census.counts["novelty", Place.NOWHERE] == 100
    assert dict(taken.tally.skipped) == {"text that is under novelty": 100}


def talk_with(**more: Any) -> dict[str, Any]:
    return chatgpt(chatgpt_node("u1", None, "user", text="Hello", **more))


def test_an_import_names_texts_of_keys_that_it_does_not_know(tmp_path: Path, store: ColdStore):
    path = written(tmp_path, "c.json", [talk_with(novelty={"text": "unheard of"})])

    (taken,) = take(store, path, is_whole=False)

    assert dict(taken.tally.skipped) == {"text that is under novelty.text": 1}
    assert taken.census.examples == [("novelty.text", "unheard of")]
