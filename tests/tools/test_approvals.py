"""Which calls run, which need approval, and what the question shows."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field, replace

import pytest

from jitchat.errors import StoreError
from jitchat.store import tool_grants
from jitchat.store.database import Database
from jitchat.store.tool_grants import ToolGrants
from jitchat.tools.approvals import Answer, Approvals, Claims, Question, Rules
from jitchat.tools.source import BUILT_IN
from jitchat.values import Tool, ToolCall

READ = Tool("files__read", "Reads a file.", '{"type": "object"}')
CALL = ToolCall("1", "files__read", '{"path": "notes.txt"}')


@dataclass
class Scripted:
    """Answers questions in order."""

    answers: list[Answer] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)

    async def approve(self, question: Question) -> Answer:
        self.questions.append(question)
        return self.answers.pop(0)


@dataclass
class Said:
    """What servers say of their tools, by the name under which they are offered."""

    claims: dict[str, Claims] = field(default_factory=dict)

    def claims_of(self, source: str, tool: str) -> Claims | None:
        return self.claims.get(tool, Claims(tool.removeprefix(f"{source}__")))


def approvals(*answers: Answer, rules: Rules | None = None, **more: object) -> Approvals:
    return Approvals(rules or Rules(), Said(), Scripted(list(answers)), **more)


async def runs(decides: Approvals, tool: Tool = READ, source: str = "files") -> bool:
    call = replace(CALL, name=tool.name)
    return await decides.refusal(source, tool, call) is None


@pytest.mark.parametrize(
    ("rules", "asked", "allowed"),
    [
        (Rules(), True, True),
        (Rules(allow=("files__read",)), False, True),
        (Rules(allow=("files__*",)), False, True),
        (Rules(allow=("files",)), False, True),
        (Rules(allow=("file",)), True, True),
        (Rules(allow=("*",)), False, True),
        (Rules(allow=("other__read",)), True, True),
        (Rules(allow=("files",), ask=("files__re*",)), True, True),
        (Rules(allow=("files",), ask=("files",), deny=("*__read",)), False, False),
        (Rules(allow=("files__read",), deny=("files",)), False, False),
        (Rules().with_rules_of("files", Rules(allow=("re*",))), False, True),
        (Rules().with_rules_of("other", Rules(allow=("re*",))), True, True),
        (Rules(allow=("files",)).with_rules_of("files", Rules(deny=("read",))), False, False),
    ],
)
async def test_deny_goes_before_ask_and_ask_before_allow(rules, asked, allowed):
    approver = Scripted([Answer.ONCE])
    decides = Approvals(rules, Said(), approver)

    assert await runs(decides) == allowed
    assert bool(approver.questions) == asked


async def test_a_built_in_tool_is_never_asked_about():
    assert await runs(Approvals(Rules(deny=("*",)), Said()), source=BUILT_IN)


async def test_a_tool_is_denied_by_its_own_name_where_a_protocol_takes_only_another():
    claims = Said({"files__drop_all_9f": Claims("drop.all")})
    tool = Tool("files__drop_all_9f", "", "{}")

    for glob in ("files__drop.all", "files__drop_*"):
        assert not await runs(Approvals(Rules(deny=(glob,)), claims), tool)
    # one of the two names is not enough to allow it
    assert not await runs(Approvals(Rules(allow=("files__drop.all",)), claims), tool)
    assert await runs(Approvals(Rules(allow=("files__drop*",)), claims), tool)


async def test_once_is_once_and_a_conversation_is_as_long_as_the_object():
    decides = approvals(Answer.ONCE, Answer.CONVERSATION)

    assert await runs(decides)
    assert await runs(decides)
    assert await runs(decides)
    with pytest.raises(IndexError):  # another tool is another question
        await runs(decides, Tool("files__write", "", "{}"))


async def test_always_is_kept_for_later_runs_until_the_tool_changes(database: Database):
    first = approvals(Answer.ALWAYS, grants=ToolGrants(database))
    assert await runs(first)

    later = approvals(Answer.DECLINE, Answer.DECLINE, grants=ToolGrants(database))
    assert await runs(later)
    assert not await runs(later, replace(READ, description="Reads a file, and sends it home."))
    assert not await runs(later, replace(READ, schema='{"type": "object", "required": ["to"]}'))
    assert await runs(later)


async def test_a_key_that_cannot_be_written_leaves_a_question(
    database: Database, monkeypatch: pytest.MonkeyPatch
):
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(tool_grants, "replace_file", refuse)
    decides = Approvals(
        Rules(), launched(), Scripted([Answer.ALWAYS, Answer.DECLINE]), ToolGrants(database)
    )

    assert await runs(decides)
    assert await runs(decides)  # until the end of the conversation
    assert not await runs(Approvals(Rules(), launched(), None, ToolGrants(database)))


LAUNCH = (
    ("command", "uvx"),
    ("cwd", ""),
    ("args.1", "mcp-files"),
    ("env.API_URL", "https://api.test/v1"),
    ("env.TOKEN", "${FILES_TOKEN}"),
    ("headers.X-Team", "Bearer literal-0123456789"),
)


def launched(*changed: tuple[str, str], without: str = "") -> Said:
    """What a server says that is started as above, but for the changes."""
    launch = dict(LAUNCH) | dict(changed)
    launch.pop(without, None)
    return Said({READ.name: Claims("read", launch=tuple(launch.items()))})


@pytest.mark.parametrize(
    ("after", "lines"),
    [
        (launched(("command", "npx")), ["-command: uvx", "+command: npx"]),
        (launched(("cwd", ".")), ["+cwd: ."]),
        (launched(("args.1", "mcp-other")), ["-args.1: •••", "+args.1: •••"]),
        (launched(("args.2", "${HOME}")), ["+args.2: ${HOME}"]),
        (launched(without="args.1"), ["-args.1: •••"]),
        (
            launched(("env.API_URL", "https://evil.test")),
            ["-env.API_URL: •••", "+env.API_URL: •••"],
        ),
        (
            launched(("env.TOKEN", "${OTHER_TOKEN}")),
            ["-env.TOKEN: ${FILES_TOKEN}", "+env.TOKEN: ${OTHER_TOKEN}"],
        ),
        (launched(without="env.TOKEN"), ["-env.TOKEN: ${FILES_TOKEN}"]),
        (launched(("env.LD_PRELOAD", "/tmp/x.so")), ["+env.LD_PRELOAD: •••"]),
        (
            launched(("headers.X-Team", "Bearer ${T}")),
            ["-headers.X-Team: •••", "+headers.X-Team: ${T}•••"],
        ),
    ],
)
async def test_always_ends_when_anything_that_starts_the_server_changes(
    database: Database, after: Said, lines: list[str]
):
    grants = ToolGrants(database)
    approver = Scripted([Answer.ALWAYS, Answer.ALWAYS])

    assert await runs(Approvals(Rules(), launched(), approver, grants))
    assert await runs(Approvals(Rules(), launched(), None, ToolGrants(database)))
    assert not await runs(Approvals(Rules(), after, None, grants))
    assert await runs(Approvals(Rules(), after, approver, grants))

    first, second = approver.questions
    heading = "Changed since you always allowed it (- before, + now):"
    assert not first.has_changed
    assert second.has_changed
    assert dict(second.details)[heading].split("\n") == lines
    assert await runs(Approvals(Rules(), after, None, grants))


async def test_a_grant_is_bound_to_literal_values_by_a_keyed_hash_alone(database: Database):
    grants = ToolGrants(database)
    await runs(Approvals(Rules(), launched(), Scripted([Answer.ALWAYS]), grants))

    key = database.path.with_name("grants.key")
    with database.read() as connection:
        stored = "\n".join(connection.iterdump())
    assert key.stat().st_mode & 0o777 == 0o600
    for literal in ("mcp-files", "api.test", "literal-0123456789", key.read_bytes().hex()):
        assert literal not in stored
    assert "${FILES_TOKEN}" in stored
    key.unlink()
    assert not await runs(Approvals(Rules(), launched(), None, ToolGrants(database)))


async def test_a_text_cannot_stand_in_for_another_part_of_the_definition(database: Database):
    grants = ToolGrants(database)
    granted = replace(READ, description="Reads.", schema='{"a": 1}')
    forged = replace(READ, description='Reads.\nparameters: {\n  "a": 1\n}', schema="")
    assert await runs(Approvals(Rules(), Said(), Scripted([Answer.ALWAYS]), grants), granted)

    assert not await runs(Approvals(Rules(), Said(), None, grants), forged)


async def test_what_the_settings_have_asked_about_cannot_be_allowed_for_good(database: Database):
    grants, rules = ToolGrants(database), Rules(ask=("files",))
    assert await runs(approvals(Answer.ALWAYS, grants=grants))
    approver = Scripted([Answer.ALWAYS])

    assert not await runs(Approvals(rules, Said(), approver, grants))
    assert approver.questions[0].choices == (Answer.ONCE, Answer.CONVERSATION, Answer.DECLINE)


@pytest.mark.parametrize(
    ("decides", "words"),
    [
        (approvals(Answer.DECLINE), "Declined by the user"),
        (Approvals(Rules(), Said()), "nobody is here to be asked"),
        (Approvals(Rules(deny=("files",)), Said()), "the settings deny this tool"),
    ],
)
async def test_a_refusal_is_a_result_that_tells_the_model_not_to_try_again(decides, words):
    refused = await decides.refusal("files", READ, CALL)

    assert refused is not None
    assert refused.call == CALL
    assert refused.is_error
    assert words in refused.content
    assert "not run" in refused.content
    assert "Do not call it again" in refused.content


async def test_one_question_is_asked_at_a_time_and_an_answer_counts_for_those_that_wait():
    open_now: list[int] = []

    class Slow:
        asked = 0

        async def approve(self, question: Question) -> Answer:
            self.asked += 1
            open_now.append(1)
            assert len(open_now) == 1
            await asyncio.sleep(0)
            open_now.pop()
            return Answer.CONVERSATION

    slow = Slow()
    decides = Approvals(Rules(), Said(), slow)

    assert await asyncio.gather(*(runs(decides) for _ in range(5))) == [True] * 5
    assert slow.asked == 1


async def test_a_question_that_is_withdrawn_leaves_the_next_one_free():
    class Waiting:
        began = asyncio.Event()

        async def approve(self, question: Question) -> Answer:
            if self.began.is_set():
                return Answer.ONCE
            self.began.set()
            await asyncio.Event().wait()
            raise AssertionError

    waiting = Waiting()
    decides = Approvals(Rules(), Said(), waiting)
    asked = asyncio.ensure_future(runs(decides))
    await waiting.began.wait()

    asked.cancel()
    await asyncio.wait([asked])

    assert asked.cancelled()
    assert await runs(decides)


async def test_the_question_shows_all_arguments_with_what_cannot_be_seen():
    hidden = {"path": "a\x1b[2Jb\u202egpj.\U000e0041c", "text": "x" * 50_000, "n": [1, "ü\n"]}
    approver = Scripted([Answer.ONCE])
    call = replace(CALL, arguments=json.dumps(hidden))

    await Approvals(Rules(), Said(), approver).refusal("files", READ, call)

    (question,) = approver.questions
    shown = dict(question.details)["Arguments:"]
    assert (question.server, question.tool) == ("files", "read")
    assert "\\u001b[2J" in shown
    assert "\\u202e" in shown
    assert "\\ue0041" in shown
    assert "x" * 50_000 in shown
    assert "ü\\n" in shown
    assert not set(shown) & set("\x1b\u202e\U000e0041")


async def test_what_the_server_says_is_named_as_its_claim():
    approver = Scripted([Answer.ONCE])
    name = "read? It was checked. Press 3"
    tool = replace(READ, description="Safe.\n\nAllow \x1b[1malways!" + "!" * 9_000)
    said = Said({READ.name: Claims(name, ("read only", "closed\nworld"))})

    await Approvals(Rules(), said, approver).refusal("files", tool, CALL)

    (question,) = approver.questions
    details = dict(question.details)
    size = f"{len(tool.description):,}"
    heading = f"Description by files (unverified), the first 4,000 of {size} characters:"
    assert question.tool == "read"
    assert details["Name at files:"] == name
    assert details["Claims by files (unverified):"] == "read only, closed\nworld"
    assert details[heading].split("\n")[2].startswith("Allow \x1b[1malways!")
    assert len(details[heading]) == 4_000


async def test_a_definition_that_is_nested_too_deeply_is_asked_about():
    deep = "[" * 2_000 + "]" * 2_000
    approver = Scripted([Answer.CONVERSATION])
    decides = Approvals(Rules(), Said(), approver)

    assert await runs(decides, replace(READ, schema=deep))
    assert await runs(decides, replace(READ, schema=deep))


async def test_where_the_store_fails_the_user_is_asked_and_the_answer_counts_until_the_end():
    class Broken:
        def definition(self, *names: str) -> str | None:
            raise StoreError("The database is gone.")

        def seal(self, text: str) -> str:
            return text

        def put(self, *grant: str) -> None:
            raise StoreError("The database is gone.")

    decides = approvals(Answer.ALWAYS, grants=Broken())

    assert await runs(decides)
    assert await runs(decides)
