"""Tables are as wide as they need; words break before cells are cut; narrow ones are records."""

from __future__ import annotations

from rich.cells import cell_len

from jitchat.tui.render.reading import copied
from jitchat.tui.render.render import render
from tests.tui.render.looks import look, rows

SMALL = "| name | seats | note |\n|:--|--:|:-:|\n| Acme | 5 | fine |\n| Bolt | 1,200 | x |"
NAMES = [
    *("Client", "Manager", "Seats", "Price", "Start"),
    *("Renewal", "Region", "Owner", "Notes", "Link"),
]
CLIENT = (
    "Thunderbolt Industries | Maria Fernandez | 1200 | 45,000 | 2024-01-01 | 2025-01-01 "
    "| North America | Jens | renewal is expected | https://crm.example.org/accounts/thunderbolt"
)
WIDE = f"| {' | '.join(NAMES)} |\n|{'---|' * 10}\n| {CLIENT} |\n| {CLIENT} |"


def test_a_small_table_is_no_wider_than_it_needs_and_keeps_its_alignment():
    assert rows(render(SMALL, look(80))) == [
        "name │ seats │ note",
        "─────┼───────┼─────",
        "Acme │     5 │ fine",
        "Bolt │ 1,200 │  x",
    ]


def test_ten_columns_with_an_address_are_readable_at_120():
    drawn = rows(render(WIDE, look(116)))
    assert all(cell_len(row) <= 116 for row in drawn)
    first = drawn[0].split(" │ ")
    assert [name.strip() for name in first] == NAMES
    words = [cell.strip() for row in drawn for cell in row.split(" │ ")]
    for word in ("Thunderbolt", "Industries", "Fernandez", "1200", "45,000", "2024-01-01"):
        assert word in words
    assert "…" not in "".join(drawn)


def test_ten_columns_with_an_address_are_records_at_80():
    drawn = rows(render(WIDE, look(76)))
    assert drawn[:4] == [
        "Client:  Thunderbolt Industries",
        "Manager: Maria Fernandez",
        "Seats:   1200",
        "Price:   45,000",
    ]
    assert drawn[9] == "Link:    https://crm.example.org/accounts/thunderbolt"
    assert drawn[10] == "─" * 18
    assert len(drawn) == 21


def test_a_word_is_broken_only_where_there_is_no_room_for_it():
    table = f"| a | b |\n|---|---|\n| {'x' * 40} | some words here |"
    drawn = rows(render(table, look(40)))
    assert [row.split(" │ ")[1].strip() for row in drawn if " │ " in row] == [
        "b",
        "some words here",
    ]


def test_rows_of_several_lines_are_set_apart():
    table = "| a | b |\n|---|---|\n| x<br>y | 1 |\n| z | 2 |"
    assert rows(render(table, look(40))) == ["a │ b", "══╪══", "x │ 1", "y │", "──┼──", "z │ 2"]


def test_copying_a_table_gives_its_cells_with_bars_however_it_is_drawn():
    for width in (116, 76, 20):
        first, *others = copied(WIDE, render(WIDE, look(width))).split("\n")
        assert first == " | ".join(NAMES)
        assert others == [CLIENT, CLIENT]


def test_a_header_alone_is_a_table():
    assert rows(render("| a | b |\n|---|---|", look(40))) == ["a │ b"]
    assert rows(render("| a | b |\n|---|---|", look(4))) == ["a:", "b:"]
