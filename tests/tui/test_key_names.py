"""How keys are told: as they are in use, and in a way that each terminal has."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import jitchat
from jitchat.tui.actions import keys_by_id, spelled
from jitchat.tui.key_help import help_sections
from jitchat.tui.key_names import KeyNames
from jitchat.tui.widgets.hint_line import named

CHANGED = KeyNames({"inspector": "f12", "models": "ctrl+b,alt+l", "turn_copy": "z"})
ELSEWHERE = ("bench", "bench_memory.py", "dialogs", "key_names.py")
"""Figures that are named as a key is, keys of dialogs, which cannot be changed, and examples."""


def test_a_key_is_told_as_the_user_has_it() -> None:
    assert CHANGED["inspector"] == "F12"
    assert CHANGED["models"] == "Ctrl+B"
    assert CHANGED.spell_all("models") == "Ctrl+B, Alt+L"
    assert CHANGED["cancel"] == "Esc"
    assert CHANGED.tell("{turn_copy} copies it; {menu} opens the menu") == (
        "Z copies it; Ctrl+O opens the menu"
    )
    assert [CHANGED.short(each) for each in ("inspector", "models", "mode", "cancel", "menu")] == [
        "F12",
        "^B",
        "⇧⇥",
        "Esc",
        "^O",
    ]


def test_what_has_no_key_that_each_terminal_sends_is_told_by_the_menu() -> None:
    assert CHANGED["observations"] == "Ctrl+O O"
    assert CHANGED.anywhere("models") == "Ctrl+B"
    assert CHANGED.anywhere("allow_once") == "Ctrl+O 1"
    assert KeyNames({"allow_once": "f12"}).anywhere("allow_once") == "F12", "the user gave it"
    assert KeyNames({"menu": "ctrl+b"}).anywhere("inspector") == "Ctrl+B I"
    assert KeyNames({"menu": "", "inspector": ""}).anywhere("inspector") == "/inspect"
    assert KeyNames({"menu": ""}).anywhere("allow_once") == ""
    unbound = KeyNames({"inspector": ""})
    assert (unbound["inspector"], unbound.short("inspector")) == ("Ctrl+O I", "")
    assert named([("inspector", "inspect", "x"), ("help", "help", "y")], unbound) == (
        ("F1", "help", "y"),
    )
    assert KeyNames({"menu": "", "inspector": ""})["inspector"] == "/inspect"


def test_the_help_has_the_keys_as_they_are_in_use() -> None:
    rows = dict(row for _, section in help_sections(CHANGED) for row in section)
    assert rows["F12"].startswith("Inspector")
    assert rows["Ctrl+B, Alt+L"].startswith("Model")
    assert rows["Z"].startswith("Copy turn")
    assert "F2" not in rows


def test_no_sentence_names_a_key_that_may_have_been_changed() -> None:
    default = {spelled(key) for keys in keys_by_id().values() for key in keys.split(",")}
    folder, found = Path(jitchat.__file__).parent, []
    for path in sorted(folder.rglob("*.py")):
        if not any(part in ELSEWHERE for part in path.relative_to(folder).parts):
            tree = ast.parse(path.read_text("utf-8"))
            found += [
                (path.name, sentence)
                for sentence in _sentences(tree)
                if default & set(re.findall(r"(?:Ctrl\+|Alt\+|Shift\+|\bF)\w+", sentence))
            ]
    assert not found


def _sentences(tree: ast.AST) -> list[str]:
    """List the texts of a module but what explains it."""
    explains = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    texts = (node for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return [
        node.value for node in texts if isinstance(node.value, str) and id(node) not in explains
    ]
