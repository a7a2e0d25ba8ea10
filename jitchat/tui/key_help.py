"""What the help and the list in `docs` say of keys, by where they work."""

import tomllib
from importlib.resources import files

from jitchat.tui.actions import ACTIONS, COMMANDS, Action, spelled
from jitchat.tui.key_names import KeyNames
from jitchat.values import Mode

Rows = list[tuple[str, str]]
"""A key, and what it does."""


def help_sections(keys: KeyNames) -> list[tuple[str, Rows]]:
    own = _own_help(keys)
    letters = [(keys[p.id], a.sentence) for a in ACTIONS for p in a.pane if p.is_letter]
    return [
        ("Everywhere", [(_keys_of(a, keys), a.sentence) for a in ACTIONS if a.keys or a.letter]),
        ("In the prompt", own["prompt"]),
        ("In the panes", [*own["letters"], *letters, *own["panes"]]),
        ("In the rot lab", own["lab"]),
        ("In the live demo", own["live"]),
    ]


def _keys_of(action: Action, keys: KeyNames) -> str:
    """Spell an action's keys, and the way by the menu where not every terminal sends them."""
    own, anywhere = keys.spell_all(action.id), keys.anywhere(action.id)
    return ", ".join(filter(None, (own, "" if anywhere in own else anywhere)))


def _own_help(keys: KeyNames) -> dict[str, Rows]:
    """Read, by section, what is said of keys that no action has."""
    given = {
        "modes": ", ".join(f"@{mode}" for mode in Mode),
        "commands": ", ".join(f"/{name}" for name in COMMANDS),
        "newline": ", ".join(map(spelled, keys.all_of("newline")[:2])),
        **{name: keys[name] for name in ("editor", "pane", "prompt_quit")},
    }
    read = tomllib.loads((files(__package__) / "help.toml").read_text("utf-8"))
    return {
        section: [(key.format(**given), does.format(**given)) for key, does in rows]
        for section, rows in read.items()
    }
