"""Texts that mention files in every way in which a mention is written."""

from __future__ import annotations

import unicodedata
from itertools import product

FILES = ("notes.md", "my notes.md", "src/a.py", ".env", "ä.md", "link.md")
"""Made by `make_files` in the current folder."""
PATHS = (
    *FILES, "src/", "src/!", "src", "*.md", "src/*", ".*", "./notes.md", "../home/.ssh/id_rsa",
    "{home}/.ssh/id_rsa", "{home}/.ssh/", "{home}/.ssh/*", "~/.ssh/id_rsa", "/etc/hostname",
)  # fmt: skip
QUOTED = ('@"{}"', "(@{})", "@{}", "[@{}],", "“@{}”", "'@{}'", "@{}.", "@{}，然后", "<@{}>")
AROUND = ("{}", "+see {}\n", "a {}\tb", "\n{}", "x\n> {}\n", "{} {}", '@"{}', "@{}")


def spelled(path: str) -> list[str]:
    """Write a mention of a path in every way."""
    if " " in path:
        return [f'@"{path}"', "@" + path.replace(" ", "\\ "), f'(@"{path}")']
    return [each.format(path) for each in QUOTED] + [f"@{unicodedata.normalize('NFD', path)}"]


def texts(home: str) -> list[str]:
    """Return texts with mentions, each once."""
    paths = [path.replace("{home}", home) for path in PATHS]
    mentions = [mention for path in paths for mention in spelled(path)]
    around = (form.replace("{}", mention) for mention, form in product(mentions, AROUND))
    return list(dict.fromkeys(around))
