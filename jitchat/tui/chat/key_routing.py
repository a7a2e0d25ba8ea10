"""Route keys while the chat is on screen; all routing decisions are made here.

A key is routed as it arrives, before it enters a widget's queue, so that a burst of keys keeps its
order even if the focus changes meanwhile:

- In the prompt, every key belongs to the prompt.
- In a pane (conversation, inspector), a letter shown in the footer asks first: Enter confirms, Esc
  cancels, and any other key is typed into the prompt after that letter. Harmless actions, such as
  copying, run at once, and the letter is typed into the prompt only if another follows as fast as
  in typing. So a text arrives complete even if its first letter is a key.
- Any other character moves the focus to the prompt and is typed there. So is a paste.
- Actions that may cost money ask in the same way, whichever key they have.
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
"""Maximum seconds between two characters that are typed as one text."""


@dataclass(frozen=True, slots=True)
class Question:
    """A one-line question: Enter means yes, any other key means no."""

    text: str
    action: Callable[[], Awaitable[object]]
    letter: events.Key | None = None
    """The key that opened the question, if it may turn out to begin a text."""
    choices: Mapping[str, Callable[[], Awaitable[object]]] = field(default_factory=dict)
    """Actions of other keys that answer the question."""


class KeyRouting:
    """Routes the keys of one chat screen, and keeps its open question."""

    def __init__(self, screen: Screen[None]) -> None:
        self._screen = screen
        self._question: Question | None = None
        self._acted: tuple[events.Key, ...] = ()
        """Letters that just ran an action, which may turn out to begin a text."""

    def ask(self, question: Question | None) -> None:
        """Show a question in the hint line, replacing an open one; None closes the question."""
        self._question = question
        self._screen.query_one(HintLine).question = question.text if question else ""

    async def answer(self, *, yes: bool) -> None:
        """Close the question, and run its action if `yes`."""
        question = self._question
        self.ask(None)
        if yes and question is not None:
            await question.action()

    async def takes(self, event: events.Key | events.Paste) -> bool:
        """Route a key or a paste. Return False to leave it to the focused widget."""
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
        """Return letters that ran actions and may form one text with `event`, if that is a key."""
        is_key = bool(self._acted) and isinstance(event, events.Key)
        return self._acted if is_key and event.time - self._acted[-1].time < FAST else ()

    async def press(
        self, key: str, letter: events.Key | None = None, earlier: tuple[events.Key, ...] = ()
    ) -> bool:
        """Run the action of a key that the footer shows for the focused pane.

        An action with a question asks first: `letter` may begin a text. A space never begins one.
        If there are `earlier` letters, the letter belongs to a text and no question is asked.
        Return whether the key was handled.
        """
        pane, active = self._pane(), self._screen.active_bindings.get(key)
        if pane is None or active is None or not self._is_shown(pane, active):
            return False
        act = partial(self._screen.app.run_action, active.binding.action, active.node)
        text = pane.question_of(active.binding)
        if text and earlier:
            return False
        if text:
            choices = {
                digit: partial(self._screen.app.run_action, action, active.node)
                for digit, action in pane.choices_of(active.binding).items()
            }
            self.ask(Question(text, act, letter, choices))
        else:
            self._acted = (*earlier, letter) if letter is not None and key != "space" else ()
            await act()
        return True

    def footer(self) -> tuple[Key, ...]:
        """Return the keys of the focused pane; none in the prompt."""
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
        """Whether the footer shows a binding; Textual's own bindings have no id."""
        binding = active.binding
        is_of_pane = (
            bool(binding.id and binding.description) and pane in active.node.ancestors_with_self
        )
        return is_of_pane and pane.offers(binding)

    def _pane(self) -> Pane | None:
        focused = self._screen.focused
        ancestors = focused.ancestors_with_self if focused is not None else ()
        return next((each for each in ancestors if isinstance(each, Pane)), None)

    def _to_prompt(self, *typed: events.Key | events.Paste) -> bool:
        """Move the focus to the prompt and type the events there."""
        prompt = self._screen.query_one(Prompt)
        self._screen.set_focus(prompt)
        for event in typed:
            prompt.post_message(event)
        return True
