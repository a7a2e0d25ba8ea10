"""Only what the user typed or completed attaches files; text of any other origin attaches none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.cli import options
from jitchat.cli.turns import read_draft
from jitchat.draft import EMPTY, FOREIGN, Draft, as_draft, joined
from jitchat.files.named import find_mention, mentions_of
from jitchat.store.drafts import Drafts
from jitchat.values import Role, Turn
from tests.mention_spellings import FILES, PATHS, spelled, texts
from tests.session.sending import talking

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from jitchat.store.store import ColdStore

TEXTS = texts("/home/ann")
pieces = st.tuples(st.booleans(), st.sampled_from([*TEXTS, "@", '@"', "@~/.ssh/", "notes.md", " "]))


def draft_of(parts: list[tuple[bool, str]]) -> Draft:
    """Join pieces, each of which was typed or not."""
    draft = EMPTY
    for is_typed, text in parts:
        draft += Draft.by_user(text) if is_typed else Draft.foreign(text)
    return draft


def stdin(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(options, "_standard_input", lambda: text)
    monkeypatch.setattr(options, "is_piped", lambda: True)


def piped(text: str, store: ColdStore) -> Draft:
    return options.text_and_piped("review this")


def alone(text: str, store: ColdStore) -> Draft:
    return options.text_and_piped(None)


def dash(text: str, store: ColdStore) -> Draft:
    return options.text_and_piped("-")


def dash_of_window(text: str, store: ColdStore) -> Draft:
    return read_draft("-")


def restored(text: str, store: ColdStore) -> Draft:
    drafts, name = Drafts(store.database), store.create("A talk").id
    drafts.put(name, Draft.foreign(text))
    return drafts.get(name)


def restored_of_an_earlier_version(text: str, store: ColdStore) -> Draft:
    name = store.create("A talk").id
    query = "INSERT INTO drafts (conversation, text) VALUES (?, ?)"
    store.database.execute(query, (name, text))
    return Drafts(store.database).get(name)


def stored_turn(text: str, store: ColdStore) -> Draft:
    session = talking(store)
    store.append(session.memory.conversation.id, [Turn(0, Role.USER, text)])
    session.memory.refresh()
    return session.memory.draft_of(session.memory.turns[-1])


def changed_by_an_editor(text: str, store: ColdStore) -> Draft:
    return Draft.by_user("so: ").edited(f"so: {text}")


def of_unknown_origin(text: str, store: ColdStore) -> Draft:
    return as_draft(text)


WAYS = (
    piped, alone, dash, dash_of_window, restored, restored_of_an_earlier_version, stored_turn,
    changed_by_an_editor, of_unknown_origin,
)  # fmt: skip


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_foreign_text_mentions_nothing(
    way: Callable[[str, ColdStore], Draft], store: ColdStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    database_ways = (restored, restored_of_an_earlier_version, stored_turn)
    for text in TEXTS[:: 40 if way in database_ways else 1]:
        stdin(monkeypatch, text)
        draft = way(text, store)
        assert text.strip() in draft.text
        assert mentions_of(draft) == (), text


def test_what_is_typed_around_foreign_text_is_the_users_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for text in TEXTS:
        stdin(monkeypatch, text)
        assert mentions_of(options.text_and_piped("see @typed.md")) == ("typed.md",)


@given(st.lists(pieces, max_size=6))
def test_a_mention_is_the_users_only_if_every_character_of_it_is(
    parts: list[tuple[bool, str]],
) -> None:
    draft = draft_of(parts)
    origin = "".join(("t" if is_typed else "f") * len(text) for is_typed, text in parts)
    assert len(draft.text) == len(draft.typed) == len(origin)
    for shown, typed, by in zip(draft.text, draft.typed, origin, strict=True):
        assert typed == (FOREIGN if by == "f" and not shown.isspace() else shown)
    for name in mentions_of(draft):
        starts = [n for n in range(len(draft.text)) if draft.text.startswith(name, n)]
        assert any(set(origin[n : n + len(name.strip())]) == {"t"} for n in starts), name


@given(st.lists(pieces, max_size=4), st.integers(0, 40), st.integers(0, 40))
def test_parts_and_joins_keep_the_origin(
    parts: list[tuple[bool, str]], start: int, end: int
) -> None:
    draft = draft_of(parts)
    start, end = sorted((start, end))
    again = draft.between(0, start) + draft.between(start, end) + draft.between(end)
    assert again == draft
    assert joined((draft, EMPTY)) == draft
    assert draft.edited(draft.text) == draft
    edited = draft.edited(f"{draft.text[:start]}@new.md{draft.text[start:]}")
    assert not any("new.md" in name for name in mentions_of(edited))


@pytest.mark.parametrize("path", [path for path in PATHS if "{" not in path])
def test_every_spelling_that_the_user_types_finds_its_file(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    current, home = tmp_path / "current", tmp_path / "home"
    for file in (*(current / name for name in FILES[:-1]), home / ".ssh/id_rsa"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("text")
    (current / "link.md").symlink_to("notes.md")
    monkeypatch.setenv("HOME", str(home))
    for mention in spelled(path):
        [name] = mentions_of(Draft.by_user(f"see {mention}"))
        named = find_mention(name, current)
        assert named.files, mention
