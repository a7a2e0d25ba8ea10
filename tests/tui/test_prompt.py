"""The prompt: editing, history and folded pastes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from textual import events
from textual.app import App, ComposeResult
from textual.events import Key

from jitchat.draft import Draft
from jitchat.tui.widgets.prompt import LARGE, Prompt
from tests.tui.support import until

if TYPE_CHECKING:
    from textual.pilot import Pilot


class PromptApp(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.sent: list[str] = []

    def compose(self) -> ComposeResult:
        yield Prompt()

    def on_mount(self) -> None:
        self.query_one(Prompt).focus()

    def on_prompt_submitted(self, message: Prompt.Submitted) -> None:
        self.sent.append(message.draft.text)


def prompt_of(pilot: Pilot[None]) -> Prompt:
    return pilot.app.query_one(Prompt)


async def test_enter_sends() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await pilot.press("h", "i", "enter")
        assert app.sent == ["hi"]


@pytest.mark.parametrize("key", ["shift+enter", "ctrl+j", "alt+enter"])
async def test_a_modified_enter_starts_a_new_line(key: str) -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await pilot.press("a", key, "b")
        assert prompt_of(pilot).text == "a\nb"
        assert app.sent == []


async def test_a_backslash_before_enter_starts_a_new_line() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await pilot.press("a", "backslash", "enter", "b")
        assert prompt_of(pilot).text == "a\nb"
        assert app.sent == []


async def test_up_and_down_walk_the_history_and_keep_the_typed_text() -> None:
    async with PromptApp().run_test() as pilot:
        prompt = prompt_of(pilot)
        prompt.use_history(["newest", "older", "newest"])
        await pilot.press("up", "up")
        assert prompt.text == "older"
        await pilot.press("up")
        assert prompt.text == "older"
        await pilot.press("down", "down")
        assert prompt.text == ""


async def test_edits_to_recalled_prompts_stay_until_one_is_sent() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        prompt = prompt_of(pilot)
        prompt.use_history(["newest", "older"])
        await pilot.press("up", "!", "up", "?", "down")
        assert prompt.text == "newest!"
        await pilot.press("down")
        assert prompt.text == ""
        await pilot.press("x", "backspace", "up", "up")
        assert prompt.text == "older?"
        await pilot.press("enter", "up")
        assert app.sent == ["older?"]
        assert prompt.text == "older?"
        await pilot.press("up")
        assert prompt.text == "newest"


async def test_a_message_that_is_stored_takes_the_place_of_what_was_written() -> None:
    async with PromptApp().run_test() as pilot:
        prompt = prompt_of(pilot)
        prompt.use_history(["older"])
        await pilot.press(*"/jit hello", "enter", "o", "up")
        assert prompt.text == "older"
        prompt.know_sent(Draft.foreign("hello"))
        await pilot.press("down")
        assert prompt.text == "o"
        await pilot.press("backspace", "up")
        assert prompt.text == "hello"
        await pilot.press("up")
        assert prompt.text == "older"


async def test_the_typed_text_restricts_the_history_to_prompts_that_start_with_it() -> None:
    async with PromptApp().run_test() as pilot:
        prompt = prompt_of(pilot)
        prompt.use_history(["which port?", "and the host?", "Which day?", "why"])
        await pilot.press(*"whi", "up")
        assert prompt.text == "which port?"
        await pilot.press("up")
        assert prompt.text == "Which day?"
        await pilot.press("up", "down", "down")
        assert prompt.text == "whi"


async def test_up_moves_the_cursor_before_it_walks_the_history() -> None:
    async with PromptApp().run_test() as pilot:
        prompt = prompt_of(pilot)
        prompt.use_history(["older"])
        await pilot.press("a", "ctrl+j", "b", "up")
        assert prompt.text == "a\nb"
        assert prompt.cursor_location[0] == 0


def paste(pilot: Pilot[None], text: str) -> None:
    prompt_of(pilot).post_message(events.Paste(text))


def lines(count: int) -> str:
    return "\n".join(f"line {number}" for number in range(1, count + 1))


@pytest.mark.parametrize(
    ("pasted", "marker"),
    [
        (lines(300), "[300 lines…]"),
        (lines(10), lines(10)),
        ("x" * 2_001, "[2,001 characters…]"),
        ("x" * (10 << 20), "[10,485,760 characters…]"),
    ],
)
async def test_a_long_paste_is_folded_and_sent_whole(pasted: str, marker: str) -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        await pilot.press("a", "space")
        paste(pilot, pasted)
        await pilot.pause()
        assert prompt_of(pilot).text == f"a {marker}"
        await pilot.press("enter")
        assert app.sent == [f"a {pasted}"]


async def test_two_pastes_of_the_same_size_are_distinguished() -> None:
    async with PromptApp().run_test() as pilot:
        for text in ("a" * 3_000, "b" * 3_000, "a" * 3_000):
            prompt_of(pilot).paste(text)
        assert prompt_of(pilot).text.count("[3,000 characters…]") == 2
        assert prompt_of(pilot).draft == "a" * 3_000 + "b" * 3_000 + "a" * 3_000


async def test_a_folded_paste_is_one_unit_for_the_cursor_and_deletion() -> None:
    async with PromptApp().run_test() as pilot:
        prompt = prompt_of(pilot)
        prompt.insert("a ")
        prompt.paste(lines(300))
        await pilot.press("left")
        assert prompt.cursor_location == (0, 2)
        await pilot.press("right", "z", "backspace", "backspace")
        assert prompt.text == "a "
        await pilot.press("ctrl+underscore", "ctrl+underscore")
        assert prompt.draft == f"a {lines(300)}"
        prompt.move_cursor((0, 6))  # as a mouse may do
        await pilot.press("x")
        assert prompt.draft == f"a {lines(300)}x"
        prompt.move_cursor((0, 6))
        await pilot.press("alt+d")
        assert prompt.text == "a x"


@pytest.mark.parametrize("is_pasted", [False, True])
@pytest.mark.parametrize("is_deleted", [False, True])
async def test_a_text_that_looks_like_a_folded_paste_is_none(
    is_pasted: bool, is_deleted: bool
) -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        prompt = prompt_of(pilot)
        prompt.paste(lines(12))
        if is_deleted:
            await pilot.press("backspace")
        (prompt.paste if is_pasted else prompt.insert)(" [12xx lines…]")
        end = len(prompt.text)
        prompt.delete((0, end - 10), (0, end - 8))
        real = "" if is_deleted else lines(12)
        assert prompt.text == f"{'' if is_deleted else '[12 lines…]'} [12 lines…]"
        assert prompt.draft == f"{real} [12 lines…]"
        prompt.move_cursor((0, len(prompt.text)))
        await pilot.press("left", "enter")
        assert app.sent == [f"{real} [12 lines…]"]


@pytest.mark.parametrize(("key", "text"), [("ctrl+x", ""), ("ctrl+c", "[12 lines…]")])
async def test_a_folded_paste_is_copied_whole(key: str, text: str) -> None:
    async with PromptApp().run_test() as pilot:
        prompt = prompt_of(pilot)
        prompt.paste(lines(12))
        prompt.select_all()
        await pilot.press(key)
        assert (pilot.app.clipboard, prompt.text) == (lines(12), text)


async def test_unfolding_can_be_undone_with_the_cursor_on_the_last_line() -> None:
    async with PromptApp().run_test() as pilot:
        prompt = prompt_of(pilot)
        prompt.styles.max_height = 9
        prompt.paste(lines(300))
        await pilot.press("left", "enter")
        assert prompt.cursor_location[0] == 299
        await pilot.press("ctrl+underscore")
        assert (prompt.text, prompt.draft) == ("[300 lines…]", lines(300))
        await pilot.press("ctrl+shift+z")
        assert (prompt.text, prompt.cursor_location[0]) == (lines(300), 299)


async def test_enter_on_a_folded_paste_opens_it_and_sends_nothing() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        prompt = prompt_of(pilot)
        prompt.paste(lines(12))
        await pilot.press("left", "enter")
        assert (prompt.text, app.sent) == (lines(12), [])
        await pilot.press("enter")
        assert app.sent == [lines(12)]


async def test_a_click_opens_a_folded_paste() -> None:
    async with PromptApp().run_test() as pilot:
        prompt = prompt_of(pilot)
        prompt.paste(lines(12))
        prompt.insert(" which?")
        await pilot.click(Prompt, offset=(prompt.gutter.left + 14, 0))
        assert prompt.text == "[12 lines…] which?"
        await pilot.click(Prompt, offset=(prompt.gutter.left + 3, 0))
        assert prompt.text == f"{lines(12)} which?"


async def test_a_large_draft_is_still_complete_when_it_is_restored() -> None:
    draft = "word " * LARGE
    async with PromptApp().run_test() as pilot:
        prompt = prompt_of(pilot)
        prompt.give_back(draft)
        assert len(prompt.text) < 100
        assert prompt.draft == draft


async def test_a_restored_draft_does_not_replace_text_typed_since() -> None:
    async with PromptApp().run_test() as pilot:
        await pilot.press("n", "e", "w")
        prompt_of(pilot).give_back("old")
        assert prompt_of(pilot).text == "old\nnew"


async def test_control_characters_are_left_out_of_a_paste_with_a_notice() -> None:
    async with PromptApp().run_test() as pilot:
        prompt_of(pilot).post_message(events.Paste("a\x1b[31mred\x07\x00\tb\r\nc"))
        await pilot.pause()
        assert prompt_of(pilot).text == "a[31mred\tb\nc"
        (notice,) = pilot.app._notifications
        assert notice.message == "3 control characters were left out of the paste."


async def test_ctrl_d_deletes_to_the_right_while_there_is_text() -> None:
    async with PromptApp().run_test() as pilot:
        await pilot.press("a", "b", "home", "ctrl+d")
        assert prompt_of(pilot).text == "b"


async def test_after_enter_the_reply_is_drawn_without_the_typing_delay() -> None:
    async with PromptApp().run_test() as pilot:
        prompt = pilot.app.query_one(Prompt)
        await pilot.press("h", "i")
        assert prompt.typing
        await pilot.press("enter")
        assert not prompt.typing


@pytest.mark.parametrize("breaks", ["\r", "\r\n", "\n"])
async def test_a_paste_keeps_its_lines_with_any_line_ending(breaks: str) -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        prompt_of(pilot).post_message(events.Paste(f"one{breaks}two{breaks}three"))
        await pilot.pause()
        assert prompt_of(pilot).text == "one\ntwo\nthree"


async def test_a_burst_of_keys_is_handled_in_order() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        keys = ("a", "ctrl+j", "b", "x", "backspace", "c", "left", "d", "end", "f", "enter", "e")
        for key in keys:
            prompt_of(pilot).post_message(events.Key(key, key if len(key) == 1 else None))
        await until(pilot, lambda: prompt_of(pilot).text == "e", "the last key")
        assert app.sent == ["a\nbdcf"]


async def test_the_latest_prompt_is_first_in_the_history() -> None:
    app = PromptApp()
    async with app.run_test() as pilot:
        prompt_of(pilot).use_history(["an older one"])
        for text in ("first", "second"):
            prompt_of(pilot).insert(text)
            await pilot.press("enter")
        await pilot.press("up")
        assert prompt_of(pilot).text == "second"
        await pilot.press("up", "up")
        assert prompt_of(pilot).text == "an older one"


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        (("alt+d",), " beta Gamma"),
        (("alt+d", "alt+d", "ctrl+y"), "alpha beta Gamma"),
        (("end", "ctrl+w", "alt+backspace", "home", "ctrl+y"), "beta Gammaalpha "),
        (("ctrl+k", "ctrl+y", "ctrl+y"), "alpha beta Gammaalpha beta Gamma"),
        (("alt+f", "ctrl+u", "end", "ctrl+w", "ctrl+y", "ctrl+y"), " beta GammaGamma"),
        (("alt+d", "ctrl+underscore"), "alpha beta Gamma"),
        (("end", "ctrl+a", "alt+d", "ctrl+e", "ctrl+x", "ctrl+u"), "alpha beta Gamma"),
        (("alt+u",), "ALPHA beta Gamma"),
        (("alt+c", "alt+c"), "Alpha Beta Gamma"),
        (("alt+f", "alt+f", "alt+f", "alt+b", "alt+l"), "alpha beta gamma"),
        (("alt+f", "alt+t"), "beta alpha Gamma"),
        (("end", "alt+t"), "alpha Gamma beta"),
        (("end", "alt+backspace"), "alpha beta "),
        (("alt+t",), "alpha beta Gamma"),
    ],
)
async def test_the_word_commands_of_shells_work(keys: tuple[str, ...], text: str) -> None:
    async with PromptApp().run_test() as pilot:
        prompt = prompt_of(pilot)
        prompt.insert("alpha beta Gamma")
        await pilot.press("home")
        for key in keys:
            letter = key.removeprefix("alt+")  # as Textual reads it from a terminal
            prompt.post_message(Key(key, letter if len(letter) == 1 else None))
            await pilot.pause()
        assert prompt.text == text
