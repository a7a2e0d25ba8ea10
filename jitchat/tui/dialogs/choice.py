"""Lists to choose one row from: views, personas, projects, what MCP servers offer."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.events import Key
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from jitchat.settings.sections import NamedPersona
from jitchat.text.figures import plural
from jitchat.text.sanitize import one_line, shorten
from jitchat.tools.mcp.values import Argument
from jitchat.tui.actions import ANSWERS, BY_ID, MENU, Action
from jitchat.tui.dialogs.dialog import Dialog, box
from jitchat.tui.drawing import MUTED, Content
from jitchat.tui.key_names import KeyNames
from jitchat.tui.widgets.row_list import PointedList

Choice = TypeVar("Choice")
_WORDS = 80
"""Characters shown of a system prompt."""


@dataclass(frozen=True, slots=True)
class Typed(Generic[Choice]):
    """What may be typed instead of choosing a row."""

    placeholder: str
    choice_of: Callable[[str], Choice]


class ChoiceScreen(Dialog[Choice | None]):
    """Returns the value of the chosen row, or what is made of the typed text; None for neither."""

    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("escape", "dismiss(None)", "Close", id="choice_close"),
    ]

    def __init__(
        self,
        title: str,
        keys: str,
        rows: Sequence[tuple[Content, Choice]],
        *,
        at: int = 0,
        typed: Typed[Choice] | None = None,
    ) -> None:
        """`at` is the row under the cursor; with `typed`, a text may be typed instead."""
        super().__init__()
        self.letters: Mapping[str, Choice | None] = {}
        """What keys choose at once, by their characters or names; None for nothing."""
        self._title, self._keys, self._rows = title, keys, rows
        self._at = at if rows else None
        self._typed = typed

    def compose(self) -> ComposeResult:
        with box(self._title, self._keys):
            if self._typed is not None:
                yield Input(placeholder=self._typed.placeholder, id="wanted")
            yield PointedList(*(Option(line) for line, _ in self._rows), id="choices")

    def on_mount(self) -> None:
        self.query_one(PointedList).highlighted = self._at

    def on_key(self, event: Key) -> None:
        for key in (event.key, event.character or ""):
            if key.lower() in self.letters:
                event.stop()
                self.dismiss(self.letters[key.lower()])

    @on(Input.Submitted)
    def _take_typed(self, message: Input.Submitted) -> None:
        text = message.value.strip()
        if text and self._typed is not None:
            self.dismiss(self._typed.choice_of(text))
        else:
            self._take_row()

    @on(OptionList.OptionSelected)
    def _take_row(self) -> None:
        index = self.query_one(PointedList).highlighted
        if index is not None:
            _, choice = self._rows[index]
            self.dismiss(choice)


def titled(title: str, about: str) -> Content:
    """Write a row: its title, then what there is to say about it."""
    return Content.assemble((title, "bold"), (f"  {about}", MUTED))


_ACTION = max(len(action.title) for action in BY_ID.values() if action.letter) + 2
_KEYS = 8
"""Width of the column of direct keys."""


def menu_screen(keys: KeyNames, offered: Iterable[str] = ()) -> ChoiceScreen[str]:
    """Return the menu of views, for keyboards and terminals without function keys or Alt.

    The cursor is after the answers `offered` to the current question, so that Enter does not give
    one by accident. The key that opened the menu closes it.
    """
    answers = [BY_ID[identity] for identity in offered if identity in ANSWERS]
    actions = [*answers, *MENU.values()]
    screen = ChoiceScreen(
        "Views",
        "press a letter, or Enter · Esc close",
        [(action_row(action, keys.short(action.id)), action.run) for action in actions],
        at=len(answers),
    )
    screen.letters = {
        **dict.fromkeys(keys.all_of("menu")),
        **{action.letter: action.run for action in actions},
    }
    return screen.add_class("-menu")


def action_row(action: Action, key: str) -> Content:
    """Write an action: its letter, its title, its direct key, its help."""
    return Content.assemble(
        (f"{action.letter} ", "bold $text-primary"),
        f" {action.title:<{_ACTION}}",
        (f"{key:<{_KEYS}}", MUTED),
        (action.help, MUTED),
    )


def personas_screen(personas: Mapping[str, NamedPersona], in_use: str) -> ChoiceScreen[str]:
    """Return a dialog for the name of a persona, empty for none."""
    names = ["", *personas]

    def row(name: str) -> Content:
        mark = " · in use" if name == in_use else ""
        if not name:
            return titled("none", f"default settings{mark}")
        persona = personas[name]
        model = one_line(" ".join(filter(None, (persona.provider, persona.model))))
        about = " · ".join(filter(None, (model, shorten(persona.system, _WORDS))))
        return titled(name, f"{about}{mark}")

    keys = "Enter select · /system saves one · Esc close"
    rows = [(row(name), name) for name in names]
    return ChoiceScreen("Personas", keys, rows, at=names.index(in_use))


@dataclass(frozen=True, slots=True)
class ChosenProject:
    name: str
    moves: bool
    """Whether to move the conversation on screen to it, or to open its latest conversation."""


def projects_screen(projects: Mapping[str, int], present: str) -> ChoiceScreen[ChosenProject]:
    """Return a dialog in which a row opens a project, and a typed name moves the conversation.

    `projects` has each project's number of conversations; `present` is the open one.
    """

    def row(name: str) -> Content:
        here = " · this conversation" if name == present else ""
        return titled(one_line(name), f"{plural(projects[name], 'conversation')}{here}")

    return ChoiceScreen(
        "Projects",
        "Enter open · type a name to move this conversation · Esc close",
        [(row(name), ChosenProject(name, moves=False)) for name in projects],
        typed=Typed("Project to move this conversation to…", partial(ChosenProject, moves=True)),
    )


@dataclass(frozen=True, slots=True)
class Offered:
    server: str
    name: str
    """The server's identifier: a prompt's name, or a resource's URI."""
    title: str
    description: str = ""
    arguments: tuple[Argument, ...] = ()
    is_prompt: bool = False

    @property
    def takes(self) -> str:
        """The names of its arguments, required ones with `*`; empty if it has none."""
        return ", ".join(f"{one_line(each.name)}{'*' * each.required}" for each in self.arguments)


def offered_screen(title: str, offered: Sequence[Offered]) -> ChoiceScreen[Offered]:
    rows = [(row(choice), choice) for choice in offered]
    return ChoiceScreen(title, "Enter select · Esc close", rows)


def row(offered: Offered) -> Content:
    takes = f" ({offered.takes})" if offered.arguments else ""
    server, title = one_line(offered.server), one_line(offered.title)
    named = f"/{server}:{title}" if offered.is_prompt else f"{server}: {title}"
    return titled(f"{named}{takes}", one_line(offered.description))
