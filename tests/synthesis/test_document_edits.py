"""What the user does with a memory document, and how versions are compared."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from jitchat.errors import UnknownVersion, UsageError
from jitchat.statements import BARE, DocumentLine, MemoryDocument, Section, Source
from jitchat.synthesis import document_edits as edits
from jitchat.window.statements import document_text

TODAY = date(2026, 3, 2)
PORT = DocumentLine(Section.FACTS, "The port is 9641.", Source(3, 3, "chat-1"), TODAY)
BEES = DocumentLine(Section.FACTS, "I keep bees (two hives).", Source(5, 6, "chat-1"), TODAY)
LOGO = DocumentLine(Section.NOTES, "The logo stays green.", Source(4, 4, "chat-1"), TODAY)
DOCUMENT = MemoryDocument((PORT, BEES, LOGO), 7)


def test_text_that_comes_back_unchanged_is_the_same_document():
    assert edits.from_text(document_text(DOCUMENT), DOCUMENT, TODAY) == DOCUMENT


def test_a_line_that_was_changed_as_text_is_the_users_and_the_others_keep_their_sources():
    text = document_text(DOCUMENT).replace("9641", "9642") + "- A new note.\nand some prose\n"
    found = edits.from_text(text, DOCUMENT, TODAY)
    assert found.lines[0] == BEES or BEES in found.lines
    assert LOGO in found.lines
    own = [line for line in found.lines if line.is_edited]
    assert [line.text for line in own] == [
        "The port is 9642. (2026-03-02) (chat-1 #3)",
        "A new note.",
    ]


def test_lines_are_pinned_edited_and_forgotten_by_their_numbers():
    assert edits.pinned(DOCUMENT, 1).lines[0].is_pinned
    assert edits.pinned(edits.pinned(DOCUMENT, 1), 1) == DOCUMENT
    assert edits.forgotten(DOCUMENT, 2).lines == (PORT, LOGO)
    changed = edits.edited(DOCUMENT, 2, "I keep\nno bees.").lines[1]
    assert (changed.text, changed.is_edited, changed.source) == (
        "I keep no bees.",
        True,
        BEES.source,
    )
    assert edits.edited(DOCUMENT, 3, " ").lines == (PORT, BEES)
    assert edits.edited(DOCUMENT, 1, PORT.text) is DOCUMENT
    for number in (0, 4):
        with pytest.raises(UnknownVersion):
            edits.forgotten(DOCUMENT, number)


def test_what_is_forgotten_goes_from_the_timeline_too_and_its_date_stays():
    dated = DocumentLine(Section.TIMELINE, PORT.text, Source(1, 9, "chat-1"), TODAY)
    document = MemoryDocument((PORT, dated))
    for number in (1, 2):
        left = edits.forgotten(document, number).lines
        assert left[-1] == replace(dated, text=BARE)
        assert (PORT in left) is (number == 2)
    assert edits.edited(document, 1, "The port is 9642.").lines[-1].text == BARE


def test_what_the_user_keeps_may_not_fill_the_document():
    long = DocumentLine(Section.FACTS, "word " * 2_600, None)
    with pytest.raises(UsageError):
        edits.pinned(MemoryDocument((long,)), 1)


def test_a_difference_is_what_went_and_what_came():
    new = replace(DOCUMENT, lines=(replace(PORT, text="The port is 9642."), BEES, LOGO, LOGO))
    changes = [(each.is_added, each.line.text) for each in edits.difference(DOCUMENT, new)]
    assert changes == [
        (False, "The port is 9641."),
        (True, "The port is 9642."),
        (True, "The logo stays green."),
    ]
    assert edits.difference(DOCUMENT, DOCUMENT) == []


def test_the_lines_that_a_reply_may_have_used_are_those_whose_words_it_has():
    assert edits.used_lines(DOCUMENT, "It listens on port 9641, as the logo does not.") == [1]
    assert edits.used_lines(DOCUMENT, "The logo stays green, and the port is 9641.") == [1, 3]
    assert edits.used_lines(DOCUMENT, "") == []
