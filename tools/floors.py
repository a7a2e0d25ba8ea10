"""Check that the lowest versions in pyproject.toml were run: `python -m tools.floors`.

`.ci/run --long` installs the lowest versions, runs the app with them, and writes their list with
`--write`, from the output of `pip freeze` on standard input.
"""

import argparse
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIST = ROOT / ".ci" / "lowest.txt"
_FLOOR = re.compile(r"([\w.-]+)(?:\[[\w,-]+\])?>=([\w.]+)")
_FROZEN = re.compile(r"([\w.-]+)==([\w.]+)")


def floors() -> dict[str, str]:
    """Return the lowest version of each dependency of the app, by name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = map(_FLOOR.match, project["dependencies"])
    return {match[1]: match[2] for match in found if match is not None}


def versions(text: str) -> dict[str, str]:
    """Read the lines `name==version`."""
    return dict(_FROZEN.findall(text))


def plain(version: str) -> str:
    """Drop zeros at the end: 4, 4.0 and 4.0.0 are the same version."""
    return re.sub(r"(\.0)+$", "", version)


def differences(wanted: dict[str, str], run: dict[str, str]) -> list[str]:
    return [
        f"{name}: pyproject.toml names {version}, {run.get(name, 'nothing')} was run"
        for name, version in wanted.items()
        if plain(version) != plain(run.get(name, ""))
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.floors")
    parser.add_argument("--write", action="store_true", help="take over what pip freeze printed")
    wanted = floors()
    if parser.parse_args().write:
        run = versions(sys.stdin.read())
        lines = [f"{name}=={run[name]}\n" for name in wanted]
        LIST.write_text("".join(lines), encoding="utf-8")
    found = differences(wanted, versions(LIST.read_text(encoding="utf-8")))
    if found:
        raise SystemExit("\n".join([*found, "Run `.ci/run --long`."]))
    sys.stdout.write(f"{len(wanted)} lowest versions are those that were run\n")


if __name__ == "__main__":
    main()
