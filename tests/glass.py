"""What a terminal shows of what is written to it: as much of one as the app makes use of."""

from __future__ import annotations

import re

from rich.cells import cell_len

_SEQUENCE = re.compile(
    r"\x1b\[(?P<private>[?<>=]?)(?P<numbers>[\d;]*)[ $]*(?P<command>[A-Za-z])"
    r"|\x1b\].*?(?:\x07|\x1b\\)|\x1b[78=>]|\x18"
)
_UNFINISHED = re.compile(r"\x1b(?:\[[?<>=\d;$ ]*|\][^\x07\x1b]*)?\Z")
Cell = tuple[str, str]


class Glass:
    """Cells with their style; commands that it does not know end the test."""

    def __init__(self, rows: int, columns: int) -> None:
        self._size = rows, columns
        self._rows: list[list[Cell]] = [self._blank() for _ in range(rows)]
        self._at = [0, 0]
        self._margins = 0, rows - 1
        self._style = self._rest = ""

    def _blank(self) -> list[Cell]:
        return [(" ", "")] * self._size[1]

    @property
    def cells(self) -> list[list[Cell]]:
        return [list(row) for row in self._rows]

    @property
    def text(self) -> str:
        return "\n".join("".join(text for text, _ in row).rstrip() for row in self._rows)

    def write(self, written: str) -> None:
        written = self._rest + written
        unfinished = _UNFINISHED.search(written)
        self._rest = unfinished[0] if unfinished else ""
        written = written.removesuffix(self._rest) if self._rest else written
        end = 0
        for found in _SEQUENCE.finditer(written):
            self._print(written[end : found.start()])
            end = found.end()
            if found[0] == "\x1b[?1049h":
                self._rows = [self._blank() for _ in self._rows]
            if found["command"] and not found["private"]:
                self._obey(found["command"], found["numbers"])
        self._print(written[end:])

    def _obey(self, command: str, numbers: str) -> None:
        given = [int(number) for number in numbers.split(";") if number]
        if command == "m":
            self._style = "" if numbers in ("", "0") else numbers
        elif command == "H":
            row, column = given or (1, 1)
            self._at = [row - 1, column - 1]
        elif command == "r":
            first, last = given or (1, self._size[0])
            self._margins = first - 1, last - 1
            self._at = [0, 0]
        elif command in "LM":
            self._move(given[0] if given else 1, is_up=command == "M")
        else:
            assert command in "nupt", (command, numbers)

    def _move(self, lines: int, *, is_up: bool) -> None:
        first, last = self._at[0], self._margins[1]
        for _ in range(lines):
            self._rows.pop(first if is_up else last)
            self._rows.insert(last if is_up else first, self._blank())

    def _print(self, text: str) -> None:
        row, column = self._at
        for character in text:
            assert character.isprintable(), repr(character)
            width = cell_len(character)
            if not width:
                before, style = self._rows[row][column - 1]
                self._rows[row][column - 1] = before + character, style
            for cell in range(width):
                shown = character if not cell else ""
                self._rows[row][min(column + cell, self._size[1] - 1)] = shown, self._style
            column += width
        self._at = [row, column]
