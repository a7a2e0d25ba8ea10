"""Compare the size and the style of the code with `budget.toml`: `python -m tools.budget`.

A line of the budget is a number or, once it has been raised, a table with the number, the one
before and the reason. A count above its line fails, and so does a line that is far above its count:
`python -m tools.budget --lower` lowers it. Raising a line is done by hand, with its reason.
"""

import ast
import io
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import Any

import click
import tomlkit

ROOT = Path(__file__).parents[1]
BUDGET = ROOT / "budget.toml"
PACKAGE = "jitchat"
TOTAL = "total"
OF_LINES = "of_code_lines"
"""Name of the code lines that the counts of packing were taken from."""

FREE_GROWTH = 0.01
"""Share by which a folder may exceed its line."""
SLACK = 0.01
"""Share by which a line may exceed its count before it has to be lowered."""
_PER = 10_000
"""Code lines that the share of a construct refers to."""

_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}
_LOOPS = (ast.For, ast.AsyncFor, ast.comprehension)


def code_lines(source: str) -> int:
    """Return the number of lines that have code: no blanks, comments or docstrings."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - set(_docstring_lines(ast.parse(source))))


def _docstring_lines(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if not isinstance(body, list):
            continue
        for statement in body:
            if isinstance(statement, ast.Expr) and _is_string(statement.value):
                yield from range(statement.lineno, (statement.end_lineno or 0) + 1)


def _is_string(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def packing(tree: ast.Module) -> Counter[str]:
    """Count the constructs that save lines at the reader's expense."""
    counts: Counter[str] = Counter()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and _is_parallel(node):
            counts["parallel_assignments"] += 1
        elif isinstance(node, ast.IfExp):
            counts["ternaries"] += 1
        elif isinstance(node, ast.NamedExpr):
            counts["walruses"] += 1
        elif isinstance(node, ast.Call) and _name(node.func) in ("map", "filter"):
            counts["map_and_filter"] += 1
        counts["locals_named_each"] += sum(name == "each" for name in _bound_names(node))
    return counts


def _is_parallel(node: ast.Assign) -> bool:
    """Whether the statement assigns several expressions at once and does not swap names."""
    target = node.targets[0]
    if not (isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)):
        return False
    targets = {ast.unparse(element) for element in target.elts}
    return targets != {ast.unparse(element) for element in node.value.elts}


def _bound_names(node: ast.AST) -> Iterator[str]:
    """Yield the names that a loop or an assignment binds."""
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, (*_LOOPS, ast.NamedExpr, ast.AnnAssign)):
        targets = [node.target]
    elif isinstance(node, ast.withitem) and node.optional_vars:
        targets = [node.optional_vars]
    for target in targets:
        for part in ast.walk(target):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                yield part.id


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def numeric_constants(tree: ast.Module) -> int:
    """Return how many names of the module are assigned numbers written in the code."""
    count = 0
    for statement in tree.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value:
            value = statement.value
            values = value.elts if isinstance(value, ast.Tuple) else [value]
            count += sum(_is_number(element) for element in values)
    return count


def _is_number(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        return _is_number(node.operand)
    if isinstance(node, ast.BinOp):
        return _is_number(node.left) and _is_number(node.right)
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def surface() -> dict[str, int]:
    """Return how many settings, commands and keys a user meets."""
    from jitchat.tui.actions import COMMANDS, keys_by_id  # noqa: PLC0415  counting needs no app
    from tools import docs  # noqa: PLC0415

    keys = [key for keys in keys_by_id().values() for key in keys.split(",") if key]
    header = 2
    return {
        "settings": len(list(docs.settings())) - header,
        "shell_commands": len(list(docs.command_lines())) - header,
        "slash_commands": len(COMMANDS),
        "keys": len(set(keys)),
    }


def measured(package: Path) -> dict[str, dict[str, int]]:
    """Return every count of the budget by its section."""
    lines: Counter[str] = Counter()
    constructs: Counter[str] = Counter()
    constants = 0
    paths = sorted(package.rglob("*.py"))
    for path in paths:
        source = path.read_text(encoding="utf-8")
        tree = ast.parse(source)
        lines[path.parent.relative_to(package).as_posix()] += code_lines(source)
        constructs += packing(tree)
        constants += numeric_constants(tree)
    dunder = [path for path in package.glob("*.py") if path.stem.startswith("__")]
    counts = {
        "files": len(paths),
        "root_modules": len(list(package.glob("*.py"))) - len(dunder),
        "numeric_constants": constants,
    }
    total = sum(lines.values())
    return {
        "code_lines": {TOTAL: total, **lines},
        "counts": counts,
        "packing": {OF_LINES: total, **constructs},
    }


def failures(
    counts: Mapping[str, Mapping[str, int]], budget: Mapping[str, Mapping[str, Any]]
) -> Iterator[str]:
    """Yield a sentence for each count that does not agree with its line."""
    for section, lines in budget.items():
        yield from _missing_reasons(section, lines)
        for name in sorted({*lines, *counts[section]} - {OF_LINES}):
            count = counts[section].get(name, 0)
            limit = _limit(lines.get(name, 0))
            if count > _allowed(section, name, limit, counts, budget):
                yield (
                    f"{section}.{name} is {count}, above its line of {limit}. "
                    "Remove some, or raise the line in budget.toml with a reason."
                )
            elif limit - count > max(1, limit * SLACK):
                yield (
                    f"{section}.{name} is {count}, far below its line of {limit}. "
                    "Lower the line: python -m tools.budget --lower"
                )


def _allowed(
    section: str,
    name: str,
    limit: int,
    counts: Mapping[str, Mapping[str, int]],
    budget: Mapping[str, Mapping[str, Any]],
) -> int:
    """Return the highest count that passes."""
    if section == "code_lines" and name != TOTAL:
        return limit + max(1, round(limit * FREE_GROWTH))
    if section == "packing":
        share = limit / budget[section][OF_LINES]
        return max(limit, int(share * counts[section][OF_LINES]))
    return limit


def _missing_reasons(section: str, lines: Mapping[str, Any]) -> Iterator[str]:
    for name, line in lines.items():
        if isinstance(line, Mapping) and not str(line.get("reason", "")).strip():
            yield f"{section}.{name} was raised from {line['before']} without a reason."


def _limit(line: int | Mapping[str, Any]) -> int:
    return int(line["now"]) if isinstance(line, Mapping) else line


def lower(
    counts: Mapping[str, Mapping[str, int]], budget: MutableMapping[str, MutableMapping[str, Any]]
) -> None:
    """Set each line above its count to the count; a folder that is gone loses its line.

    A line that is back at its former value needs no reason any more.
    """
    for section, lines in budget.items():
        for name, line in list(lines.items()):
            count = counts[section].get(name, 0)
            if count == 0 and section == "code_lines":
                del lines[name]
            elif count < _limit(line):
                if isinstance(line, MutableMapping) and count > line["before"]:
                    line["now"] = count
                else:
                    lines[name] = count


@click.command()
@click.option("--lower", "lowers", is_flag=True, help="Lower the lines that are above their count.")
def main(lowers: bool) -> None:
    """Compare the code with budget.toml; exit with 1 where it exceeds a line."""
    budget = tomlkit.parse(BUDGET.read_text(encoding="utf-8"))
    counts = measured(ROOT / PACKAGE)
    counts["counts"].update(surface())
    if lowers:
        lower(counts, budget)
        BUDGET.write_text(tomlkit.dumps(budget), encoding="utf-8")
    sentences = list(failures(counts, budget))
    for sentence in sentences:
        click.echo(sentence, err=True)
    if sentences:
        sys.exit(1)
    total = counts["code_lines"][TOTAL]
    shares = ", ".join(
        f"{name.replace('_', ' ')} {count * _PER / total:.0f}"
        for name, count in counts["packing"].items()
        if name != OF_LINES
    )
    click.echo(f"{total:,} code lines; per {_PER:,}: {shares}")


if __name__ == "__main__":
    main()
