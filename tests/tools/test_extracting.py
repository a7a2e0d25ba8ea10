"""What the extractor keeps of typical tool outputs: each line with its context."""

from __future__ import annotations

import json
from time import perf_counter

import pytest

from jitchat.text.blocks import records_of
from jitchat.tools.extracting import extract
from jitchat.window.tokens import EstimateCounter

COUNTER = EstimateCounter()


def kept(text: str, instruction: str) -> str:
    found, _ = extract(text, instruction, 4_000, COUNTER)
    assert COUNTER.count(found) <= 0.2 * COUNTER.count(text)
    return found


def traceback(number: int, closing: str) -> str:
    frames = "".join(
        f'  File "/srv/app/part{frame}.py", line {number + frame}, in run\n    step({frame})\n'
        for frame in range(9)
    )
    return f"Traceback (most recent call last):\n{frames}{closing}\n"


def test_an_exception_comes_with_the_frame_that_raised_it():
    traces = [traceback(100 * number, f"ValueError: job {number}") for number in range(60)]
    traces[40] = traceback(7_000, "ZeroDivisionError: division by zero")
    for between in ("", "\n"):
        found = kept(between.join(traces), "where the division by zero happened")
        assert "ZeroDivisionError" in found
        assert "line 7008" in found


def test_the_subject_of_a_commit_comes_with_its_hash_and_author():
    log = [
        f"commit {number:040x}\nAuthor: Ada <ada@example.org>\n\n    Tidy part {number}\n\n"
        for number in range(200)
    ]
    log[120] = f"commit {'f' * 40}\nAuthor: Yorick <y@example.org>\n\n    Drop Python 3.9\n\n"
    found = kept("".join(log), "the hash of the commit that dropped Python 3.9, and its author")
    assert "f" * 40 in found
    assert "Yorick" in found


def test_what_was_said_comes_with_who_said_it_in_the_line_above():
    lines = [f"00:{number:02}\nAda\nI think so, too.\n\n" for number in range(300)]
    lines[200] = "03:20\nWanda\nI will write the migration guide.\n\n"
    assert "Wanda" in kept("".join(lines), "who writes the migration guide")


def test_a_value_of_yaml_comes_with_the_names_above_it():
    lines = ["services:\n"]
    for number in range(80):
        lines.append(f"  worker-{number}:\n    restart: always\n    environment:\n")
        lines += [f"      KEY_{key}: 'value {number}'\n" for key in range(20)]
        lines.append(f"    limits:\n      memory: {number}g\n")
    found = kept("".join(lines), "memory limit of worker-57")
    assert "  worker-57:\n" in found
    assert "memory: 57g" in found
    assert found.index("  worker-57:\n") < found.index("memory: 57g")


def test_a_part_of_a_record_is_found_by_the_records_name():
    items = [
        {"meta": {"name": f"job-{number}"}, "spec": {"memory": number, "notes": ["x " * 99] * 9}}
        for number in range(90)
    ]
    items[70]["meta"]["name"] = "ledger"
    found = kept(json.dumps({"items": items}), "memory of the ledger")
    assert "items[70 ledger].spec.memory: 70\n" in found


@pytest.mark.parametrize("between", ["", " "])
def test_a_long_line_is_parted_where_sentences_and_blocks_end(between):
    rows = [f"<tr><td>Town {number}</td><td>{number * 7}</td></tr>" for number in range(600)]
    rows[300] = "<tr><td>Quxville</td><td>471100 inhabitants</td></tr>"
    found = kept(between.join(rows), "inhabitants of Quxville")
    assert "471100" in found
    assert COUNTER.count(found) < 200
    text = " ".join(["The boats came in late that day."] * 500)
    assert "in 1847" in kept(f"{text} Grandfather was born in 1847. {text}", "grandfather, born")


def test_where_nothing_is_found_there_are_troubles_head_and_tail_and_it_says_so():
    boats = [f"{number} of the boats came in late\n" for number in range(900)]
    boats[501] = "501 of the cranes failed\n"
    text = "".join(boats)
    for instruction in ("the price of zebras", "what matters most", "summarise", ""):
        found, how = extract(text, instruction, 4_000, COUNTER)
        assert how.endswith("found no match: errors, head and tail")
        assert "501 of the cranes failed" in found
        assert found.startswith("0 of the boats came in late\n")
        assert found.endswith("899 of the boats came in late\n")
        assert COUNTER.count(found) <= 0.2 * COUNTER.count(text)


@pytest.mark.parametrize(
    "text",
    [
        ".x" + "." * 300_000,
        "\n" * 100_000,
        "};" * 150_000,
        "".join(f"{' ' * indent}x\n" for indent in range(700)),
        "".join(f"{' ' * indent}x\n" for indent in range(700, 0, -1)),
        "Traceback (most recent call last):\n" * 9_000,
    ],
    ids=["stops", "line feeds", "brackets", "deeper", "shallower", "headers"],
)
def test_odd_shapes_are_parted_whole_and_soon(text):
    begun = perf_counter()
    blocks = records_of(text)
    assert perf_counter() - begun < 5
    assert "".join(text[block.start : block.end] for block in blocks) == text
    assert all(place < number for number, each in enumerate(blocks) for place in each.brings)
