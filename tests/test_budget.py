"""The budget of the code: what is counted, what exceeds a line, and what a raised line needs."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import ROOT
from tools import budget

if TYPE_CHECKING:
    from pathlib import Path

MODULE = '''"""What the module is."""

from math import pi  # a comment beside code

LIMIT = 3
"""Turns."""
LOW, HIGH = 1, -2.5
WORDS = ("a", "b")
MODES = LIMIT


def area(radius: float) -> float:
    """Return the area."""

    text = """two
    lines"""
    # a comment
    return pi * radius**2 if text else 0
'''


def counts(lines: int, **constructs: int) -> dict[str, dict[str, int]]:
    return {
        "code_lines": {"total": lines, "store": lines},
        "packing": {"of_code_lines": lines, "ternaries": 0, **constructs},
    }


def lines_of(total: int = 1000, **packing: Any) -> dict[str, dict[str, Any]]:
    return {
        "code_lines": {"total": total, "store": 1000},
        "packing": {"of_code_lines": 1000, "ternaries": 40, **packing},
    }


def test_blank_lines_comments_and_docstrings_are_no_code() -> None:
    assert budget.code_lines(MODULE) == 9


def test_a_numeric_constant_is_a_name_with_a_number_of_its_own() -> None:
    assert budget.numeric_constants(ast.parse(MODULE)) == 3


@pytest.mark.parametrize(
    ("source", "construct"),
    [
        ("a, b = 1, 2", "parallel_assignments"),
        ("a = 1 if b else 2", "ternaries"),
        ("print(a := 1)", "walruses"),
        ("list(map(str, a))", "map_and_filter"),
        ("list(filter(None, a))", "map_and_filter"),
        ("for each in a: pass", "locals_named_each"),
        ("[each for each in a]", "locals_named_each"),
        ("for place, each in a: pass", "locals_named_each"),
        ("each = 1", "locals_named_each"),
    ],
)
def test_what_saves_lines_by_packing_is_counted(source: str, construct: str) -> None:
    assert +budget.packing(ast.parse(source)) == {construct: 1}


@pytest.mark.parametrize("source", ["a, b = c", "a, b = b, a", "a = b, c", "a.map(b)"])
def test_unpacking_and_swapping_are_no_packing(source: str) -> None:
    assert not +budget.packing(ast.parse(source))


def test_the_total_is_strict_and_a_folder_may_grow_by_one_in_a_hundred() -> None:
    grown = counts(1010, ternaries=40)
    assert [line.split(" is ")[0] for line in budget.failures(grown, lines_of())] == [
        "code_lines.total"
    ]
    grown = counts(1011, ternaries=40)
    assert len(list(budget.failures(grown, lines_of()))) == 2


def test_a_construct_may_grow_with_the_code_but_not_in_number_and_share() -> None:
    budget_lines = lines_of(total=2000)
    budget_lines["code_lines"]["store"] = 2000
    assert not list(budget.failures(counts(2000, ternaries=80), budget_lines))
    assert list(budget.failures(counts(2000, ternaries=81), budget_lines))
    fewer = lines_of(total=500)
    fewer["code_lines"]["store"] = 500
    assert not list(budget.failures(counts(500, ternaries=40), fewer))


def test_a_line_far_above_its_count_has_to_be_lowered() -> None:
    budget_lines = lines_of()
    assert list(budget.failures(counts(900, ternaries=40), budget_lines))
    budget.lower(counts(900, ternaries=36), budget_lines)
    assert budget_lines == {
        "code_lines": {"total": 900, "store": 900},
        "packing": {"of_code_lines": 900, "ternaries": 36},
    }
    assert not list(budget.failures(counts(900, ternaries=36), budget_lines))


def test_a_raised_line_needs_a_reason_until_it_is_back() -> None:
    raised = lines_of()
    raised["code_lines"]["total"] = {"before": 1000, "now": 1005, "reason": " "}
    grown = counts(1005, ternaries=40)
    assert list(budget.failures(grown, raised)) == [
        "code_lines.total was raised from 1000 without a reason."
    ]
    raised["code_lines"]["total"]["reason"] = "a command for backups"
    assert not list(budget.failures(grown, raised))
    budget.lower(counts(1003, ternaries=40), raised)
    assert raised["code_lines"]["total"]["now"] == 1003
    budget.lower(counts(1000, ternaries=40), raised)
    assert raised["code_lines"]["total"] == 1000


def test_a_new_folder_has_no_line_yet(tmp_path: Path) -> None:
    package = tmp_path / "jitchat"
    (package / "new").mkdir(parents=True)
    (package / "__init__.py").write_text("X = 1\n")
    (package / "loose.py").write_text("'''Nothing but a docstring.'''\n")
    (package / "new" / "module.py").write_text("a = 1\n" * 3)
    measured = budget.measured(package)
    assert measured["code_lines"] == {"total": 4, ".": 1, "new": 3}
    assert measured["counts"] == {"files": 3, "root_modules": 1, "numeric_constants": 4}
    sentences = list(budget.failures(measured, {"code_lines": {"total": 4, ".": 1}}))
    assert sentences == [
        "code_lines.new is 3, above its line of 0. "
        "Remove some, or raise the line in budget.toml with a reason."
    ]


def test_every_folder_of_the_app_has_a_line() -> None:
    text = (ROOT / "budget.toml").read_text(encoding="utf-8")
    folders = {path.parent.name for path in (ROOT / "jitchat").glob("*/__init__.py")}
    assert "store" in folders
    for folder in folders:
        assert f"{folder} = " in text or f'"{folder}" = ' in text
