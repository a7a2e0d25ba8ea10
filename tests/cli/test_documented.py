"""The commands in the documentation, run in the order in which each page has them."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import pytest

from tests.support import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Shell

ELSEWHERE = {
    "a terminal": r"jitchat(?: demo.*| --\w+)",
    "minutes": r"jitchat (?:rot(?! list)|bench) .*",
    "a download": r"jitchat models (?:fetch|remove) .*",
    "files of another program": r"jitchat import .*",
    "a document of several sessions": r"jitchat document --\w.*",
}
"""Patterns of commands that need something that tests do not have."""


def commands_of(page: Path) -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    lines = (re.split(r"\s+# ", line)[0] for block in blocks for line in block.splitlines())
    return [
        line
        for line in lines
        if line.startswith("jitchat")
        and not any(re.fullmatch(pattern, line) for pattern in ELSEWHERE.values())
    ]


RUN = {page: commands_of(page) for page in sorted((ROOT / "docs").glob("*.md"))}


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize("page", [page for page in RUN if RUN[page]], ids=lambda page: page.stem)
def test_the_commands_of_a_page_do_what_they_are_shown_to_do(
    page: Path, jitchat: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src").mkdir()
    for attached in ("report.md", "src/app.py"):
        (tmp_path / attached).write_text("# The draft is stored in the database.\n")
    for line in RUN[page]:
        command, _, out = line.partition(" > ")
        done = jitchat(*shlex.split(command)[1:])
        assert done.code == 0, f"{line}\n{done.err}"
        assert done.out or out or "--out" in command, line
        if re.search(r"jitchat send .*(deploy window|metrics endpoint)", line):
            assert "No answer" not in done.out, line
