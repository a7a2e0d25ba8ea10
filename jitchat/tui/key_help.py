"""The keys listed in the help and in `docs`, grouped by where they work."""

from jitchat.text.expressions import packaged
from jitchat.tui.actions import ACTIONS, COMMANDS, Action, spelled
from jitchat.tui.key_names import KeyNames
from jitchat.values import Mode

Rows = list[tuple[str, str]]
"""Keys and their descriptions."""


def help_sections(keys: KeyNames) -> list[tuple[str, Rows]]:
    other = _other_keys(keys)
    letters = [(keys[p.id], a.sentence) for a in ACTIONS for p in a.pane if p.is_letter]
    return [
        ("Everywhere", [(_keys_of(a, keys), a.sentence) for a in ACTIONS if a.keys or a.letter]),
        ("In the prompt", other["prompt"]),
        ("In the panes", [*other["letters"], *letters, *other["panes"]]),
        ("In the rot lab", other["lab"]),
        ("In the live demo", other["live"]),
    ]


def _keys_of(action: Action, keys: KeyNames) -> str:
    """Format an action's keys, and its menu key if some terminals do not send them."""
    bound, anywhere = keys.spell_all(action.id), keys.anywhere(action.id)
    return ", ".join(filter(None, (bound, "" if anywhere in bound else anywhere)))


def _other_keys(keys: KeyNames) -> dict[str, Rows]:
    """Read the descriptions of keys that belong to no action, by section."""
    placeholders = {
        "modes": ", ".join(f"@{mode}" for mode in Mode),
        "commands": ", ".join(f"/{name}" for name in COMMANDS),
        "newline": ", ".join(map(spelled, keys.all_of("newline")[:2])),
        **{name: keys[name] for name in ("editor", "pane", "prompt_quit")},
    }
    return {
        section: [(key.format(**placeholders), does.format(**placeholders)) for key, does in rows]
        for section, rows in packaged(__package__, "help.toml").items()
    }
