"""The keys and words of the views that have one thing a mode; another mode gets the next ones."""

from collections.abc import Iterator, Mapping

from textual.binding import Binding

from jitchat.values import Mode

ALL_MODES = f"all {('no', 'one', 'two', 'three', 'four', 'five', 'six')[len(Mode)]}"


def mode_keys(given: Mapping[Mode, str]) -> dict[Mode, str]:
    """Give each mode a letter: the given one, else the first of its name that is free."""
    keys: dict[Mode, str] = {}
    for mode in Mode:
        taken = {*given.values(), *keys.values()}
        keys[mode] = given.get(mode) or next(letter for letter in mode if letter not in taken)
    return keys


def mode_bindings(action: str, view: str) -> Iterator[Binding]:
    """Bind a digit and a letter to each mode; `view` begins the ids of the bindings."""
    for number, (mode, letter) in enumerate(mode_keys({}).items(), start=1):
        method, name = f"{action}('{mode}')", mode.capitalize()
        yield Binding(f"{number},{letter}", method, name, id=f"{view}_{mode}")
