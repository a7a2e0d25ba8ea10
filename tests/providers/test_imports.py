"""Importing does nothing and loads nothing heavy."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = (
    *("httpx", "tiktoken", "numpy", "sqlite_utils", "textual", "fastembed", "wordllama", "rich"),
    "py_rust_stemmers",
)


@pytest.mark.parametrize(
    "modules",
    [
        "jitchat.window.plan, jitchat.window.tokens, jitchat.window.record",
        "jitchat.providers.reader, jitchat.providers.provider",
        "jitchat.events",
        "jitchat.models",
        "jitchat.providers.catalogue.models, jitchat.store.models",
    ],
)
def test_what_every_command_needs_is_light(modules):
    code = f"import sys, {modules}; print(*sorted(set({HEAVY!r}) & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == ""
