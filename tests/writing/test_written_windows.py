"""Whatever is in a conversation, the meter is what is sent: generated windows against their bodies.

`--long` tries 5,000 windows with each of three seeds.
"""

from __future__ import annotations

import asyncio
import json
import shutil
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from hypothesis import HealthCheck, example, given, seed, settings
from hypothesis import strategies as st

from jitchat.errors import WindowOverflow
from jitchat.providers.http.provider import HttpProvider
from jitchat.providers.protocols.protocol import protocol_named
from jitchat.providers.provider import UNREASONED, Endpoint, Options
from jitchat.session import Session
from jitchat.session_options import SessionOptions
from jitchat.store.database import Database
from jitchat.store.store import ColdStore
from jitchat.tools.appending import Appending
from jitchat.tools.offering import Asking, OfferRules
from jitchat.tools.request_context import RequestContext
from jitchat.tools.source import ToolOutput
from jitchat.tools.toolbox import Toolbox
from jitchat.values import (
    REQUEST_CONTEXT,
    Mode,
    Reach,
    Role,
    Status,
    Tool,
    ToolCall,
    ToolResult,
    ToolUse,
    Turn,
)
from jitchat.window.budget import Budget
from jitchat.window.plan import rewritten
from jitchat.window.steering import Hold
from jitchat.window.tokens import EstimateCounter
from jitchat.window.tool_prices import style_of
from jitchat.window.written import TurnPricing
from jitchat.writing.pieces import Piece
from tests.tools.support import ScriptedTools
from tests.window.counters import Characters, Words
from tests.writing.checks import Case, Violation, as_full, stored_violations, violations
from tests.writing.readers import differences
from tests.writing.worlds import (
    MODELS,
    PLOTS,
    PROTOCOLS,
    SERVER,
    SIZES,
    Marks,
    Plot,
    Unit,
    World,
    echo_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from jitchat.values import Message
    from jitchat.window.tokens import TokenCounter
    from jitchat.window.window import ContextWindow

LIMITS = (2_000, 3_000, 6_000, 12_000, 32_768, 128_000, 1_000_000)
REFUSED = ("tools", "system", "echo", "reasoning_content", "reasoning_details", UNREASONED)
DRAFTS = (
    "What number has the gateway, and who painted the crane?",
    "Tell me more about #2 and #3, please.",
    "ok",
    "Which licence did we choose for the relay of the harbour?",
)
COUNTERS: tuple[type[TokenCounter], ...] = (EstimateCounter, Characters, Words)


@dataclass(frozen=True, slots=True)
class Shot:
    """How a window is planned, and what happens to it on the way."""

    draft: str = DRAFTS[0]
    limit: int = 32_768
    tools: str = "off"
    """`off`, `own` for `request_context` alone, or `mcp`."""
    known: frozenset[str] = frozenset()
    """Refused before the window was planned."""
    steps: int = 0
    """How often the model calls tools."""
    refused: frozenset[str] = frozenset()
    """Refused by then."""
    variant: int = 0
    counter: int = 0
    reach: Reach = Reach.ALL


SHOTS = st.builds(
    Shot,
    st.sampled_from(DRAFTS),
    st.sampled_from(LIMITS),
    st.sampled_from(("off", "own", "mcp")),
    st.one_of(st.just(frozenset()), st.frozensets(st.sampled_from(REFUSED), max_size=2)),
    st.sampled_from((0, 0, 1, 2)),
    st.one_of(st.just(frozenset()), st.frozensets(st.sampled_from(REFUSED), max_size=2)),
    st.integers(0, 63),
    st.sampled_from(range(len(COUNTERS))),
    st.sampled_from(Reach),
)


class McpTools(ScriptedTools):
    """Tools whose definitions have texts of their own."""

    def tools(self) -> tuple[Tool, ...]:
        schema = {"type": "object", "properties": {"q": {"type": "string", "title": "Wort “é”"}}}
        search = Tool("search", "Searches, even for “<&>”.", json.dumps(schema))
        return (search, Tool("Write", "", '{"type": "object"}'))


class Stage:
    """A session on a world, for one protocol."""

    def __init__(self, world: World, protocol_name: str, shot: Shot) -> None:
        self.world, self.protocol, self.shot = world, protocol_name, shot
        self.counter: TokenCounter = COUNTERS[shot.counter]()
        self.counter.style = style_of(protocol_name)  # type: ignore[misc]
        model = MODELS.get(protocol_name, "m")
        self._endpoint = Endpoint(SERVER, "http://models.test/v1", model, "sk-1")
        self._encoder = protocol_named(protocol_name)
        transport = httpx.MockTransport(lambda _: httpx.Response(500))
        sources = (McpTools(),) if shot.tools == "mcp" else ()
        options = SessionOptions(
            Budget().limited(shot.limit, ""),
            request=Options(without=shot.known),
            toolbox=Toolbox(sources),
            offers=OfferRules(
                Asking.ON if shot.tools in ("own", "mcp") else Asking.OFF, offers_all=True
            ),
            reach=shot.reach,
            takes_tools=None if "tools" not in shot.known else False,
        )
        provider = HttpProvider(self._endpoint, self._encoder, transport)
        self.session = Session(world.memory, provider, self.counter, options)
        before = self.session.planning.history_before
        self._request_context = RequestContext(world.memory, before, self.counter)

    def cases(self, mode: Mode) -> Iterator[Case]:
        """Plan a window, extend it by what tools return, and write it again after refusals."""
        try:
            window = self.session.preview(self.shot.draft, mode)
        except WindowOverflow:
            return
        self._planned = window
        yield self._case(window, self.shot.known)
        try:
            for step in range(self.shot.steps if window.tools else 0):
                window = self._extended(window, step)
        except WindowOverflow:
            return
        if window.step:
            yield self._case(window, self.shot.known)
        if self.shot.refused - self.shot.known:
            without = self.shot.known | self.shot.refused
            rules = self._encoder.rules(self._endpoint, Options(without=without))
            again = rewritten(window, self.counter, rules, self.session.calibration)
            if again is not None:
                yield self._case(again, without)

    def _case(self, window: ContextWindow, refused: frozenset[str]) -> Case:
        def encode(sent: ContextWindow) -> bytes:
            options = replace(self.session.request_options(sent), without=refused)
            return self._encoder.request(self._endpoint, sent.messages(), options).content

        excluded = self.session.keeps_out()
        known = self.world, self.protocol, window, encode, self.counter, self.shot.draft
        return Case(*known, self._planned, refused, excluded)

    def _extended(self, window: ContextWindow, step: int) -> ContextWindow:
        """Append an answer with calls, and results: short, long, failed, blank."""
        position, variant = 1_000 + 10 * step, self.shot.variant
        size = SIZES[variant & 3]
        marks = Marks(sign="¶")  # these parts are in no list of the conversation
        calls = tuple(
            ToolCall(f"call0000{number}", "search", json.dumps({"q": f"{marks.text(size, '')}\n"}))
            for number in range(1 + variant % 3)
        )
        if variant & 16:
            asked = {"turn": f"#{1 + variant // 3}"} if variant & 2 else {"query": "crane relay"}
            own = ToolCall("call00009", REQUEST_CONTEXT, json.dumps(asked))
            calls = (own, *calls[: variant & 1])
        text = "I look." if variant & 4 else ""
        echo = None
        if variant & 8:
            echo = echo_of(self.protocol, (text, calls), marks, position, variant)
        called = Turn(position, Role.ASSISTANT, text, None, use=ToolUse(calls, echo))
        called = replace(called, status=Status.CUT if variant & 16 else Status.COMPLETE)
        price = TurnPricing(self.counter, window.rules)
        appending = Appending(window, called, price, self.session.calibration)
        for number, call in enumerate(calls):
            if call.name == REQUEST_CONTEXT:
                asked = json.loads(call.arguments)
                output = asyncio.run(self._request_context.run(call, asked, appending.step))
                appending.take(self._result(position + number + 1, output.result), output)
                continue
            told = ("", "21 °C\n", marks.text(SIZES[3], ""))[(variant + number) % 3]
            result = ToolResult(call, told, is_error=bool(variant & 32))
            appending.take(self._result(position + number + 1, result), ToolOutput(result))
        return appending.window(200)

    def _result(self, position: int, result: ToolResult) -> Turn:
        use = ToolUse(answers=result.call, is_error=result.is_error)
        return Turn(position, Role.TOOL, result.content, None, use=use)


def found_in(store: ColdStore, plot: Plot, shot: Shot) -> Iterator[tuple[Case, list[Violation]]]:
    """Check the windows of a conversation, of every protocol and mode."""
    world = World(store, plot)
    for protocol_name in PROTOCOLS:
        stage = Stage(world, protocol_name, shot)
        full: Case | None = None
        for mode in Mode:
            for case in stage.cases(mode):
                if mode is Mode.FULL:
                    full = full or case
                of_full = as_full(case, full) if full is not None else ()
                yield case, [*violations(case), *stored_violations(case), *of_full]


TALK = Unit("talk", 60, 0)
PINNED_CALLS = Plot(
    (Unit("calls", 8, 91), Unit("calls", 8, 91), Unit("calls", 2_000, 112)),
    ((9, Hold.PINNED), (4, Hold.PINNED)),
)
SMALL = Shot(limit=2_000, tools="own", counter=2)
PENDING: dict[str, tuple[str, Plot, Shot, Mode]] = {}
"""Checks that fail in parts of the program which are being changed: what they wait for, and an
example."""
KNOWN = frozenset(PENDING)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("worlds")


@contextmanager
def stored_in(folder: Path, empty: Path) -> Iterator[ColdStore]:
    """Open a new cold store, which does not wait for the disk."""
    path = folder / "cold.db"
    for suffix in ("", "-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    shutil.copy(empty, path)
    with closing(Database(path)) as database:
        with database.writing() as connection:
            connection.execute("PRAGMA synchronous = OFF")
        yield ColdStore(database)


def check(folder: Path, empty: Path, plot: Plot, shot: Shot) -> int:
    """Require that no window of a conversation violates anything; return how many there were."""
    windows = 0
    with stored_in(folder, empty) as store:
        for case, found in found_in(store, plot, shot):
            windows += 1
            wrong = [violation for violation in found if violation.check not in KNOWN]
            assert not wrong, (case.protocol, case.window.mode, wrong)
    return windows


PATIENT = settings(deadline=None, suppress_health_check=list(HealthCheck), database=None)


LONG_AGO = Plot(
    (
        *(Unit("calls", 60, 6), Unit("calls", 60, 27), Unit("own", 60, 0)),
        *(Unit("unanswered", 60, 0), Unit("empty", 60, 0), *[Unit("talk", 2_000, 0)] * 4),
    ),
    observed=8,
)
"""Calls, their results, and turns that no window shows, which a small window leaves out."""


@settings(PATIENT, max_examples=8, derandomize=True)
@given(plot=PLOTS, shot=SHOTS)
@example(LONG_AGO, Shot(limit=4_000, tools="own", steps=1, variant=18))
@example(LONG_AGO, Shot(limit=4_000, tools="mcp", steps=1, variant=24))
@example(LONG_AGO, Shot(limit=4_000, tools="own", refused=frozenset({"tools"})))
def test_body_list_and_price_of_a_window_are_its_pieces(
    folder: Path, empty_database: Path, plot: Plot, shot: Shot
) -> None:
    check(folder, empty_database, plot, shot)


@pytest.mark.long
@pytest.mark.parametrize("number", [1, 2, 3])
def test_body_list_and_price_of_5000_windows_are_their_pieces(
    folder: Path, empty_database: Path, number: int
) -> None:
    windows = 0
    tries = 10 if settings.get_profile("long").derandomize else 200  # a sample, or all

    @seed(number)
    @settings(PATIENT, max_examples=tries)
    @given(plot=PLOTS, shot=SHOTS)
    def tried(plot: Plot, shot: Shot) -> None:
        nonlocal windows
        windows += check(folder, empty_database, plot, shot)

    tried()
    assert windows >= 25 * tries


@pytest.mark.parametrize("name", PENDING)
def test_what_is_pending_fails(
    request: pytest.FixtureRequest, folder: Path, empty_database: Path, name: str
) -> None:
    waits_for, plot, shot, mode = PENDING[name]
    request.applymarker(
        pytest.mark.xfail(strict=True, raises=AssertionError, reason=f"waits for {waits_for}")
    )
    with stored_in(folder, empty_database) as store:
        found = found_in(store, plot, shot)
        wrong = {
            each.check for case, each_of in found if case.window.mode is mode for each in each_of
        }
    assert name not in wrong


ALL_KINDS = Plot(
    (Unit("file", 60, 7), *(Unit("calls", 60, 16 * n + k) for n in range(6) for k in (4, 6))),
    facts=2,
)


@pytest.mark.parametrize("protocol_name", PROTOCOLS)
def test_a_character_that_is_missing_anywhere_in_a_body_is_found(
    folder: Path, empty_database: Path, protocol_name: str
) -> None:
    with stored_in(folder, empty_database) as store:
        world = World(store, ALL_KINDS)
        case = next(Stage(world, protocol_name, Shot(tools="mcp")).cases(Mode.FULL))
    assert differences(protocol_name, case.window.pieces, case.body) == []
    kinds = set()
    for word, mark in world.marks.known.items():
        written = (word.encode("unicode_escape"), json.dumps(word).strip('"').encode())
        for found in {each for each in written if each in case.body}:
            kinds.add(mark.kind)
            body = case.body.replace(found, found[: -len("\\u00a7")], 1)
            assert differences(protocol_name, case.window.pieces, body), mark
    assert kinds >= {"content", "result", "arguments", "reasoning", "file", "standing"}


@pytest.mark.parametrize("protocol_name", PROTOCOLS)
@pytest.mark.parametrize("altered", [lambda text: text[:-1], lambda text: f"{text} "])
def test_a_protocol_that_alters_a_text_by_one_character_is_found(
    folder: Path,
    empty_database: Path,
    monkeypatch: pytest.MonkeyPatch,
    protocol_name: str,
    altered: Callable[[str], str],
) -> None:
    protocol = type(protocol_named(protocol_name))
    request = protocol.request

    def altering(self: Any, where: Endpoint, messages: Sequence[Message], options: Options) -> Any:
        last = replace(messages[-1], content=altered(messages[-1].content))
        return request(self, where, [*messages[:-1], last], options)

    monkeypatch.setattr(protocol, "request", altering)
    with stored_in(folder, empty_database) as store:
        stage = Stage(World(store, Plot((TALK,))), protocol_name, Shot())
        found = [each for case in stage.cases(Mode.JIT) for each in violations(case)]
    assert "a body" in {violation.check for violation in found}


def test_a_text_under_a_key_of_the_frame_is_found() -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
    hello = (Piece("hello"),)
    assert differences("openai", hello, json.dumps(body).encode()) == []
    for more in ({"seed": "Be brief, please."}, {"metadata": {"note": "x"}}):
        assert differences("openai", hello, json.dumps(body | more).encode())
