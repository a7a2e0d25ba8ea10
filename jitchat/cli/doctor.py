"""`jitchat doctor`: whether each configured provider answers, and what is wrong where not."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click

from jitchat.cli.chosen import chosen_in_the_app
from jitchat.cli.options import Flags, SharingCommand, common_options
from jitchat.cli.output import emit, painted, say_json

if TYPE_CHECKING:
    from jitchat.cli.checkup import Finding
    from jitchat.providers.catalogue.local import LocalServer
    from jitchat.settings import Settings
    from jitchat.settings.profile import Profile

_MARKS = {True: ("✓", "green"), False: ("✗", "red"), None: ("·", "yellow")}


@click.command("doctor", cls=SharingCommand)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
def doctor_command(flags: Flags, names: tuple[str, ...], as_json: bool) -> int:
    """Check that each configured provider answers.

    Sends one tiny request ("Say OK.") to each provider that is named in the configuration, has a
    key or runs on this machine, and stops the answer at its first piece. With NAMEs, only to
    those. The exit code is 1 where one of them fails.
    """
    settings = flags.settings(chosen_in_the_app(flags.paths().database))
    around, asked, keyless = _checked(flags, settings, names)
    if as_json:
        say_json(_fields(around, asked, keyless))
    else:
        _print([*around, *asked])
        _print_keyless(keyless)
    return 1 if any(each.ok is False for each in (*around, *asked)) else 0


def _checked(
    flags: Flags, settings: Settings, names: Sequence[str]
) -> tuple[list[Finding], list[Finding], list[Profile]]:
    """Look around, and ask: (what was found around, by whom it was answered, who lacks a key)."""
    import asyncio  # noqa: PLC0415  30 ms, not needed to print help

    from jitchat.cli import checkup  # noqa: PLC0415  loads httpx
    from jitchat.cli.opening import quiet_libraries  # noqa: PLC0415
    from jitchat.cli.surroundings import look_around  # noqa: PLC0415

    quiet_libraries()
    if names:
        profiles = [settings.profile(name) for name in dict.fromkeys(names)]
        return [], asyncio.run(checkup.ask_all(settings, profiles)), []
    paths = flags.paths()
    around = look_around(settings, paths, os.environ)
    local = asyncio.run(_local(settings))
    chosen = checkup.worth_asking(settings, os.environ, paths.keys, local)
    answered = asyncio.run(checkup.ask_all(settings, chosen))
    return around, answered, checkup.without_key(settings, chosen)


async def _local(settings: Settings) -> Sequence[LocalServer]:
    from jitchat.providers.catalogue.local import find_local  # noqa: PLC0415  loads httpx

    return await find_local(
        moved={each.name: each.base_url for each in settings.profiles() if each.is_local}
    )


def _print(findings: Sequence[Finding]) -> None:
    width = max(len(each.name) for each in findings)
    for each in findings:
        mark, colour = _MARKS[each.ok]
        sentence = f"{each.told} {each.remedy}".strip()
        emit(f"{painted(mark, colour)} {painted(f'{each.name:<{width}}  {sentence}', None)}")


def _print_keyless(profiles: Iterable[Profile]) -> None:
    listed = ", ".join(f"{each.name} ({each.key_variables[0]})" for each in profiles)
    if listed:
        emit(painted(f"Without a key: {listed}.", None))


def _fields(
    around: Iterable[Finding], asked: Iterable[Finding], keyless: Iterable[Profile]
) -> dict[str, object]:
    return {
        "checks": [_finding(each) for each in around],
        "providers": [
            _finding(each) | {"model": each.model, "seconds": each.seconds} for each in asked
        ],
        "without_key": {each.name: each.key_variables[0] for each in keyless},
    }


def _finding(found: Finding) -> dict[str, object]:
    return {"name": found.name, "ok": found.ok, "told": found.told, "remedy": found.remedy}
