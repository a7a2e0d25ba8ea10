"""What was given to `jitchat rot`, and the run that it asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from jitchat.cli.rot_files import RotFiles
from jitchat.errors import UsageError

if TYPE_CHECKING:
    from jitchat.rot.experiment import Experiment

USUAL = "quick"
"""The preset where none is given."""
_GRID = ("preset", "lengths", "depths", "kinds", "modes", "repeats", "seed", "conversation")
"""What says what is asked, so that a run that goes on has it already."""


@dataclass(frozen=True, slots=True)
class RotFlags:
    """What was given to `jitchat rot`; None where nothing was."""

    preset: str | None
    lengths: str | None
    depths: str | None
    kinds: str | None
    modes: str | None
    repeats: int | None
    seed: int | None
    conversation: str | None
    judge: str | None
    parallel: int
    resume: str | None
    fail_under: tuple[str, ...]
    yes: bool
    headless: bool
    files: RotFiles

    @property
    def wants_the_app(self) -> bool:
        """Whether nothing asks for a run without the screen."""
        told = (self.fail_under, self.yes, self.headless, self.resume, self.files.named())
        return not any(told)

    def require_alone(self, command: str) -> None:
        """Refuse options of a run beside a command that makes none.

        Raises:
            UsageError: There are some.

        """
        given = [name for name in (*_GRID, "judge", "resume") if getattr(self, name) is not None]
        given += [name for name in ("fail_under", "yes", "headless") if getattr(self, name)]
        given += [name for name, _ in self.files.named()]
        if given:
            raise UsageError(f"{_options(given)} are for a run.", f"Leave them out of `{command}`.")

    def require_consistent(self) -> None:
        """Refuse what cannot be asked for at once.

        Raises:
            UsageError: Two options contradict each other.

        """
        given = [name for name in (*_GRID, "judge") if getattr(self, name) is not None]
        if self.resume is not None and given:
            raise UsageError(
                f"--resume goes on as the run was begun, and {_options(given)} would change that.",
                "Leave out the one or the other.",
            )

    def experiment(self, *, is_reader: bool) -> Experiment:
        """Make the grid: of the preset, and what was given beside it.

        Raises:
            UsageError: A part of it cannot be read.

        """
        from jitchat.cli.rot_grid import known  # noqa: PLC0415  not needed to print help
        from jitchat.rot.experiment import PRESETS, preset  # noqa: PLC0415

        name = known("--preset", self.preset or USUAL, PRESETS)
        own: dict[str, Any] = dict(self._grid())
        if self.seed is not None:
            own["seed"] = self.seed
        return replace(preset(name, is_reader=is_reader), **own)

    def thresholds(self) -> Mapping[str, float]:
        """Read `--fail-under`, by mode.

        Raises:
            UsageError: It cannot be read, or names a mode twice.

        """
        from jitchat.cli.rot_grid import threshold_of  # noqa: PLC0415  not needed to print help
        from jitchat.turn import Mode  # noqa: PLC0415

        modes = [mode.value for mode in Mode]
        found = [threshold_of(text, modes) for text in self.fail_under]
        if len(dict(found)) < len(found):
            raise UsageError("--fail-under names a mode twice.", "Give one share for each.")
        return dict(found)

    def _grid(self) -> Iterator[tuple[str, Any]]:
        """Read what was given of the grid; with any of it, the grid is the user's own."""
        from jitchat.cli.rot_grid import depths_of, lengths_of, listed  # noqa: PLC0415
        from jitchat.rot.kinds import Kind  # noqa: PLC0415
        from jitchat.turn import Mode  # noqa: PLC0415

        read: dict[str, Callable[[str], object]] = {
            "lengths": lengths_of,
            "depths": depths_of,
            "kinds": lambda text: listed("--kinds", text, Kind),
            "modes": lambda text: listed("--modes", text, Mode),
            "repeats": int,
            "conversation": str,
        }
        given = [name for name in read if getattr(self, name) is not None]
        for name in given:
            yield name, read[name](getattr(self, name))
        if given:
            yield "preset", "own"


def _options(names: list[str]) -> str:
    told = [f"--{name.replace('_', '-')}" for name in names]
    return " and ".join(filter(None, (", ".join(told[:-1]), told[-1])))
