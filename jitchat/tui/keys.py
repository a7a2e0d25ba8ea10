"""Every action of the chat: its id, keys and words. Bindings, palette and help are made of it.

An id never changes, so that `[keys]` in the configuration can name it. Ctrl+M, Ctrl+I, Ctrl+[
and Ctrl+H are other keys in most terminals and are not used.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from textual.binding import Binding, BindingType

from jitchat.tui.commands import COMMANDS


@dataclass(frozen=True, slots=True)
class Action:
    """Something that the user can do."""

    id: str
    keys: str
    """Comma-separated, as Textual names them."""
    method: str
    """The action's name on the chat screen."""
    title: str
    help: str


ACTIONS = (
    Action("mode", "shift+tab", "cycle_mode", "Next mode", "full → recency → jit"),
    Action(
        "inspector", "f2", "toggle_inspector", "Inspector", "Show or hide the window's segments"
    ),
    Action("models", "ctrl+l", "models", "Model", "Pick who answers, or add a key"),
    Action("cancel", "escape", "cancel", "Cancel", "Stop the reply, keeping what came"),
    Action("new", "ctrl+n", "new_conversation", "New conversation", "Start with an empty history"),
    Action("resume", "ctrl+r", "resume", "Conversations", "Resume one, or search in all of them"),
    Action(
        "regenerate",
        "alt+r",
        "ask('regenerate')",
        "Regenerate",
        "Answer once more, beside this one",
    ),
    Action("edit", "alt+e", "edit", "Edit and resend", "A message anew, as a fork"),
    Action("go_on", "alt+g", "ask('go_on')", "Continue", "Go on with a reply that was cut"),
    Action("version", "alt+v", "other_version", "Next version", "Of a turn that has several"),
    Action("reasoning", "alt+i", "reasoning", "Reasoning", "Fold or unfold it"),
    Action("wrap", "alt+y", "wrap_code", "Wrap code", "Long lines of code whole, or cut with …"),
    Action("palette", "ctrl+p", "app.command_palette", "Palette", "Every action by name"),
    Action("help", "f1", "help", "Help", "Keys and words"),
    Action("pane", "f6", "app.focus_next", "Next pane", "Move the focus on"),
    Action("model", "f5", "fetch_model", "Embedding model", "Fetch the better one, or stop that"),
    Action(
        "count", "alt+x", "count_exactly", "Exact count", "Ask the provider for the window's tokens"
    ),
    Action("wire", "f3", "view('wire')", "Wire", "The request, byte for byte"),
    Action("ledger", "f4", "view('ledger')", "Ledger", "Every candidate, and why or why not"),
    Action("what_if", "f7", "view('what_if')", "What if", "full, recency and jit side by side"),
    Action("ask_all", "alt+a", "view('ask_all')", "Ask all three", "Their answers side by side"),
    Action("budget", "f8", "view('budget')", "Budget", "What enters and leaves as it changes"),
    Action("sends", "f9", "view('sent_windows')", "Sends", "The window of any send, as it was"),
    Action("history", "alt+h", "view('history')", "History", "Tokens per send, and what was saved"),
    Action(
        "mattered",
        "alt+m",
        "view('leave_one_out')",
        "Which turn mattered",
        "Ask again without each",
    ),
    Action(
        "miss", "alt+w", "view('missing_turn')", "Wrong reply", "Point at the turn that was missing"
    ),
    Action("cases", "alt+k", "view('regression_cases')", "Check", "Are the noted turns found now?"),
    Action(
        "window", "alt+s", "switch_window", "Sent or next", "The window sent last, or the next one"
    ),
    Action("rot", "ctrl+t", "rot", "Rot lab", "How answers fare as a conversation grows"),
    Action("pin", "alt+p", "hold('pinned')", "Pin", "A turn into every window of jit, or not"),
    Action("exclude", "alt+o", "hold('excluded')", "Exclude", "A turn from every window, or not"),
    Action("undo", "alt+z", "undo_hold", "Undo", "The last pin or exclusion"),
    Action("quit", "ctrl+q", "app.quit", "Quit", "Everything is stored"),
)
MODES = (
    Action("mode_full", "", "use_mode('full')", "Mode full", "Send every turn"),
    Action("mode_recency", "", "use_mode('recency')", "Mode recency", "Send the last turns"),
    Action("mode_jit", "", "use_mode('jit')", "Mode jit", "Send the last turns and what is needed"),
)

HOLD_ACTIONS = (
    ("turn_pin", "p", "screen.hold('pinned')", "pin", "Pin #{turn}, or end that?"),
    (
        "turn_exclude",
        "x",
        "screen.hold('excluded')",
        "exclude",
        "Exclude #{turn}, or end that?",
    ),
    ("turn_undo", "u", "screen.undo_hold", "undo", "Take the last pin or exclusion back?"),
)
VIEW_ACTIONS = {
    action.method.split("'")[1]: action for action in ACTIONS if action.method.startswith("view(")
}
"""The actions that open a view, by its name."""

TURN_ACTIONS = (
    ("turn_regenerate", "r", "screen.regenerate", "again", "Regenerate #{turn}?"),
    ("turn_edit", "e", "screen.edit", "edit", "Edit #{turn}, to send it as a fork?"),
    ("turn_go_on", "c", "screen.go_on", "continue", "Continue #{turn}?"),
    ("turn_window", "w", "screen.sent_window", "window", "Show the window sent for #{turn}?"),
    (
        "turn_reasoning",
        "t",
        "screen.reasoning",
        "thoughts",
        "Fold or unfold the reasoning of #{turn}?",
    ),
    *HOLD_ACTIONS,
    (
        "turn_mattered",
        "m",
        "screen.view('leave_one_out')",
        "mattered",
        "What mattered for #{turn}?",
    ),
    ("turn_miss", "exclamation_mark", "screen.view('missing_turn')", "wrong", "Is #{turn} wrong?"),
    ("turn_version_before", "left", "screen.other_version(-1)", "", ""),
    ("turn_version_after", "right", "screen.other_version(1)", "versions", ""),
)
"""The conversation's own actions, for the turn under its cursor: id, key, method, its word in the
footer, and the question that the key asks first."""

PROMPT_ACTIONS = {"newline": "shift+enter,ctrl+j,alt+enter", "prompt_quit": "ctrl+d"}
"""Keys of the prompt's own actions, by id."""

PROMPT_KEYS = (
    ("Enter", "send"),
    ("Shift+Enter, Ctrl+J", "new line"),
    ("Alt+Enter, \\ Enter", "new line"),
    ("Up, Down", "earlier prompts, at the first and last line"),
    ("PgUp, PgDn", "scroll the conversation"),
    ("Alt+B, F, D, U, L, C, T", "words, as in a shell: back, forward, delete, case, exchange"),
    ("Ctrl+C", "copy what is selected, or empty the prompt; twice: quit"),
    ("Ctrl+D", "quit, on an empty prompt"),
    ("@full, @recency, @jit", "ahead of a message: that mode, for this one only"),
    ("#12", "in a message: jit brings that turn"),
    ("/ and a name", ", ".join(f"/{name}" for name in COMMANDS)),
    ("/why 12 and a text", "about that text; a view without one is about the last message sent"),
    ("a blank ahead of /", "makes a message of it"),
)
PANE_KEYS = (
    ("a letter", "the last line shows the keys of the pane; each asks, and Enter does it"),
    ("any other text", "goes to the prompt, from whichever pane"),
    ("Up, Down, Home, End", "conversation: next turn, the one before, first, last"),
    ("Left, Right", "conversation: the other versions of a turn"),
    ("Enter", "the exact text of the turn, or of the inspector's row"),
    ("R, E, C, T", "regenerate, edit and resend, continue; fold its reasoning"),
    ("W", "the window that was sent for it, and what was reported"),
    ("P, X, U", "pin a turn, exclude it; take the last of these back"),
    ("M, !", "which turn mattered for a reply; which one was missing"),
    ("Space", "inspector: the turn out of this message, or into it"),
    ("Left, Right", "inspector: the window that was sent, or the next one"),
    ("Y", "exact text: copy it"),
)

LAB_KEYS = (
    ("1, 2, 3, Enter", "what to run; run it, or open a run that is kept"),
    ("P", "requests that leave at once, where a model is asked"),
    ("R, C, Delete", "a run: go on with it, compare it with another, delete it"),
    ("Arrows, M", "the squares of all maps; the same square of the next map"),
    ("Tab, Enter", "the cells of a square; the window that was sent for one"),
    ("A, N", "all of an answer; in its window, the next turn that it needs"),
    ("K, V", "the kinds that are counted; the next pane of a small terminal"),
    ("E", "write the run: JSON, CSV, SVG, text"),
    ("Esc", "stop the run, keeping what came; once more: leave it"),
)
"""Keys of the rot lab."""


_COMMAND_HELP = {
    "why": "Why turn 12 is in the window, or not: /why 12, or /why 12 and a text",
    "mode": "Use a mode from now on: full, recency or jit",
    "once": "Use a mode for the next message: full, recency or jit",
    "quit": "Everything is stored",
}


def command_help(name: str) -> str:
    """Say what a command does, in the words of the action that it stands for."""
    method = COMMANDS[name]
    actions = (f"{each.title}: {each.help}" for each in ACTIONS if each.method == method)
    return _COMMAND_HELP.get(name) or next(actions, "")


def pane_bindings(actions: Sequence[tuple[str, str, str, str, str]]) -> list[BindingType]:
    """Bind a pane's own actions, for the chat's footer alone; see `TURN_ACTIONS`."""
    return [
        Binding(keys, method, word, show=False, tooltip=question, id=name)
        for name, keys, method, word, question in actions
    ]


def bindings() -> list[BindingType]:
    """The chat screen's bindings; they work wherever the focus is."""
    made: list[BindingType] = [
        Binding(action.keys, action.method, action.title, id=action.id, priority=True, show=False)
        for action in ACTIONS
        if action.keys and action.id != "cancel"
    ]
    return [*made, Binding("escape", "cancel", "Cancel", id="cancel", show=False)]
