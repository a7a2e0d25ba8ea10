"""Write the README's table of keys from the registry of actions: `python tools/keys_table.py`."""

from pathlib import Path

from jitchat.tui.actions import help_sections

README = Path(__file__).parents[1] / "README.md"
HEAD = "| key | where | what it does |\n|---|---|---|"


def table() -> str:
    """Draw the table."""
    rows = [
        f"| {keys} | {title[0].lower()}{title[1:]} | {meaning} |".replace("\\ Enter", "`\\` Enter")
        for title, section in help_sections()
        for keys, meaning in section
    ]
    return "\n".join([HEAD, *rows])


def main() -> None:
    """Put the table in place of the one that is there."""
    text = README.read_text(encoding="utf-8")
    start = text.index(HEAD)
    end = text.index("\n\n", start)
    README.write_text(text[:start] + table() + text[end:], encoding="utf-8")


if __name__ == "__main__":
    main()
