"""Registry of the chat's actions: the keys, command, pane letter and texts of each.

Bindings, palette, slash commands, footer, help and the list of keys in `docs` are generated from
it. An id never changes, because `[keys]` in the configuration refers to it. Ctrl+M, Ctrl+I, Ctrl+[
and Ctrl+H are not used: most terminals send them as other keys.
"""

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, Flag, auto
from typing import Any

from textual.binding import Binding, BindingType

from jitchat.values import Mode


class Takes(Enum):
    """The argument of a command."""

    NOTHING = auto()
    WORD = auto()
    WORDS = auto()
    MESSAGE = auto()
    """A text that the view is opened for, instead of the draft in the prompt."""
    TEXT = auto()
    """A text taken literally, which may have several lines."""


class Needs(Flag):
    """What an action requires; if it is missing, the user is notified and nothing is done."""

    NOTHING = 0
    REST = auto()
    """No reply is in progress."""
    SESSION = auto()
    """The conversation is open; its session is passed as the first argument of the method."""


@dataclass(frozen=True, slots=True)
class PaneKey:
    """A key that acts on the turn under the cursor of a pane."""

    id: str
    key: str
    word: str
    """Label in the footer; empty if the key is not shown there."""
    question: str = ""
    """Asked before the key acts, because a letter may begin a text; empty if it acts at once."""
    given: tuple[object, ...] = ()
    """Additional arguments of the method for this key."""

    @property
    def is_letter(self) -> bool:
        """Whether the key may begin a text."""
        return len(self.key) == 1 or bool(self.question)


@dataclass(frozen=True, slots=True)
class Action:
    """An action that the user can run."""

    id: str
    method: str
    """`CONTROLLER.METHOD`, an attribute path on the chat screen; or the Textual name of an action
    of the screen or, with the prefix `app.`, of the app."""
    title: str
    """Empty if the action is only available as a command."""
    help: str
    keys: str = ""
    """Comma-separated, as Textual names them; empty for none."""
    command: str | None = None
    """Its name after `/`; None for its id, and empty if it has no command."""
    takes: Takes = Takes.NOTHING
    pane: tuple[PaneKey, ...] = ()
    letter: str = ""
    """Key in the menu of views; empty if the action is not in the menu."""
    needs: Needs = Needs.NOTHING
    given: tuple[object, ...] = ()
    """Arguments of the method before the typed one."""
    asks: bool = False
    """Whether the user is asked first, because it may cost money; pane letters always ask."""

    @property
    def name(self) -> str:
        """The name of its command; empty if it has none."""
        if self.command is None:
            return self.id
        return self.command

    @property
    def view(self) -> str:
        """Name of the view that the action opens; empty if it opens none."""
        return str(self.given[0]) if self.method == "views.open" else ""

    @property
    def run(self) -> str:
        """The Textual action that its keys, its entries and its command run."""
        return f"ask({self.id!r})" if self.asks else self.call()

    def call(self, *given: object) -> str:
        """Return the Textual action with its arguments, without asking first."""
        of_controller = not self.method.startswith("app.") and "." in self.method
        name, fixed = ("do", (self.id,)) if of_controller else (self.method, self.given)
        arguments = ", ".join(map(repr, (*fixed, *given)))
        return f"{name}({arguments})" if arguments else name

    @property
    def sentence(self) -> str:
        return f"{self.title}: {self.help}" if self.title else self.help


_MODES = ", ".join(Mode)
SUSPEND = "" if sys.platform == "win32" else "ctrl+z"
"""Empty on Windows, which cannot resume a suspended process and where Ctrl+Z is undo."""
_OPEN, _AT_REST = Needs.SESSION, Needs.SESSION | Needs.REST


def _view(identity: str, title: str, about: str, *, view: str = "", **rest: Any) -> Action:  # noqa: ANN401  fields
    """Make the action that opens a view; `view` is its name, if that is not the action's id."""
    given = (view or identity,)
    return Action(identity, "views.open", title, about, needs=_OPEN, given=given, **rest)


ACTIONS = (
    Action(
        "mode", "choices.cycle_mode", "Next mode", " → ".join(Mode), keys="shift+tab", command="",
    ),
    Action(
        "inspector", "toggle_inspector", "Inspector", "Show or hide window segments", keys="f2",
        command="inspect", letter="i",
    ),
    Action(
        "models", "models.pick", "Model", "Choose a model or add an API key", keys="ctrl+l",
        command="model", takes=Takes.WORDS, letter="m",
    ),
    Action(
        "mode_named", "choices.use_mode", "", f"Use a mode from now on: {_MODES}", command="mode",
        takes=Takes.WORD,
    ),
    Action(
        "mode_once", "choices.use_once", "", "Use a mode for the next message only: /once full",
        command="once", takes=Takes.WORD,
    ),
    Action(
        "cancel", "cancel", "Cancel", "Stop the reply and keep what was received", keys="escape",
        command="",
    ),
    Action(
        "new", "conversations.begin", "New conversation", "Start with an empty history",
        keys="ctrl+n", needs=Needs.REST,
    ),
    Action(
        "resume", "conversations.choose", "Conversations", "Resume or search conversations",
        keys="ctrl+r", letter="c",
    ),
    Action(
        "find", "find", "Find", "Search this conversation; repeat for the next match",
        keys="ctrl+f", takes=Takes.WORDS,
    ),
    Action(
        "copy", "turns.copy", "Copy turn", "Copy the selected turn, or the last reply",
        pane=(PaneKey("turn_copy", "y", "copy"),),
    ),
    Action(
        "copy_code", "turns.copy_code", "Copy code", "Copy a code block; /code 2 copies the second",
        command="code", takes=Takes.WORD,
        pane=(PaneKey("turn_copy_code", "Y", "code", "Copy which code block of #{turn}?"),),
    ),
    Action(
        "rename", "conversations.rename", "Rename", "Change the title of this conversation",
        takes=Takes.WORDS,
    ),
    Action(
        "tag", "conversations.tag", "Tag", "Add tags: /tag work; /tag -work removes one",
        takes=Takes.WORDS,
    ),
    Action(
        "archive", "conversations.archive", "Archive",
        "Hide this conversation from lists, or show it again",
    ),
    Action(
        "delete", "conversations.ask_to_delete", "Delete",
        "Delete this chat; /delete erase leaves no text of it", takes=Takes.WORD, needs=Needs.REST,
    ),
    Action(
        "restore", "conversations.restore", "Undo deletion",
        "Restore the conversation deleted last", needs=Needs.REST,
    ),
    Action(
        "regenerate", "branches.regenerate", "Regenerate", "Answer again, keeping this reply",
        keys="alt+r", command="retry",
        pane=(PaneKey("turn_regenerate", "r", "retry", "Regenerate #{turn}?"),), needs=_AT_REST,
        asks=True,
    ),
    Action(
        "edit", "branches.edit", "Edit and resend", "Edit a message and resend it as a fork",
        keys="alt+e",
        pane=(PaneKey("turn_edit", "e", "edit", "Edit #{turn} and resend it as a fork?"),),
        needs=_AT_REST,
    ),
    Action(
        "go_on", "branches.go_on", "Continue", "Resume a reply that was cut off", keys="alt+g",
        command="continue", pane=(PaneKey("turn_go_on", "c", "continue", "Continue #{turn}?"),),
        needs=_AT_REST, asks=True,
    ),
    Action(
        "sent_window", "views.show_sent", "Window of the turn",
        "Show the window that was sent for the turn", command="",
        pane=(PaneKey("turn_window", "w", "window", "Show the window sent for #{turn}?"),),
        needs=_AT_REST,
    ),
    Action(
        "reasoning", "turns.unfold", "Reasoning", "Fold or unfold it or a tool call", keys="alt+i",
        pane=(PaneKey("turn_reasoning", "t", "unfold", "Fold or unfold the details of #{turn}?"),),
        letter="u",
    ),
    Action(
        "pin", "choices.hold", "Pin", "Always send a turn (not in full or recency), or unpin it",
        keys="alt+p", takes=Takes.WORD,
        pane=(PaneKey("turn_pin", "p", "pin", "Pin or unpin #{turn}?"),), needs=_OPEN,
        given=("pinned",),
    ),
    Action(
        "exclude", "choices.hold", "Exclude", "Never send a turn, or allow it again", keys="alt+o",
        takes=Takes.WORD,
        pane=(PaneKey("turn_exclude", "x", "exclude", "Exclude #{turn}, or allow it again?"),),
        needs=_OPEN, given=("excluded",),
    ),
    Action(
        "undo", "choices.undo_hold", "Undo", "Revert the last pin or exclusion", keys="alt+z",
        pane=(PaneKey("turn_undo", "u", "undo", "Undo the last pin or exclusion?"),), needs=_OPEN,
    ),
    Action(
        "wrap", "surfaces.transcript.wrap_code", "Wrap code",
        "Wrap long lines of code, or cut them with …", keys="alt+y",
    ),
    Action(
        "menu", "menu", "Menu of views", "Open any view by its letter", keys="ctrl+o",
        command="views",
    ),
    Action(
        "palette", "app.command_palette", "Palette", "Run any action by name", keys="ctrl+p",
        command="",
    ),
    Action("help", "app.help", "Help", "Keys, commands and terms", keys="f1", letter="?"),
    Action(
        "pane", "app.focus_next", "Next pane", "Move the focus to the next pane", keys="f6",
        command="",
    ),
    Action(
        "model", "models.fetch_embedder", "Embedding model", "Download a larger one", keys="f5",
        command="embedder",
    ),
    Action(
        "count", "meter.count_exactly", "Exact count",
        "Have the provider count the window's tokens", keys="alt+x", needs=_AT_REST,
    ),
    Action(
        "costs", "meter.show_costs", "Cost", "Next message and total so far", command="cost",
        letter="$", needs=_OPEN,
    ),
    Action(
        "spend", "meter.exceed_once", "Exceed the limits once", "Let the next message cost more",
        takes=Takes.TEXT, needs=_OPEN,
    ),
    _view("wire", "Wire", "The request, byte for byte", keys="f3", takes=Takes.MESSAGE, letter="w"),
    _view(
        "ledger", "Ledger", "Every candidate: why in or out", keys="f4", takes=Takes.MESSAGE,
        letter="l",
    ),
    _view(
        "what_if", "What if", "Compare the modes' windows", keys="f7", command="compare",
        takes=Takes.MESSAGE, letter="f",
    ),
    _view(
        "ask_all", "Ask all modes", "Compare the modes' answers", keys="alt+a", command="askall",
        takes=Takes.MESSAGE, letter="a",
    ),
    _view(
        "budget", "Budget", "What is sent at other sizes", keys="f8", takes=Takes.MESSAGE,
        letter="b",
    ),
    Action(
        "size", "personas.use_size", "", "Set the size of this chat's windows: /size 8000, or auto",
        takes=Takes.WORD,
    ),
    _view(
        "sends", "Sent windows", "Every window, exactly as sent", keys="f9", letter="s",
        view="sent_windows",
    ),
    _view("history", "History", "Tokens sent and saved, per send", keys="alt+h", letter="h"),
    _view(
        "mattered", "Which turn mattered", "Ask again without each turn", keys="alt+m",
        pane=(PaneKey("turn_mattered", "m", "mattered", "Find what mattered for #{turn}?"),),
        letter="t", view="leave_one_out",
    ),
    _view(
        "miss", "Missing turn", "Choose what a reply was missing", keys="alt+w", command="wrong",
        pane=(
            PaneKey("turn_miss", "exclamation_mark", "missing", "Choose what #{turn} was missing?"),
        ),
        letter="!", view="missing_turn",
    ),
    Action(
        "note_requested", "turns.note_requested", "Note requested turns",
        "Note them as missing from the window", command="requested",
        pane=(PaneKey("turn_requested", "n", "note", "Note the turns requested for #{turn}?"),),
        needs=_OPEN,
    ),
    _view("observations", "Observations", "What stands for turns in observe", letter="o"),
    _view(
        "cases", "Check", "Are the missing turns found now?", command="check", letter="k",
        view="regression_cases",
    ),
    Action(
        "window", "views.switch_window", "Sent or next",
        "Switch between the sent and the next window", keys="alt+s", needs=_AT_REST,
    ),
    Action(
        "rot", "views.open_preset", "Rot lab", "How answers fare as chats grow", keys="ctrl+t",
        letter="r",
    ),
    Action(
        "version", "branches.go_to_other", "Next version", "Show another version of the turn",
        keys="alt+v",
        pane=(
            PaneKey("turn_version_before", "left", "", given=(-1,)),
            PaneKey("turn_version_after", "right", "versions", given=(1,)),
        ),
        needs=_AT_REST,
    ),
    Action(
        "attach", "drafting.attach", "Attach files", "Attach a file, folder or pattern by its path",
        takes=Takes.WORDS,
    ),
    Action(
        "detach", "surfaces.prompt.detach", "Detach a file",
        "Take away the last one, or /detach NAME", takes=Takes.WORDS,
    ),
    Action(
        "paste", "drafting.paste_picture", "Paste a picture", "Attach the picture in the clipboard",
        needs=_OPEN,
    ),
    Action(
        "tools", "tools.start_again", "Start tools again", "Start MCP servers that failed again",
    ),
    Action(
        "resource", "offers.pick", "Attach a resource", "Insert a resource from an MCP server",
        given=("resources",),
    ),
    Action(
        "server_prompt", "offers.pick", "Server prompt",
        "Use an MCP server's prompt: /prompt name=value", command="prompt", takes=Takes.WORDS,
        given=("prompts",),
    ),
    Action(
        "allow_once", "approve", "Allow once", "Run a tool, observe, keep a fact", keys="alt+j",
        command="", letter="1", given=("once",),
    ),
    Action(
        "allow_conversation", "approve", "Allow here", "For this conversation", keys="alt+k",
        command="", letter="2", given=("conversation",),
    ),
    Action(
        "allow_always", "approve", "Allow always", "Until the tool changes", keys="alt+q",
        command="", letter="3", given=("always",),
    ),
    Action(
        "decline_tool", "approve", "Decline", "Refuse the tool or observing", keys="alt+n",
        command="", letter="4", given=("decline",),
    ),
    Action(
        "allow", "approve", "", "Answer a question: /allow once, conversation, " "always, decline",
        takes=Takes.WORD,
    ),
    Action(
        "end", "ending.end_now", "End the session", "Write the memory document now", needs=_AT_REST,
    ),
    _view("document", "Memory document", "Its lines, sources and versions", letter="d"),
    _view("facts", "Facts", "Kept or proposed for the project", letter="e"),
    Action(
        "keep_fact", "facts.keep", "Keep fact", "Keep the fact proposed in the last line",
        command="keep", needs=_OPEN,
    ),
    Action(
        "remember", "facts.remember", "", "Remember a text in every conversation of the project",
        takes=Takes.WORDS, needs=_OPEN,
    ),
    Action(
        "forget", "facts.forget", "", "Forget a fact, by its number or part of its text",
        takes=Takes.WORDS, needs=_OPEN,
    ),
    Action(
        "project", "conversations.move", "Project", "Switch project or move this chat",
        takes=Takes.WORDS, letter="p", needs=Needs.REST,
    ),
    Action(
        "temporary", "conversations.begin_temporary", "Temporary conversation",
        "No memory; deleted when you leave", needs=Needs.REST,
    ),
    Action(
        "prompts", "drafting.search_prompts", "Earlier prompts", "Search the messages you sent",
        keys="ctrl+s", takes=Takes.WORDS, letter="y",
    ),
    Action(
        "editor", "drafting.edit_outside", "External editor", "Edit the draft ($VISUAL/$EDITOR)",
        keys="ctrl+g", letter="v",
    ),
    Action(
        "suspend", "app.suspend_process", "Suspend", "Return to the shell; `fg` resumes",
        keys=SUSPEND,
    ),
    Action(
        "system", "personas.use_text", "System prompt", "Show or edit it (/system TEXT)",
        takes=Takes.TEXT, letter="x",
    ),
    Action(
        "persona", "personas.pick", "Persona", "Saved instructions, model, tools", takes=Takes.WORD,
        letter="n",
    ),
    Action("quit", "app.quit", "Quit", "Everything said and typed is saved", keys="ctrl+q"),
    *(
        Action(
            f"mode_{mode}", "choices.use_mode", f"Mode {mode}", mode.description,
            command="", given=(mode.value,),
        )
        for mode in Mode
    ),
    Action(
        "why", "views.explain", "", "Explain why turn 12 is in or out: /why 12, " "or /why 12 TEXT",
        takes=Takes.MESSAGE, needs=_OPEN,
    ),
)  # fmt: skip
BY_ID = {action.id: action for action in ACTIONS}
COMMANDS = {action.name: action for action in ACTIONS if action.name}
"""Actions by the name typed after `/`."""
VIEWS = {action.view: action for action in ACTIONS if action.view and action.title}
"""Actions that open a view, by the view's name."""
ANSWERS = tuple(action.id for action in ACTIONS if action.method == "approve" and action.letter)
"""Actions that answer a question; they are in the menu while a question is open."""
MENU = {a.letter: a for a in ACTIONS if a.letter and a.id not in ANSWERS}
"""Actions that are always in the menu of views, by letter."""

PROMPT_BINDINGS = {
    "newline": "shift+enter,ctrl+j,alt+enter",
    "prompt_paste": "ctrl+v,super+v",
    "prompt_quit": "ctrl+d",
}
"""Keys of actions that belong to the prompt, by id."""


def in_palette() -> Iterable[Action]:
    """Return the actions listed in the palette; Textual adds its own entries for the others."""
    return (a for a in ACTIONS if a.title and a.id not in ("palette", "pane", "quit"))


def keys_by_id() -> dict[str, str]:
    """Return the default keys of every remappable action, comma-separated, by id."""
    panes = {pane.id: pane.key for action in ACTIONS for pane in action.pane}
    return {a.id: a.keys for a in ACTIONS if a.keys} | PROMPT_BINDINGS | panes


def spelled(keys: str) -> str:
    """Format keys for display: `Shift+Tab`."""
    names = keys.replace("exclamation_mark", "!").split(",")
    names = [f"shift+{name}" if len(name) == 1 and name.isupper() else name for name in names]
    names = [name.replace("escape", "esc") for name in names]
    return ", ".join("+".join(part.capitalize() for part in name.split("+")) for name in names)


def pane_bindings(actions: Iterable[Action] = ACTIONS) -> list[BindingType]:
    """Make the bindings of a pane's letters; only the chat's own footer shows them."""
    return [
        Binding(
            pane.key,
            f"screen.{action.call(*pane.given)}",
            pane.word,
            show=False,
            tooltip=pane.question,
            id=pane.id,
        )
        for action in actions
        for pane in action.pane
    ]


def hold_bindings() -> list[BindingType]:
    """Make the bindings that pin, exclude and undo, for the inspector."""
    return pane_bindings(each for each in ACTIONS if each.id in ("pin", "exclude", "undo"))


def bindings_everywhere() -> list[BindingType]:
    """Make the bindings that every other screen has too; a focused text field takes precedence."""
    suspend = Binding(SUSPEND, "app.suspend_process", "Suspend", id="suspend", show=False)
    quit_key = Binding("ctrl+c", "app.help_quit", show=False)
    return [quit_key, suspend] if SUSPEND else [quit_key]


def screen_bindings() -> list[BindingType]:
    """Make the chat screen's bindings, which work wherever the focus is."""
    made: list[BindingType] = [
        Binding(action.keys, action.run, action.title, id=action.id, priority=True, show=False)
        for action in ACTIONS
        if action.keys and action.id != "cancel"
    ]
    return [*made, Binding("escape", "cancel", "Cancel", id="cancel", show=False)]
