"""Only what is typed or completed in the prompt attaches files, however it is edited."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from textual import events
from textual.app import App, ComposeResult
from textual.widgets.text_area import Selection

from jitchat.draft import FOREIGN, Draft
from jitchat.files.named import mentions_of
from jitchat.tui.widgets.prompt import Prompt
from tests.mention_spellings import texts

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual.pilot import Pilot


TEXTS = texts("/home/ann")
FOLDS = "\n".join(["line"] * 12)


class PromptApp(App[None]):
    def compose(self) -> ComposeResult:
        yield Prompt()

    def on_mount(self) -> None:
        self.query_one(Prompt).focus()


async def pasted(prompt: Prompt, pilot: Pilot[None], text: str) -> None:
    await prompt._on_paste(events.Paste(text))


async def folded(prompt: Prompt, pilot: Pilot[None], text: str) -> None:
    await prompt._on_paste(events.Paste(f"{text}\n{FOLDS}"))
    assert "lines…]" in prompt.text


async def unfolded(prompt: Prompt, pilot: Pilot[None], text: str) -> None:
    await prompt._on_paste(events.Paste(f"{text}\n{FOLDS}"))
    prompt.move_cursor((0, 0))
    prompt._enter()
    assert "lines…]" not in prompt.text


async def from_clipboard(prompt: Prompt, pilot: Pilot[None], text: str) -> None:
    pilot.app.copy_to_clipboard(text)
    await prompt.action_paste_any()


async def recalled(prompt: Prompt, pilot: Pilot[None], text: str) -> None:
    prompt.use_history([text])
    prompt._walk("up")


async def returned(prompt: Prompt, pilot: Pilot[None], text: str) -> None:
    prompt.give_back(text)


async def edited(prompt: Prompt, pilot: Pilot[None], text: str) -> None:
    prompt.swap(text)


async def inserted(prompt: Prompt, pilot: Pilot[None], text: str) -> None:
    prompt.retype(text)


async def assigned(prompt: Prompt, pilot: Pilot[None], text: str) -> None:
    prompt.text = text


async def cut_and_yanked(prompt: Prompt, pilot: Pilot[None], text: str) -> None:
    await prompt._on_paste(events.Paste(text))
    prompt.select_all()
    prompt.action_kill("line_left")
    prompt.action_yank()


async def undone_and_redone(prompt: Prompt, pilot: Pilot[None], text: str) -> None:
    await prompt._on_paste(events.Paste(text))
    prompt.undo()
    prompt.redo()


WAYS = (
    pasted, folded, unfolded, from_clipboard, recalled, returned, edited, inserted, assigned,
    cut_and_yanked, undone_and_redone,
)  # fmt: skip


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
async def test_text_that_was_not_typed_mentions_nothing(
    way: Callable[[Prompt, Pilot[None], str], Awaitable[None]],
    rounds: Callable[[int, int], int],
) -> None:
    """Of the texts, each way begins with another one."""
    async with PromptApp().run_test() as pilot:
        prompt = pilot.app.query_one(Prompt)
        for text in TEXTS[WAYS.index(way) :: rounds(len(WAYS) * 2, 1)]:
            prompt.swap("")
            await way(prompt, pilot, text)
            assert prompt.message.text.strip(), text
            assert mentions_of(prompt.message) == (), text
            prompt.insert(" @typed.md ", prompt.document.end)
            assert mentions_of(prompt.message) == ("typed.md",), text


async def test_what_is_typed_or_completed_mentions_its_files() -> None:
    async with PromptApp().run_test() as pilot:
        prompt = pilot.app.query_one(Prompt)
        for key in "see @a.md":
            await pilot.press({" ": "space", "@": "at", ".": "full_stop"}.get(key, key))
        assert mentions_of(prompt.message) == ("a.md",)
        prompt.swap(Draft.foreign("see @no"))
        prompt.complete("@notes.md", 4, " ")
        assert mentions_of(prompt.message) == ("notes.md",)
        for mixed in ("@{}/id_rsa", "{}id_rsa"):
            prompt.swap("")
            before, _, after = mixed.partition("{}")
            prompt.insert(before)
            prompt.paste("~/.ssh" if before else "@~/.ssh/")
            prompt.insert(after)
            assert mentions_of(prompt.message) == ()


def expected(text: str) -> str:
    """The origin of a text in which capitals are foreign, and so are the markers of folds."""
    return "".join(FOREIGN if letter.isupper() else letter for letter in text)


@pytest.mark.parametrize("swaps", [False, True])
async def test_the_origin_of_text_moves_with_every_edit(
    swaps: bool, rounds: Callable[[int, int], int]
) -> None:
    chance = random.Random(20260313)

    def location(prompt: Prompt) -> tuple[int, int]:
        row = chance.randrange(prompt.document.line_count)
        return row, chance.randint(0, len(prompt.document.get_line(row)))

    def word(letters: str) -> str:
        return "".join(chance.choices(f"{letters} \n", k=chance.randint(1, 9)))

    async with PromptApp().run_test() as pilot:
        prompt = pilot.app.query_one(Prompt)
        actions: list[Callable[[], object]] = [
            lambda: prompt.insert(word("abc")),
            lambda: prompt.insert(word("abc"), location(prompt)),
            lambda: prompt.paste(word("ABC")),
            lambda: prompt.paste("FOLDED\n" * 12),
            lambda: prompt.replace(word("abc"), location(prompt), location(prompt)),
            lambda: prompt.delete(location(prompt), location(prompt)),
            prompt.action_delete_left,
            prompt.action_delete_right,
            prompt.action_newline,
            lambda: prompt.action_kill(
                chance.choice(("word_left", "word_right", "line_left", "line_right", "blank_left"))
            ),
            prompt.action_yank,
            lambda: prompt._open_folded(prompt.cursor_location),
            prompt.undo,
            prompt.undo,
            prompt.redo,
            lambda: prompt.give_back(word("ABC")),
            lambda: prompt.retype(Draft.by_user(word("abc")) + Draft.foreign(word("ABC"))),
        ]
        actions += [prompt.action_transpose_words] * swaps
        for _ in range(rounds(600, 3_000)):
            start = location(prompt)
            end = location(prompt) if chance.random() < 0.3 else start
            prompt.selection = Selection(start, end)
            chance.choice(actions)()
            draft = prompt.message
            if swaps:  # words that are swapped across the border are foreign, all of them
                pairs = zip(draft.typed, expected(draft.text), strict=True)
                assert all(typed in (FOREIGN, want) for typed, want in pairs)
            else:
                assert draft.typed == expected(draft.text)
            if len(draft.text) > 2_000:
                prompt.swap("")
