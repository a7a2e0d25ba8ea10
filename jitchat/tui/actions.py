"""Every action of the chat, in one place: its keys, its command, its letter in a pane, its words.

Bindings, palette, slash commands, footer, help and the list of keys in `docs` are made of it. An
id never changes, so that `[keys]` in the configuration can name it. Ctrl+M, Ctrl+I, Ctrl+[ and
Ctrl+H are other keys in most terminals and are not used.
"""

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, Flag, auto

from textual.binding import Binding, BindingType

from jitchat.values import Mode


class Takes(Enum):
    """What a command takes behind its name."""

    NOTHING = auto()
    WORD = auto()
    WORDS = auto()
    MESSAGE = auto()
    """A text, which a view is opened on in place of what is in the prompt."""
    TEXT = auto()
    """A text as it stands, of several lines, too."""


class Needs(Flag):
    """What has to be there for an action; whoever lacks it is told so, and nothing is done."""

    NOTHING = 0
    REST = auto()
    """No reply is on its way."""
    SESSION = auto()
    """The conversation is open; its session is the first argument of the method."""


@dataclass(frozen=True, slots=True)
class PaneKey:
    """A letter that does something with the turn under the cursor of a pane."""

    id: str
    key: str
    word: str
    """What the footer says; empty where it shows nothing."""
    question: str = ""
    """What the key asks first, for a letter may begin a text; empty where it acts at once."""
    given: tuple[object, ...] = ()
    """What its method gets from this key alone."""

    @property
    def is_letter(self) -> bool:
        """Whether it may begin a text."""
        return len(self.key) == 1 or bool(self.question)


@dataclass(frozen=True, slots=True)
class Action:
    """Something that the user can do."""

    id: str
    keys: str
    """Comma-separated, as Textual names them; empty for none."""
    method: str
    """What does it: `CONTROLLER.METHOD` as the chat screen has them, or Textual's own name of an
    action of the screen or, with `app.` ahead, of the app."""
    title: str
    """Empty for what is typed only."""
    help: str
    command: str = ""
    takes: Takes = Takes.NOTHING
    pane: tuple[PaneKey, ...] = ()
    letter: str = ""
    """In the menu of views; empty where it is not in there."""
    needs: Needs = Needs.NOTHING
    given: tuple[object, ...] = ()
    """What the method gets ahead of what is typed."""
    asks: bool = False
    """Whether it asks first, for the user may have to pay; a pane asks with each of its letters."""

    @property
    def view(self) -> str:
        """The name of the view that it opens; empty where it opens none."""
        return str(self.given[0]) if self.method == "views.open" else ""

    @property
    def run(self) -> str:
        """What its keys, its entries and its command run, in Textual's words."""
        return f"ask({self.id!r})" if self.asks else self.call()

    def call(self, *given: object) -> str:
        """Write it with its arguments in Textual's words; nothing is asked first."""
        is_ours = not self.method.startswith("app.") and "." in self.method
        name, own = ("do", (self.id,)) if is_ours else (self.method, self.given)
        arguments = ", ".join(map(repr, (*own, *given)))
        return f"{name}({arguments})" if arguments else name

    @property
    def sentence(self) -> str:
        return f"{self.title}: {self.help}" if self.title else self.help


_MODES = ", ".join(Mode)
SUSPEND = "" if sys.platform == "win32" else "ctrl+z"
"""Windows has no way back, and Ctrl+Z is its undo."""
_OPEN, _AT_REST = Needs.SESSION, Needs.SESSION | Needs.REST

ACTIONS = (
    Action("mode", "shift+tab", "choices.cycle_mode", "Next mode", " → ".join(Mode)),
    Action(
        "inspector", "f2", "toggle_inspector", "Inspector", "Show or hide the window's segments",
        "inspect", letter="i",
    ),
    Action(
        "models", "ctrl+l", "models.pick", "Model", "Pick who answers, or add a key",
        "model", Takes.WORDS, letter="m",
    ),
    Action(
        "mode_named", "", "choices.use_mode", "", f"Use a mode from now on: {_MODES}",
        "mode", Takes.WORD,
    ),
    Action(
        "mode_once", "", "choices.use_once", "", f"Use a mode for the next message: {_MODES}",
        "once", Takes.WORD,
    ),
    Action("cancel", "escape", "cancel", "Cancel", "Stop the reply, keeping what came"),
    Action(
        "new", "ctrl+n", "conversations.begin", "New conversation", "Start with an empty history",
        "new", needs=Needs.REST,
    ),
    Action(
        "resume", "ctrl+r", "conversations.choose", "Conversations",
        "Resume one, or search in all of them",
        "resume", letter="c",
    ),
    Action(
        "find", "ctrl+f", "find", "Find", "In this conversation; once more: the next match",
        "find", Takes.WORDS,
    ),
    Action(
        "copy", "", "turns.copy", "Copy the turn", "The chosen one, or the last reply", "copy",
        pane=(PaneKey("turn_copy", "y", "copy"),),
    ),
    Action(
        "copy_code", "", "turns.copy_code", "Copy the code",
        "Of the turn; /code 2 for its second block",
        "code", Takes.WORD,
        pane=(PaneKey("turn_copy_code", "Y", "code", "Copy which code of #{turn}?"),),
    ),
    Action(
        "rename", "", "conversations.rename", "Rename", "Give this conversation another title",
        "rename",
        Takes.WORDS,
    ),
    Action(
        "tag", "", "conversations.tag", "Tag",
        "Add tags to it: /tag work; /tag -work takes one off", "tag",
        Takes.WORDS,
    ),
    Action(
        "archive", "", "conversations.archive", "Archive",
        "Leave it out of the list, or list it again",
        "archive",
    ),
    Action(
        "delete", "", "conversations.ask_to_delete", "Delete",
        "This conversation; /delete erase leaves no word of it",
        "delete", Takes.WORD, needs=Needs.REST,
    ),
    Action(
        "restore", "", "conversations.restore", "Undo the deletion",
        "Of the conversation deleted last",
        "restore", needs=Needs.REST,
    ),
    Action(
        "regenerate", "alt+r", "branches.regenerate", "Regenerate",
        "Answer once more, beside this one", "retry",
        pane=(PaneKey("turn_regenerate", "r", "again", "Regenerate #{turn}?"),),
        needs=_AT_REST, asks=True,
    ),
    Action(
        "edit", "alt+e", "branches.edit", "Edit and resend", "A message anew, as a fork", "edit",
        pane=(PaneKey("turn_edit", "e", "edit", "Edit #{turn}, to send it as a fork?"),),
        needs=_AT_REST,
    ),
    Action(
        "go_on", "alt+g", "branches.go_on", "Continue", "Go on with a reply that was cut",
        "continue",
        pane=(PaneKey("turn_go_on", "c", "continue", "Continue #{turn}?"),),
        needs=_AT_REST, asks=True,
    ),
    Action(
        "sent_window", "", "views.show_sent", "Window of a turn", "The window that was sent for it",
        pane=(PaneKey("turn_window", "w", "window", "Show the window sent for #{turn}?"),),
        needs=_AT_REST,
    ),
    Action(
        "reasoning", "alt+i", "turns.unfold", "Reasoning", "Fold or unfold it, or a tool's call",
        "reasoning", letter="u",
        pane=(PaneKey("turn_reasoning", "t", "unfold", "Fold or unfold what #{turn} folds?"),),
    ),
    Action(
        "pin", "alt+p", "choices.hold", "Pin",
        "A turn into every window, but of full and recency; or not",
        "pin", Takes.WORD, pane=(PaneKey("turn_pin", "p", "pin", "Pin #{turn}, or end that?"),),
        needs=_OPEN, given=("pinned",),
    ),
    Action(
        "exclude", "alt+o", "choices.hold", "Exclude", "A turn from every window, or not",
        "exclude", Takes.WORD,
        pane=(PaneKey("turn_exclude", "x", "exclude", "Exclude #{turn}, or end that?"),),
        needs=_OPEN, given=("excluded",),
    ),
    Action(
        "undo", "alt+z", "choices.undo_hold", "Undo", "The last pin or exclusion", "undo",
        pane=(PaneKey("turn_undo", "u", "undo", "Take the last pin or exclusion back?"),),
        needs=_OPEN,
    ),
    Action(
        "wrap", "alt+y", "surfaces.transcript.wrap_code", "Wrap code",
        "Long lines of code whole, or cut with …",
        "wrap",
    ),
    Action("menu", "ctrl+o", "menu", "Menu of views", "Every view by a letter", "views"),
    Action("palette", "ctrl+p", "app.command_palette", "Palette", "Every action by name"),
    Action("help", "f1", "app.help", "Help", "Keys and words", "help", letter="?"),
    Action("pane", "f6", "app.focus_next", "Next pane", "Move the focus on"),
    Action(
        "model", "f5", "surfaces.model_fetch.toggle", "Embedding model",
        "Fetch the better one, or stop that",
        "embedder",
    ),
    Action(
        "count", "alt+x", "meter.count_exactly", "Exact count",
        "Ask the provider for the window's tokens", "count", needs=_AT_REST,
    ),
    Action(
        "costs", "", "meter.show_costs", "Cost",
        "What the next message should cost, and what was spent",
        "cost", letter="$", needs=_OPEN,
    ),
    Action(
        "spend", "", "meter.exceed_once", "Exceed the limits once",
        "Let the next message cost more than your limits allow", "spend", needs=_OPEN,
    ),
    Action(
        "wire", "f3", "views.open", "Wire", "The request, byte for byte", "wire", Takes.MESSAGE,
        letter="w", needs=_OPEN, given=("wire",),
    ),
    Action(
        "ledger", "f4", "views.open", "Ledger", "Every candidate, and why or why not",
        "ledger", Takes.MESSAGE, letter="l", needs=_OPEN, given=("ledger",),
    ),
    Action(
        "what_if", "f7", "views.open", "What if", "The windows of all modes side by side",
        "compare", Takes.MESSAGE, letter="f", needs=_OPEN, given=("what_if",),
    ),
    Action(
        "ask_all", "alt+a", "views.open", "Ask all modes", "Their answers side by side",
        "askall", Takes.MESSAGE, letter="a", needs=_OPEN, given=("ask_all",),
    ),
    Action(
        "budget", "f8", "views.open", "Budget", "What enters and leaves as it changes",
        "budget", Takes.MESSAGE, letter="b", needs=_OPEN, given=("budget",),
    ),
    Action(
        "sends", "f9", "views.open", "Sent windows", "The window of any send, as it was",
        "sends", letter="s", needs=_OPEN, given=("sent_windows",),
    ),
    Action(
        "history", "alt+h", "views.open", "History", "Tokens per send, and what was saved",
        "history", letter="h", needs=_OPEN, given=("history",),
    ),
    Action(
        "mattered", "alt+m", "views.open", "Which turn mattered",
        "Ask again without each", "mattered",
        pane=(PaneKey("turn_mattered", "m", "mattered", "What mattered for #{turn}?"),), letter="t",
        needs=_OPEN, given=("leave_one_out",),
    ),
    Action(
        "miss", "alt+w", "views.open", "Missing turn",
        "Point at the turn that a wrong reply lacked", "wrong",
        pane=(PaneKey("turn_miss", "exclamation_mark", "wrong", "Is #{turn} wrong?"),), letter="!",
        needs=_OPEN, given=("missing_turn",),
    ),
    Action(
        "note_requested", "", "turns.note_requested", "Note what was asked for",
        "Turns that the model had to ask for, as missing", "requested",
        pane=(PaneKey("turn_requested", "n", "note", "Note what was asked for #{turn}?"),),
        needs=_OPEN,
    ),
    Action(
        "observations", "", "views.open", "Observations",
        "What stands for earlier turns in observe, and how", "observations", letter="o",
        needs=_OPEN, given=("observations",),
    ),
    Action(
        "cases", "", "views.open", "Check", "Are the noted turns found now?",
        "check", letter="k", needs=_OPEN, given=("regression_cases",),
    ),
    Action(
        "window", "alt+s", "views.switch_window", "Sent or next",
        "The window sent last, or the next one",
        "window", needs=_AT_REST,
    ),
    Action(
        "rot", "ctrl+t", "views.open_preset", "Rot lab",
        "How answers fare as a conversation grows", "rot", letter="r",
    ),
    Action(
        "version", "alt+v", "branches.go_to_other", "Next version", "Of a turn that has several",
        "version",
        pane=(
            PaneKey("turn_version_before", "left", "", given=(-1,)),
            PaneKey("turn_version_after", "right", "versions", given=(1,)),
        ),
        needs=_AT_REST,
    ),
    Action(
        "attach", "", "drafting.attach", "Attach files",
        "A file, a folder or a pattern, by its path",
        "attach", Takes.WORDS,
    ),
    Action(
        "paste", "", "drafting.paste_picture", "Paste a picture",
        "Attach the picture in the clipboard", "paste", needs=_OPEN,
    ),
    Action(
        "resource", "", "offers.pick", "Attach a resource", "Of a server of tools",
        "resource", given=("resources",),
    ),
    Action(
        "server_prompt", "", "offers.pick", "Prompt of a server",
        "Fill one in: /prompt, or /prompt and its name=value", "prompt", Takes.WORDS,
        given=("prompts",),
    ),
    Action(
        "allow_once", "alt+j", "approve", "Allow once",
        "A tool that waits, observing, or to keep the fact that is proposed",
        letter="1", given=("once",),
    ),
    Action(
        "allow_conversation", "alt+k", "approve", "Allow here",
        "In this conversation, the tool or observing", letter="2", given=("conversation",),
    ),
    Action(
        "allow_always", "alt+q", "approve", "Allow always",
        "The tool, until it describes itself otherwise", letter="3", given=("always",),
    ),
    Action(
        "decline_tool", "alt+n", "approve", "Decline",
        "The tool, or observing", letter="4", given=("decline",),
    ),
    Action(
        "allow", "", "approve", "", "Answer what waits: /allow, or once, conversation, always, "
        "decline behind it", "allow", Takes.WORD,
    ),
    Action(
        "end", "", "ending.end_now", "End the session",
        "Write the memory document from all that was said",
        "end", needs=_AT_REST,
    ),
    Action(
        "document", "", "views.open", "Memory document",
        "Its lines, their sources, and every version", "document", letter="d",
        needs=_OPEN, given=("document",),
    ),
    Action(
        "facts", "", "views.open", "Facts", "What is remembered of the project, and proposed",
        "facts", letter="e", needs=_OPEN, given=("facts",),
    ),
    Action(
        "keep_fact", "", "facts.keep", "Keep the fact", "That the last line proposes", "keep",
        needs=_OPEN,
    ),
    Action(
        "remember", "", "facts.remember", "",
        "Remember a text in every conversation of the project",
        "remember", Takes.WORDS, needs=_OPEN,
    ),
    Action(
        "forget", "", "facts.forget", "", "Forget a fact, by its number or a part of its text",
        "forget", Takes.WORDS, needs=_OPEN,
    ),
    Action(
        "project", "", "conversations.move", "Project",
        "Go on with another, or put this chat into one",
        "project", Takes.WORDS, letter="p", needs=Needs.REST,
    ),
    Action(
        "temporary", "", "conversations.begin_temporary", "Temporary conversation",
        "No memory is read or written; deleted when left", "temporary", needs=Needs.REST,
    ),
    Action(
        "prompts", "ctrl+s", "drafting.search_prompts", "Earlier prompts",
        "Search what you sent, in all conversations", "prompts", Takes.WORDS, letter="y",
    ),
    Action(
        "editor", "ctrl+g", "drafting.edit_outside", "External editor",
        "The draft in $VISUAL or $EDITOR",
        "editor", letter="v",
    ),
    Action(
        "suspend", SUSPEND, "app.suspend_process", "Suspend", "Back to the shell, until `fg`",
        "suspend",
    ),
    Action(
        "system", "", "personas.use_text", "System prompt",
        "Whose it is, and its text; /system and a text",
        "system", Takes.TEXT, letter="x",
    ),
    Action(
        "persona", "", "personas.pick", "Persona", "Saved instructions, model and tools; or none",
        "persona", Takes.WORD, letter="n",
    ),
    Action("quit", "ctrl+q", "app.quit", "Quit", "What was said and typed is stored", "quit"),
    *(
        Action(
            f"mode_{mode}", "", "choices.use_mode", f"Mode {mode}", mode.description,
            given=(mode.value,),
        )
        for mode in Mode
    ),
    Action(
        "why", "", "views.explain", "", "Why turn 12 is in the window, or not: /why 12, or "
        "/why 12 and a text", "why", Takes.MESSAGE, needs=_OPEN,
    ),
)  # fmt: skip
BY_ID = {action.id: action for action in ACTIONS}
COMMANDS = {action.command: action for action in ACTIONS if action.command}
"""Actions by what is typed behind `/`."""
VIEWS = {action.view: action for action in ACTIONS if action.view and action.title}
"""The actions that open a view, by its name."""
ANSWERS = tuple(action.id for action in ACTIONS if action.method == "approve" and action.letter)
"""The actions that answer a question; the menu has them while one is asked."""
MENU = {a.letter: a for a in ACTIONS if a.letter and a.id not in ANSWERS}
"""What the menu of views offers at any time, by its letter."""

PROMPT_BINDINGS = {
    "newline": "shift+enter,ctrl+j,alt+enter",
    "prompt_paste": "ctrl+v,super+v",
    "prompt_quit": "ctrl+d",
}
"""Keys of the prompt's own actions, by id."""


def in_palette() -> Iterable[Action]:
    """List what the palette offers; Textual has its own entries for the rest."""
    return (a for a in ACTIONS if a.title and a.id not in ("palette", "pane", "quit"))


def keys_by_id() -> dict[str, str]:
    """List every key that can be changed, comma-separated, by the id of its action."""
    panes = {pane.id: pane.key for action in ACTIONS for pane in action.pane}
    return {a.id: a.keys for a in ACTIONS if a.keys} | PROMPT_BINDINGS | panes


def spelled(keys: str) -> str:
    """Spell keys as people do: `Shift+Tab`."""
    names = keys.replace("exclamation_mark", "!").split(",")
    names = [f"shift+{name}" if len(name) == 1 and name.isupper() else name for name in names]
    names = [name.replace("escape", "esc") for name in names]
    return ", ".join("+".join(part.capitalize() for part in name.split("+")) for name in names)


def pane_bindings(actions: Iterable[Action] = ACTIONS) -> list[BindingType]:
    """Bind the letters of a pane, for the chat's footer alone."""
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
    """Bind the letters that pin and exclude, for the inspector."""
    return pane_bindings(each for each in ACTIONS if each.id in ("pin", "exclude", "undo"))


def bindings_everywhere() -> list[BindingType]:
    """Bind what each other screen has, too, unless a field for text needs the key."""
    suspend = Binding(SUSPEND, "app.suspend_process", "Suspend", id="suspend", show=False)
    quit_key = Binding("ctrl+c", "app.help_quit", show=False)
    return [quit_key, suspend] if SUSPEND else [quit_key]


def screen_bindings() -> list[BindingType]:
    """Bind the chat screen's keys; they work wherever the focus is."""
    made: list[BindingType] = [
        Binding(action.keys, action.run, action.title, id=action.id, priority=True, show=False)
        for action in ACTIONS
        if action.keys and action.id != "cancel"
    ]
    return [*made, Binding("escape", "cancel", "Cancel", id="cancel", show=False)]
