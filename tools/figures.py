"""Measure the figures of the documentation: `python -m tools.figures [RUN…]`.

`docs/figures.toml` has a table for each run: its command, what it was run with, the commit, and the
figures that are taken from the JSON that the command writes. A page names a figure behind its
value, as `.980<!-- locomo-8000.any -->`; the values on the pages are written by this tool. Without
names, it measures nothing: it updates the pages and lists the runs whose sources have changed since
their commit. With `--release`, it fails if there are any.
"""

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.items import Table

ROOT = Path(__file__).parents[1]
FIGURES = ROOT / "docs" / "figures.toml"
DATA = "JITCHAT_SHARED"
"""The environment variable with the folder whose `data` has the files that commands name."""
_NAMED = re.compile(r"[^\s|(<>]+<!-- (?P<name>[\w-]+\.[\w-]+) -->")


def pages() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def runs() -> Mapping[str, Any]:
    return tomlkit.parse(FIGURES.read_text(encoding="utf-8")).unwrap()


def texts(known: Mapping[str, Any]) -> dict[str, str]:
    """Map `RUN.FIGURE` to what pages show."""
    return {
        f"{run}.{name}": shown(figure["value"], figure.get("as", ""))
        for run, table in known.items()
        for name, figure in table["figures"].items()
    }


def shown(value: float, unit: str) -> str:
    """Format a value: a share as `.980` or, in per cent, `98`; other numbers with commas."""
    if unit == "percent":
        return f"{100 * value:.0f}"
    if isinstance(value, int) or value > 1:
        return f"{value:,.{0 if value == int(value) or value >= 100 else 1}f}"
    return f"{value:.3f}".removeprefix("0")


def updated(page: str, values: Mapping[str, str]) -> str:
    """Return a page with its figures. Raises KeyError if one of them has no row."""
    return _NAMED.sub(lambda match: f"{values[match['name']]}<!-- {match['name']} -->", page)


def named(page: str) -> Iterator[str]:
    return (match["name"] for match in _NAMED.finditer(page))


def changed_since(table: Mapping[str, Any]) -> bool:
    """Whether the sources of a run have changed since it was made."""
    since = f"{table['commit']}..HEAD"
    git = ["git", "log", "--oneline", "-1", since, "--", *table["sources"]]
    log = subprocess.run(git, cwd=ROOT, capture_output=True, text=True, check=False)
    return log.returncode != 0 or bool(log.stdout)


def measure(table: Table) -> None:
    """Run a command and take over its figures."""
    data = Path(os.environ[DATA]) / "data"
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.json"
        command = shlex.split(table["command"].format(data=data))
        subprocess.run([*command, "--json", str(out)], check=True, stdout=subprocess.DEVNULL)
        found = json.loads(out.read_text(encoding="utf-8"))
    for figure in table["figures"].values():
        figure.update(_taken(found, figure["at"]))
    head = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(head, cwd=ROOT, capture_output=True, text=True, check=True)
    table["commit"] = commit.stdout.strip()
    table["date"] = datetime.now(UTC).date().isoformat()


def _taken(found: dict[str, Any], at: str) -> dict[str, float]:
    """Take a value at a path of keys with, where the JSON has them, its n and its interval."""
    *keys, last = at.split("/")
    for key in keys:
        found = found[key]
    taken = {"value": _brief(found[last])}
    if "n" in found:
        taken["n"] = found["n"]
    if last in found.get("intervals", {}):
        taken["low"], taken["high"] = map(_brief, found["intervals"][last])
    return taken


def _brief(value: float) -> float:
    return round(value, 4) if isinstance(value, float) else value


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.figures")
    parser.add_argument("runs", nargs="*", metavar="RUN", help="runs to measure anew")
    parser.add_argument("--release", action="store_true", help="fail if a figure is stale")
    asked = parser.parse_args()
    document = tomlkit.parse(FIGURES.read_text(encoding="utf-8"))
    for name in asked.runs:
        sys.stderr.write(f"{name}\n")
        measure(document[name])
        FIGURES.write_text(tomlkit.dumps(document), encoding="utf-8")
    known = document.unwrap()
    values = texts(known)
    for page in pages():
        page.write_text(updated(page.read_text(encoding="utf-8"), values), encoding="utf-8")
    stale = [name for name, table in known.items() if changed_since(table)]
    for name in stale:
        since = known[name]["commit"]
        sys.stdout.write(f"stale: {name}: its sources have changed since {since}\n")
    sys.exit(bool(stale) and asked.release)


if __name__ == "__main__":
    main()
