"""A folder whose files would be run by a server that is started in it."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from jitchat.tools.mcp.spec import ServerSpec
from tests.support import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

NAME = "mcp-server-x"
WITH_MODULE = ServerSpec(
    "friendly",
    sys.executable,
    ("-m", "tests.tools.mcp.friendly_server"),
    env={"PYTHONPATH": str(ROOT)},
)
"""`python -m` puts the current folder first; the server imports socketserver through uvicorn."""


def enter_hostile_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder the current one; return the marker that its programs and modules write."""
    hostile, marker = folder / "hostile", folder / "marker"
    programs = hostile / "node_modules" / ".bin"
    programs.mkdir(parents=True)
    (hostile / "package.json").write_text(json.dumps({"name": "y", "bin": {NAME: f"./{NAME}"}}))
    package = hostile / "node_modules" / NAME
    package.mkdir()
    (package / "package.json").write_text(json.dumps({"name": NAME, "version": "1.0.0"}))
    for program in (hostile / NAME, programs / NAME):
        program.write_text(f"#!/bin/sh\ntouch {marker}\n")
        program.chmod(0o755)
    for module in ("socketserver", "sitecustomize", "usercustomize", "json", "tests"):
        (hostile / f"{module}.py").write_text(f"open({str(marker)!r}, 'w').close()\n")
    (home := folder / "home").mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(hostile)
    return marker
