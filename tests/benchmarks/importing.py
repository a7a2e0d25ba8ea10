"""How fast a long history is imported, in how much memory: `python -m tests.benchmarks.importing`.

The file is made in the shape of ChatGPT's export: conversations of 4 to 120 messages, whose length
is distributed exponentially, of words as frequent as in English. It is imported by the command,
without an index, into an empty store.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import time
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tests.transfer.exports import chatgpt, chatgpt_node

if TYPE_CHECKING:
    from collections.abc import Sequence

_VOCABULARY = 50_000
_WORDS = 120
"""Of a message, on average."""


def texts(luck: random.Random) -> list[str]:
    """Some messages; a file has each of them many times."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(luck.choices(letters, k=luck.randint(2, 9))) for _ in range(_VOCABULARY)]
    weights = list(accumulate(1 / (rank + 3) for rank in range(_VOCABULARY)))
    lengths = (max(3, int(luck.expovariate(1 / _WORDS))) for _ in range(20_000))
    return [" ".join(luck.choices(words, cum_weights=weights, k=count)) for count in lengths]


def write_export(path: Path, size: int, seed: int = 1) -> int:
    """Write a file of about so many bytes; the number of its messages."""
    luck = random.Random(seed)
    said, written, messages, number = texts(luck), 0, 0, 0
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        while written < size:
            talk = json.dumps(_talk(luck, said, number))
            file.write(f"{',' if number else ''}\n{talk}")
            written, number = written + len(talk), number + 1
            messages += talk.count('"author"')
        file.write("]")
    return messages


def _talk(luck: random.Random, said: Sequence[str], number: int) -> dict[str, object]:
    nodes = [chatgpt_node("root", None, None)]
    for place in range(luck.randint(4, 120)):
        role = "assistant" if place % 2 else "user"
        name, before = f"{number:08x}-{place:04x}-4000-8000-000000000000", nodes[-1]["id"]
        more = {"model_slug": "gpt-5", "request_id": name, "parent_id": before, "citations": []}
        moment = 1.7e9 + 1_000 * number + place
        text = luck.choice(said)
        nodes.append(chatgpt_node(name, before, role, text=text, at=moment, metadata=more))
    return chatgpt(*nodes, title=f"Talk {number}", conversation_id=f"{number:08x}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=100)
    wanted = parser.parse_args()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "conversations.json"
        messages = write_export(path, wanted.megabytes * 1_000_000)
        command = [sys.executable, "-m", "jitchat", "import", str(path), "--no-index"]
        begun = time.monotonic()
        subprocess.run(command, check=True, env=os.environ | {"JITCHAT_HOME": folder})
        seconds = time.monotonic() - begun
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    computed = used.ru_utime + used.ru_stime
    print(f"{messages:,} messages of {wanted.megabytes:,} MB in {seconds:,.1f} s")
    print(f"{messages / seconds:,.0f} messages/s; {messages / computed:,.0f} a second of processor")
    print(f"{used.ru_maxrss // 1024:,} MB of memory at most")


if __name__ == "__main__":
    main()
