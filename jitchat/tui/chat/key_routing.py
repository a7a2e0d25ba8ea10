"""Where a key goes while the chat is on screen: the one place that decides.

A key is decided on as it arrives, before it is in any widget's queue, so that a burst keeps its
order whatever the focus does meanwhile:

- In the prompt, every key is the prompt's.
- In a pane (conversation, inspector), a letter that the footer shows there asks first: Enter does
  it, Esc does not, and whatever else is typed goes to the prompt, that letter ahead of it. What
  harms nothing, as to copy, is done at once, and the letter goes to the prompt only where another
  one follows as fast as in a text. So a text arrives whole even where its first letter is a key.
- Any other character moves the focus to the prompt and is typed there. So does a paste.
- What costs asks in the same way, whichever key it has.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from textual import events
from textual.binding import ActiveBinding
from textual.screen import Screen
from textual.widgets import Input, TextArea

from jitchat.tui.widgets.hint_line import HintLine, Key
from jitchat.tui.widgets.inspector import Inspector
from jitchat.tui.widgets.prompt import Prompt
from jitchat.tui.widgets.transcript import Transcript

Pane = Transcript | Inspector
FAST = 0.7
"""Seconds within which a character comes behind another where both are of one text."""


@dataclass(frozen=True, slots=True)
class Question:
    """One line that Enter answers with yes, and any other key with no."""

    text: str
    action: Callable[[], Awaitable[object]]
    letter: events.Key | None = None
    """The key that asked, where it may turn out to begin a text."""
    choices: Mapping[str, Callable[[], Awaitable[object]]] = field(default_factory=dict)
    """What other keys do that answer it."""


class KeyRouting:
    """The keys of one chat screen, and the question that is open there."""

    def __init__(self, screen: Screen[None]) -> None:
        self._screen = screen
        self._question: Question | None = None
        self._acted: tuple[events.Key, ...] = ()
        """The letters that did something just now, which may turn out to begin a text."""

    def ask(self, question: Question | None) -> None:
        """Ask in the hint line, in place of what was asked before; None: nothing any more."""
        self._question = question
        self._screen.query_one(HintLine).show_question(question.text if question else "")

    async def answer(self, *, yes: bool) -> None:
        """Close the question; do what it asks about where `yes`."""
        question = self._question
        self.ask(None)
        if yes and question is not None:
            await question.action()

    async def takes(self, event: events.Key | events.Paste) -> bool:
        """Decide on a key or a paste; False leaves it to whatever has the focus."""
        question, acted, self._acted = self._question, self._just_before(event), ()
        if question is not None:
            key = event.key if isinstance(event, events.Key) else ""
            await self.answer(yes=key == "enter")
            if key in question.choices:
                await question.choices[key]()
            if key in ("enter", "escape", *question.choices):
                return True
        if isinstance(self._screen.focused, (TextArea, Input)):
            return False
        if isinstance(event, events.Key) and not self._may_begin_text(event):
            return False
        if question is not None and question.letter is not None:
            return self._to_prompt(question.letter, event)
        if isinstance(event, events.Key) and await self.press(event.key, event, acted):
            return True
        return self._to_prompt(*acted, event)

    def _may_begin_text(self, key: events.Key) -> bool:
        active = self._screen.active_bindings.get(key.key)
        return key.is_printable and (active is None or not active.binding.priority)

    def _just_before(self, event: events.Key | events.Paste) -> tuple[events.Key, ...]:
        """List the letters that did something and are of one text with a key; none of a paste."""
        is_key = bool(self._acted) and isinstance(event, events.Key)
        return self._acted if is_key and event.time - self._acted[-1].time < FAST else ()

    async def press(
        self,
        key: str,
        letter: events.Key | None = None,
        ahead: tuple[events.Key, ...] = (),
    ) -> bool:
        """Do what a key does that the footer shows for the pane with the focus, if it is one.

        What has a question asks it first: `letter` may begin a text. No text begins with a blank.
        Nothing is asked for a letter of a text, which it is where others are `ahead` of it.
        """
        pane, active = self._pane(), self._screen.active_bindings.get(key)
        if pane is None or active is None or not self._is_shown(pane, active):
            return False
        act = partial(self._screen.app.run_action, active.binding.action, active.node)
        text = pane.question_of(active.binding)
        if text and ahead:
            return False
        if text:
            choices = {
                digit: partial(self._screen.app.run_action, action, active.node)
                for digit, action in pane.choices_of(active.binding).items()
            }
            self.ask(Question(text, act, letter, choices))
        else:
            self._acted = (*ahead, letter) if letter is not None and key != "space" else ()
            await act()
        return True

    def footer(self) -> tuple[Key, ...]:
        """List the keys of the pane that has the focus; none in the prompt."""
        pane = self._pane()
        if pane is None:
            return ()
        shown: dict[str, Key] = {}
        for key, active in self._screen.active_bindings.items():
            if self._is_shown(pane, active):
                display = self._screen.app.get_key_display(active.binding)
                word, action = active.binding.description, active.binding.action
                shown.setdefault(action, (display, word, f"screen.press_in_pane({key!r})"))
        return tuple(shown.values())

    def _is_shown(self, pane: Pane, active: ActiveBinding) -> bool:
        """Ours have an id, and a word where the footer shows them; Textual's have no id."""
        binding = active.binding
        is_its = (
            bool(binding.id and binding.description) and pane in active.node.ancestors_with_self
        )
        return is_its and pane.offers(binding)

    def _pane(self) -> Pane | None:
        focused = self._screen.focused
        ahead = focused.ancestors_with_self if focused is not None else ()
        return next((each for each in ahead if isinstance(each, Pane)), None)

    def _to_prompt(self, *typed: events.Key | events.Paste) -> bool:
        """Type it into the prompt, which has the focus from here on."""
        prompt = self._screen.query_one(Prompt)
        self._screen.set_focus(prompt)
        for event in typed:
            prompt.post_message(event)
        return True
