"""Every action of the chat: its id, keys and words. Bindings, palette and help are made of it.

An id never changes, so that `[keys]` in the configuration can name it. Ctrl+M, Ctrl+I, Ctrl+[
and Ctrl+H are other keys in most terminals and are not used.
"""

from __future__ import annotations

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
    Action("regenerate", "alt+r", "regenerate", "Regenerate", "Answer once more, beside this one"),
    Action("edit", "alt+e", "edit", "Edit and resend", "A message anew, as a fork"),
    Action("go_on", "alt+c", "go_on", "Continue", "Go on with a reply that was cut"),
    Action("version", "alt+v", "other_version", "Next version", "Of a turn that has several"),
    Action("reasoning", "alt+t", "reasoning", "Reasoning", "Fold or unfold it"),
    Action("wrap", "alt+z", "wrap_code", "Wrap code", "Long lines of code whole, or cut with …"),
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
    Action("sends", "f9", "view('sends')", "Sends", "The window of any send, as it was"),
    Action("history", "alt+h", "view('history')", "History", "Tokens per send, and what was saved"),
    Action(
        "mattered", "alt+m", "view('mattered')", "Which turn mattered", "Ask again without each"
    ),
    Action("miss", "alt+w", "view('miss')", "Wrong reply", "Point at the turn that was missing"),
    Action("cases", "alt+k", "view('cases')", "Check", "Are the noted turns found now?"),
    Action("rot", "ctrl+t", "rot", "Rot lab", "How answers fare as a conversation grows"),
    Action("pin", "alt+p", "hold('pinned')", "Pin", "A turn into every window of jit, or not"),
    Action("exclude", "alt+d", "hold('excluded')", "Exclude", "A turn from every window, or not"),
    Action("undo", "alt+u", "undo_hold", "Undo", "The last pin or exclusion"),
    Action("quit", "ctrl+q", "app.quit", "Quit", "Everything is stored"),
)
MODES = (
    Action("mode_full", "", "use_mode('full')", "Mode full", "Send every turn"),
    Action("mode_recency", "", "use_mode('recency')", "Mode recency", "Send the last turns"),
    Action("mode_jit", "", "use_mode('jit')", "Mode jit", "Send the last turns and what is needed"),
)

HOLD_ACTIONS = (
    ("turn_pin", "p", "screen.hold('pinned')"),
    ("turn_exclude", "x", "screen.hold('excluded')"),
    ("turn_undo", "u", "screen.undo_hold"),
)
VIEW_ACTIONS = {
    action.method.split("'")[1]: action for action in ACTIONS if action.method.startswith("view(")
}
"""The actions that open a view, by its name."""

TURN_ACTIONS = (
    ("turn_regenerate", "r", "screen.regenerate"),
    ("turn_edit", "e", "screen.edit"),
    ("turn_go_on", "c", "screen.go_on"),
    ("turn_window", "w", "screen.sent_window"),
    ("turn_reasoning", "t,space", "screen.reasoning"),
    *HOLD_ACTIONS,
    ("turn_mattered", "m", "screen.view('mattered')"),
    ("turn_miss", "exclamation_mark", "screen.view('miss')"),
    ("turn_version_before", "left,left_square_bracket", "screen.other_version(-1)"),
    ("turn_version_after", "right,right_square_bracket", "screen.other_version(1)"),
)
"""The conversation's own actions, for the turn under its cursor: id, keys, method."""

PROMPT_ACTIONS = {"newline": "shift+enter,ctrl+j,alt+enter", "prompt_quit": "ctrl+d"}
"""Keys of the prompt's own actions, by id."""

PROMPT_KEYS = (
    ("Enter", "send"),
    ("Shift+Enter, Ctrl+J", "new line"),
    ("Alt+Enter, \\ Enter", "new line"),
    ("Up, Down", "earlier prompts, at the first and last line"),
    ("PgUp, PgDn", "scroll the conversation"),
    ("Ctrl+C", "copy what is selected, or empty the prompt; twice: quit"),
    ("Ctrl+D", "quit, on an empty prompt"),
    ("@full, @recency, @jit", "ahead of a message: that mode, for this one only"),
    ("#12", "in a message: jit brings that turn"),
    ("/ and a name", ", ".join(f"/{name}" for name in COMMANDS)),
)
PANE_KEYS = (
    ("Enter", "inspector: the segment's exact text"),
    ("J, K, G, Shift+G", "conversation: next turn, the one before, first, last"),
    ("Enter, R, E, C", "its exact text; regenerate, edit and resend, continue"),
    ("[, ], T", "the other versions of a turn; its reasoning"),
    ("W", "the window that was sent for it, and what was reported"),
    ("P, X, U", "pin a turn, exclude it; take the last of these back"),
    ("Space", "inspector: the turn out of this message, or into it"),
    ("M, !", "which turn mattered for a reply; which one was missing"),
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


def bindings() -> list[BindingType]:
    """The chat screen's bindings; they work wherever the focus is."""
    made: list[BindingType] = [
        Binding(action.keys, action.method, action.title, id=action.id, priority=True, show=False)
        for action in ACTIONS
        if action.keys and action.id != "cancel"
    ]
    return [*made, Binding("escape", "cancel", "Cancel", id="cancel", show=False)]
