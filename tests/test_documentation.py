"""What the documentation says is so: commands, pictures, links, flags, lists and settings."""

from __future__ import annotations

import re
import tomllib
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click
import pytest

from jitchat.cli import commands
from jitchat.providers.catalogue.models import OTHER, known_model
from jitchat.providers.catalogue.table import as_of, presets, read_json
from jitchat.settings import load_settings
from tests.support import ROOT
from tools import docs

if TYPE_CHECKING:
    from pathlib import Path

README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = {ROOT / "README.md": README} | {
    path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md"))
}
TEXT = "\n".join(PAGES.values())
LISTED = set(read_json("table.json")["providers"])
"""The presets whose models are in the table."""
CODE = re.findall(r"```(\w*)\n(.*?)```", TEXT, re.DOTALL)
SHELL = [line for kind, block in CODE if kind == "sh" for line in block.splitlines() if line]


def test_two_commands_stand_on_the_first_screen_and_do_all_of_their_set_up() -> None:
    first_screen = README[: README.index("## The first minute")]
    lines = [line for line in first_screen.splitlines() if line.startswith("python3 -m venv")]
    assert [line.rpartition("/")[2] for line in lines] == ["jitchat", "pytest"]
    assert all("pip install" in line for line in lines)
    assert "uv run jitchat" in first_screen
    assert "uv run pytest" in first_screen


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", PAGES[page]):
        name, _, heading = target.partition("#")
        linked = (page.parent / name).resolve() if name else page
        assert linked.is_file(), target
        if heading:
            text = linked.read_text(encoding="utf-8")
            titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
            assert heading in {re.sub(r"[^\w -]", "", t).lower().replace(" ", "-") for t in titles}


def test_the_readme_leads_to_every_page() -> None:
    assert {*re.findall(r"\(docs/([\w-]+)\.md", README)} == {
        page.stem for page in PAGES if page.parent.name == "docs"
    }


@pytest.mark.parametrize("page", list(PAGES)[1:], ids=lambda page: page.stem)
def test_the_lists_of_a_page_are_as_the_code_has_them(page: Path) -> None:
    assert docs.written(PAGES[page]) == PAGES[page], "write them anew: python -m tools.docs"


def _options(command: click.Command) -> set[str]:
    return {name for each in command.params for name in (*each.opts, *each.secondary_opts)}


@pytest.mark.parametrize(
    "line", [line for line in SHELL if "jitchat " in line and "pip" not in line]
)
def test_every_command_has_the_flags_that_it_is_shown_with(line: str) -> None:
    words = line.partition("#")[0].partition("jitchat ")[2].split()
    command: click.Command = commands
    for word in words:
        if isinstance(command, click.Group) and (
            found := command.get_command(click.Context(command), word)
        ):
            command = found
    known = _options(command) | _options(commands)
    assert {word for word in words if word.startswith("--")} <= known


@pytest.mark.parametrize("block", [block for kind, block in CODE if kind == "toml"])
def test_the_settings_that_are_shown_are_taken(block: str, tmp_path: Path) -> None:
    written = tmp_path / "config.toml"
    written.write_text(block, encoding="utf-8")
    assert load_settings(written, {}).in_use().name


EXAMPLES = re.findall(r"^\| (.+?) \| (.+?) \| `(provider = .+)` \|$", TEXT, re.MULTILINE)


@pytest.mark.parametrize(("title", "key", "line"), EXAMPLES)
def test_the_example_of_each_provider_works(
    title: str, key: str, line: str, tmp_path: Path
) -> None:
    written = tmp_path / "config.toml"
    written.write_text(line, encoding="utf-8")
    settings = load_settings(written, {})
    profile = settings.in_use()
    assert settings.model_name()
    assert profile.title == title or "llm.example" in profile.base_url
    told = {*re.findall(r"`(\w+_API_KEY)`", key)}
    assert told <= {*profile.key_variables}
    port = re.match(r"port (\d+)", key)
    assert port is None or f":{port[1]}" in profile.base_url


NO_PROVIDERS = ("embedder", "reranker")
"""Sections whose models are of fastembed's lists."""


def _models() -> list[tuple[str, str]]:
    """Every provider and model that an example sends to, as far as the table knows the provider."""
    tables = [tomllib.loads(line)["provider"] for _, _, line in EXAMPLES]
    tables += [
        {"name": block.get("provider", "openai"), "model": block["model"]}
        for kind, text in CODE
        if kind == "toml"
        for section, table in tomllib.loads(text).items()
        if section not in NO_PROVIDERS
        for block in _blocks({section: table})
        if "model" in block and "localhost" not in block.get("base_url", "")
    ]
    named = [(each["name"], each["model"]) for each in tables if "base_url" not in each]
    named += [tuple(found.split("/", 1)) for found in re.findall(r"`jitchat --model (\S+)`", TEXT)]
    answering = {*re.findall(r"--(?:answerer|judge) (\S+)", TEXT)}
    named += [("openai", found) for found in answering - presets().keys()]
    return sorted({each for each in named if each[0] in LISTED})


def _blocks(table: dict[str, Any]) -> list[dict[str, Any]]:
    """Every table of a configuration, however deep."""
    inner = [each for each in table.values() if isinstance(each, dict)]
    return [table, *(block for each in inner for block in _blocks(each))]


def test_every_model_of_fastembed_that_is_named_is_one_of_its_lists() -> None:
    import fastembed
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    known = {"embedder": fastembed.TextEmbedding, "reranker": TextCrossEncoder}
    named = [
        (table["model"], known[section])
        for kind, text in CODE
        if kind == "toml"
        for section, table in tomllib.loads(text).items()
        if section in NO_PROVIDERS and "model" in table
    ]
    assert named
    for model, library in named:
        assert model in {each["model"] for each in library.list_supported_models()}


@pytest.mark.parametrize(("provider", "model"), _models())
def test_every_model_that_is_named_is_one_that_answers(provider: str, model: str) -> None:
    assert known_model(provider, model).limit is not None
    assert known_model(provider, model).other_api != OTHER
    retires = known_model(provider, model).retires
    assert retires is None or retires > as_of() + timedelta(days=30)


def test_the_models_of_every_provider_that_charges_are_looked_up() -> None:
    assert {provider for provider, _ in _models()} == LISTED


def test_every_provider_has_an_example() -> None:
    named = {tomllib.loads(line)["provider"]["name"] for _, _, line in EXAMPLES}
    assert named == {*presets()} - {"reader"}


def test_the_changelog_tells_of_what_is_to_come() -> None:
    assert "## [Unreleased]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
