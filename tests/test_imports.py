"""Importing does nothing, and loads no more than it must. Each test is one clean interpreter."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING

import pytest

from tests.support import ROOT

if TYPE_CHECKING:
    from pathlib import Path

HEAVY = (
    "textual",
    "fastembed",
    "onnxruntime",
    "numpy",
    "httpx",
    "sqlite_utils",
    "rich",
    "tiktoken",
)

RUN = """
import json, sys
from jitchat.__main__ import main
sys.argv = ["jitchat", *sys.argv[1:]]
try:
    main()
finally:
    print("\\nLOADED", json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""

WATCHED_IMPORT = """
import sys
seen = []
def watch(event, arguments):
    if event == "open":
        path = str(arguments[0])
        if not path.endswith((".py", ".pyc", ".so")) and "__pycache__" not in path:
            seen.append((event, path))
    elif event.split(".")[0] in ("socket", "subprocess", "os") and event != "os.listdir":
        seen.append((event, repr(arguments)))
sys.addaudithook(watch)
import jitchat.cli, jitchat.__main__
found = list(seen)
print("SEEN", found)
"""


def python(code: str, *arguments: str, home: Path) -> str:
    """What `code` prints in an interpreter of its own, which leaves no bytecode behind."""
    done = subprocess.run(
        [sys.executable, "-B", "-c", code, *arguments],
        cwd=ROOT,
        env=os.environ | {"JITCHAT_HOME": str(home), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def loaded(out: str) -> set[str]:
    return set(json.loads(out.split("\nLOADED ")[1]))


def test_help_loads_click_and_little_else(home: Path):
    out = python(RUN, "--help", home=home)

    assert out.startswith("Usage: jitchat")
    assert not loaded(out) & {*HEAVY, "asyncio", "sqlite3", "tomllib", "platformdirs"}
    assert not home.exists()


def test_a_window_is_shown_and_a_message_sent_without_the_terminal_app_and_onnx(home: Path):
    out = python(RUN, "window", "what did we settle on?", home=home)

    assert "demo in jit: " in out
    assert not loaded(out) & {"textual", "fastembed", "onnxruntime", "httpx"}

    out = python(
        RUN,
        "send",
        "What is the deploy window?",
        "--conversation",
        "demo",
        "--embedder",
        "none",
        home=home,
    )

    assert "Tuesday 02:00 UTC" in out
    assert not loaded(out) & {"textual", "fastembed", "onnxruntime", "httpx"}


def test_importing_the_command_line_opens_no_file_and_no_socket(home: Path):
    assert python(WATCHED_IMPORT, home=home).strip() == "SEEN []"


@pytest.mark.parametrize("package", ["settings", "transfer", "cli"])
def test_every_module_says_what_it_owns(package: str):
    for path in sorted((ROOT / "jitchat" / package).glob("*.py")):
        assert path.read_text().startswith('"""'), path


def test_the_checks_see_the_code_of_every_extra():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    weights_without_code = "minilm"

    needed = extras.keys() - {"dev", weights_without_code}

    assert {f"jitchat[{name}]" for name in needed} <= set(extras["dev"])
