"""Which code, text, table or file a message is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jitchat.attachments import Attachment, Part
from jitchat.values import Role, Turn
from jitchat.window.artefacts import ArtefactKind, worked_on
from jitchat.window.history import History

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from jitchat.window.artefacts import Artefact

Exchange = tuple[str, str]

CODE = """Here it is.

```python
def load(path):
    rows = []
    with open(path) as file:
        for line in file:
            rows.append(parse(line, separator=";"))
    return rows


def parse(line, separator):
    return [cell.strip() for cell in line.split(separator)]
```
"""
ASYNC = CODE.replace("def ", "async def ").replace("with", "async with")
TEST = """```python
def test_cells_are_stripped(tmp_path):
    source = tmp_path / "towns.csv"
    source.write_text("Ulm ; 3\\nBern ; 4")
    assert load(source) == [["Ulm", "3"], ["Bern", "4"]]


def test_an_empty_file_has_no_rows(tmp_path):
    source = tmp_path / "towns.csv"
    source.touch()
    assert load(source) == []
```"""
TABLE = "| City | Nights | Price |\n|---|---|---|\n" + "".join(
    f"| Town {number} | {number} | {number * 80} € |\n" for number in range(2, 20)
)
LETTER = """Dear Ms Park,

thank you for the visit on Tuesday. We were glad to see how far the orchard has come, and that the
young trees survived the frost.

We should like to come again in autumn, when the first apples are ripe. Would the second week of
October suit you? We would bring the children, and a cake.

Until then we wish you gentle rain and few wasps. Do give our love to your mother, who made us so
welcome, and to the dog, who did not.

Yours, Ada Reuter
"""
WROTE_CODE = ("a python function that reads a csv", CODE)
WROTE_TABLE = ("compare some towns for a holiday", TABLE)
WROTE_LETTER = ("a thank-you letter to Ms Park", LETTER)


TALK = [
    ("how long does cooked rice keep?", "A day."),
    ("what is the capital of Mongolia?", "Ulaanbaatar."),
    ("can you freeze hummus?", "Yes, for some months."),
    ("who invented the zip fastener?", "Whitcomb Judson, and then Gideon Sundback."),
]


def talk(count: int) -> list[Exchange]:
    return (TALK * count)[:count]


def history(exchanges: Iterable[Exchange]) -> History:
    said = [
        (role, text)
        for exchange in exchanges
        for role, text in zip((Role.USER, Role.ASSISTANT), exchange, strict=True)
    ]
    turns = tuple(Turn(place, role, text) for place, (role, text) in enumerate(said, 1))
    return History(turns, positions=tuple(turn.position for turn in turns))


def brought(
    exchanges: Sequence[Exchange], draft: str, files: Sequence[Attachment] = ()
) -> tuple[Artefact, ...]:
    return worked_on(history(exchanges), draft, files)


@pytest.mark.parametrize(
    ("draft", "turn", "kind"),
    [
        ("make it async", 2, ArtefactKind.CODE),
        ("the second column should be in pounds", 4, ArtefactKind.TABLE),
        ("make the second paragraph shorter", 6, ArtefactKind.PROSE),
    ],
)
def test_a_message_brings_the_kind_that_its_words_imply_however_long_ago(draft, turn, kind):
    first = brought([WROTE_CODE, WROTE_TABLE, WROTE_LETTER, *talk(30)], draft)[0]
    assert (first.turn, first.kind) == (turn, kind)
    assert first.reason == f"the {kind.value} that the message is about"


@pytest.mark.parametrize(("exchanges", "expected"), [(0, [2]), (3, [2]), (4, [])])
def test_the_latest_artefact_is_worked_on_until_the_talk_has_moved_on(exchanges, expected):
    unclear = "somebody in town bakes bread on sundays, nobody knows where"
    found = brought([WROTE_CODE, *talk(exchanges)], unclear)
    assert [each.turn for each in found] == expected
    assert {each.reason for each in found} <= {"the code that is being worked on"}


def test_a_self_contained_question_and_small_talk_bring_nothing():
    for draft in ("what is the capital of Mongolia?", "how do I boil an egg?", "thanks!", "hi"):
        assert brought([WROTE_CODE, WROTE_LETTER, *talk(3)], draft) == ()


def test_a_later_version_replaces_the_earlier_ones():
    exchanges = [WROTE_CODE, ("make it async", ASYNC), ("add a docstring", ASYNC + CODE), *talk(8)]
    found = brought(exchanges, "and rename the function")
    assert [(each.turn, each.replaces) for each in found] == [(6, (2, 4))]


def test_another_artefact_of_the_kind_does_not_replace_one():
    found = brought([WROTE_CODE, ("now a unit test for it", TEST)], "rename the function")
    assert [each.turn for each in found] == [4, 2]
    assert not any(each.replaces for each in found)


def test_long_messages_on_one_subject_are_no_versions_of_each_other():
    visits = [LETTER.replace("autumn", when) for when in ("autumn", "winter", "spring")]
    asked = brought([(visit, "Noted.") for visit in visits], "make it shorter")
    assert [each.replaces for each in asked] == [(), ()]


def test_an_attached_file_and_a_pasted_log_are_artefacts():
    part = Part("", "Chapter 1. The pump must be primed before it is started. " * 40)
    file = Attachment("manual.pdf", "", "application/pdf", 900, (part,), turn=1)
    log = "\n".join(f"2026-11-02 10:00:{n:02} ERROR pump {n} not primed" for n in range(30))
    exchanges = [("here is the manual", "Thank you."), (log, "It is dry."), *talk(9)]
    assert brought(exchanges, "summarise the pdf", [file])[0].kind is ArtefactKind.FILE
    assert brought(exchanges, "which of the errors came first?", [file])[0].turn == 3


@pytest.mark.parametrize(
    "draft",
    [
        "mach den zweiten Absatz kürzer", "plus court, s'il te plaît", "hazlo más corto",
        "accorcia il secondo paragrafo", "deixa o texto mais formal", "сделай покороче",
        "第二段再短一点", "もう少し短くして", "더 짧게 해 줘", "translate it", "sounds too stiff",
    ],
)  # fmt: skip
def test_follow_ups_are_known_in_ten_languages(draft):
    assert [each.turn for each in brought([WROTE_LETTER, *talk(12)], draft)] == [2]


def test_a_long_conversation_is_not_read_whole():
    class LastOnly(tuple[Turn, ...]):
        __slots__ = ()

        def __iter__(self):
            raise AssertionError

    turns = history([WROTE_LETTER, *talk(500), WROTE_CODE, *talk(30)]).turns
    found = worked_on(History(LastOnly(turns)), "make it async", ())
    assert [each.turn for each in found] == [turns[-61].position]


def test_a_brief_question_whose_answer_was_found_is_no_follow_up():
    conversation = history([WROTE_LETTER, *talk(12)])
    question = "who looks after the bees?"
    assert worked_on(conversation, question, ())
    assert not worked_on(conversation, question, (), is_found=True)
    assert worked_on(conversation, "make it shorter", (), is_found=True)
