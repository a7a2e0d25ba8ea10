"""Importing does nothing and loads nothing heavy."""

from __future__ import annotations

import subprocess
import sys

HEAVY = (
    *("httpx", "tiktoken", "numpy", "sqlite_utils", "textual", "fastembed", "wordllama", "rich"),
    "py_rust_stemmers",
)
LIGHT = (
    *("jitchat.window.plan", "jitchat.window.tokens", "jitchat.window.record"),
    *("jitchat.providers.reader", "jitchat.providers.provider", "jitchat.events"),
    "jitchat.models",
    *("jitchat.providers.catalogue.models", "jitchat.store.models"),
)
CODE = """
import importlib, sys
for name in {light}:
    importlib.import_module(name)
    print(*(f"{{name}} loads {{each}}" for each in {heavy} if each in sys.modules))
"""


def test_what_every_command_needs_is_light():
    code = CODE.format(light=LIGHT, heavy=HEAVY)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split("\n") == [""] * (len(LIGHT) + 1)
