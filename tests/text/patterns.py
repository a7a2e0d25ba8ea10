"""Collects every regular expression of jitchat, from the values and the code of its modules."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import tomllib
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import jitchat
from jitchat.providers.catalogue import models
from jitchat.providers.protocols import refusals
from jitchat.text.expressions import expressions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import ModuleType

METHODS = ("search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer")
_ONE_START = ("match", "fullmatch")


@dataclass
class Found:
    """One expression, and how it is used."""

    pattern: re.Pattern[str]
    name: str
    methods: set[str] = field(default_factory=set)

    def look(self, text: str) -> None:
        """Use it as it is used: from one place, or from each."""
        given = text if isinstance(self.pattern.pattern, str) else text.encode("utf-8", "replace")
        methods = self.methods or {"search"}
        for method in methods.intersection(_ONE_START):
            getattr(self.pattern, method)(given)
        if methods.difference(_ONE_START):
            for _ in self.pattern.finditer(given):
                pass


@dataclass(frozen=True)
class Made:
    """A place in a function where an expression is built from variables."""

    module: str
    function: str


@cache
def modules() -> tuple[ModuleType, ...]:
    names = (each.name for each in pkgutil.walk_packages(jitchat.__path__, "jitchat."))
    return tuple(importlib.import_module(name) for name in names if name != "jitchat.__main__")


@cache
def found() -> dict[str, Found]:
    """By the module and the name or line, each expression once."""
    uses = _uses()
    all_found: dict[tuple[object, int], Found] = {}
    for module in modules():
        for name, value in vars(module).items():
            for pattern in _patterns_in(value, 3):
                key = (pattern.pattern, pattern.flags)
                here = all_found.setdefault(key, Found(pattern, f"{module.__name__}:{name}"))
                here.methods |= uses[module.__name__ if name.startswith("_") else "", name]
        for line, pattern, method in _inline(module):
            key = (pattern.pattern, pattern.flags)
            here = all_found.setdefault(key, Found(pattern, f"{module.__name__}:{line}"))
            here.methods.add(method)
    for name, pattern, methods in _of_text(uses):
        all_found[pattern.pattern, pattern.flags] = Found(pattern, name, methods)
    for name, pattern in _of_providers():
        all_found.setdefault((pattern.pattern, pattern.flags), Found(pattern, name))
    return {each.name: each for each in _named(iter(all_found.values()))}


def _of_text(
    uses: Mapping[tuple[str, str], set[str]],
) -> Iterator[tuple[str, re.Pattern[str], set[str]]]:
    """The expressions in the data of `jitchat.text`, with the methods that use each."""
    for file in (files("jitchat.text") / "data").iterdir():
        if file.name.endswith(".toml"):
            name = file.name.removesuffix(".toml")
            data = tomllib.loads(file.read_text("utf-8"))
            has_expressions = "expressions" in data and "unicode" not in data  # of `re`
            for key, pattern in (expressions(name) if has_expressions else {}).items():
                yield f"{name}:{key}", pattern, set(uses["", key])


def _of_providers() -> Iterator[tuple[str, re.Pattern[str]]]:
    """The expressions in the providers' data: wordings of refusals, and names of models."""
    for name, wordings in refusals.wordings().items():
        if isinstance(wordings, list) and all(isinstance(each, str) for each in wordings):
            for text in refusals._patterns(name):
                yield f"refusals:{name}", re.compile(text, re.IGNORECASE)
    yield "fields:other_work", models._fields()["other_work"]


def _named(all_found: Iterator[Found]) -> Iterator[Found]:
    """Number the expressions that have the same name."""
    seen: defaultdict[str, int] = defaultdict(int)
    for each in all_found:
        seen[each.name] += 1
        if seen[each.name] > 1:
            each.name += f"#{seen[each.name]}"
        yield each


def made_in_functions() -> set[Made]:
    """Where an expression is put together from variables inside a function."""
    return {
        Made(module.__name__, name)
        for module in modules()
        for name, call in _calls_in_functions(module)
        if _constant(call) is None
    }


def _patterns_in(value: object, depth: int) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth and isinstance(value, dict):
        yield from _patterns_in((*value.keys(), *value.values()), depth)
    elif depth and isinstance(value, tuple | list | set | frozenset):
        for each in value:
            if not isinstance(each, str):  # most are: word lists
                yield from _patterns_in(each, depth - 1)


def _uses() -> defaultdict[tuple[str, str], set[str]]:
    """By module and variable, the methods that are called on it; by "", those of any module."""
    uses: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for module in modules():
        for node in _nodes(module):
            if isinstance(node, ast.Attribute):
                for name in ast.walk(node.value):
                    if isinstance(name, ast.Name):
                        uses[module.__name__, name.id].add(node.attr)
                        uses["", name.id].add(node.attr)
                    elif isinstance(name, ast.Constant) and isinstance(name.value, str):
                        uses["", name.value].add(node.attr)
    return uses


def _inline(module: ModuleType) -> Iterator[tuple[int, re.Pattern[str], str]]:
    for _, call in _calls_in_functions(module):
        pattern = _constant(call)
        if pattern is not None and isinstance(call.func, ast.Attribute):
            method = call.func.attr
            yield call.lineno, pattern, "search" if method == "compile" else method


def _calls_in_functions(module: ModuleType) -> Iterator[tuple[str, ast.Call]]:
    """Calls of `re` inside functions, each with every function that it is in."""
    for function in _nodes(module):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                if (
                    isinstance(node, ast.Call)
                    and isinstance(node.func, ast.Attribute)
                    and isinstance(node.func.value, ast.Name)
                    and node.func.value.id == "re"
                    and node.func.attr in (*METHODS, "compile")
                ):
                    yield function.name, node


def _constant(call: ast.Call) -> re.Pattern[str] | None:
    """The literal expression with its flags; None if it is built from variables."""
    if not isinstance(call.args[0], ast.Constant):
        return None
    flags = next((each.value for each in call.keywords if each.arg == "flags"), None)
    known = {f"re.{name}": getattr(re, name) for name in ("I", "M", "S", "ASCII", "IGNORECASE")}
    return re.compile(call.args[0].value, known[ast.unparse(flags)] if flags else 0)


@cache
def _nodes(module: ModuleType) -> tuple[ast.AST, ...]:
    """The methods that the module names and, if it calls any function of `re`, its functions."""
    assert module.__file__ is not None
    code = Path(module.__file__).read_text(encoding="utf-8")
    if not any(f".{name}" in code for name in (*METHODS, "compile")):
        return ()
    calls_re = any(f"re.{name}" in code for name in (*METHODS, "compile"))
    return tuple(
        each
        for each in ast.walk(ast.parse(code))
        if (isinstance(each, ast.Attribute) and each.attr in METHODS)
        or (calls_re and isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef))
    )
