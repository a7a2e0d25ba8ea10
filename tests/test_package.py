"""What a package index shows and a packager gets."""

from __future__ import annotations

import re
import tomllib

from tests.support import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
HATCH = PROJECT["tool"]["hatch"]


def test_each_link_of_the_readme_is_absolute_on_a_package_index():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    own = len(re.findall(r"\]\((?!https?:)", readme))
    for change in HATCH["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        readme = re.sub(change["pattern"], change["replacement"], readme)
    links = re.findall(r"\]\(([^)]+)\)|(?:src|href)=\"([^\"]+)\"", readme)
    addresses = [link or attribute for link, attribute in links]
    assert len(addresses) >= own > 10
    assert [each for each in addresses if not each.startswith("https://")] == []
    named = [
        each.split("/main/")[1]
        for each in addresses
        if "/jitchat/main/" in each or "/blob/main/" in each
    ]
    assert len(named) == own
    assert [each for each in named if not (ROOT / each.partition("#")[0]).exists()] == []
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", readme)
    assert pictures
    assert all(each.startswith("https://raw.githubusercontent.com/") for each in pictures)


def test_the_source_distribution_has_what_the_tests_need():
    included = set(HATCH["build"]["targets"]["sdist"]["include"])
    assert included >= {"jitchat", "tests", "tools", "screenshots", ".ci", "docs"}
    assert included >= {"CONTRIBUTING.md", "budget.toml"}
