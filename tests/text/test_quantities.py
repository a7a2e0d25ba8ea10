"""Quantities, written one way or another."""

from __future__ import annotations

import pytest

from jitchat.text.words import fold, spell_out, stems

SAME = (
    ("84 m²", "84 square meters"),
    ("84sqm", "84 square metres"),
    ("12km", "12 kilometres"),
    ("12 km", "12 kilometers"),
    ("€ 1,200", "1200 euros"),
    ("1.200 €", "EUR 1200"),
    ("1 200 €", "1,200 euros"),
    ("$7,500", "7500 dollars"),
    ("3.5GB", "3,5 GB"),
    ("20 %", "20 percent"),
    ("30 km/h", "30 kilometers per hour"),
    ("180 °C", "180 degrees celsius"),
    ("2pm", "14:00"),
    ("5:45 p.m.", "17:45"),
    ("12 am", "0:00"),
    ("9am", "09:00"),
    ("14 Uhr", "14:00"),
    ("14h30", "14:30"),
    ("48,000", "48000"),
)


@pytest.mark.parametrize(("one", "other"), SAME)
def test_a_quantity_has_the_same_stems_however_it_is_written(one: str, other: str):
    assert stems(one) == stems(other)


@pytest.mark.parametrize(
    "text",
    ["version 1.200", "3.11.4", "10.0.0.1", "2026-03-09t10:52:11z", "v2 m", "7f3a91c2", "a.rs:88"],
)
def test_what_is_no_quantity_stays_as_it_is(text: str):
    assert spell_out(fold(text)) == text


def test_a_name_that_looks_like_a_quantity_is_kept_beside_it():
    assert "5g" in stems("a 5G network")
