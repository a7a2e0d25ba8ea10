"""Which calls run, which need approval, and what the question shows."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field, replace

import pytest

from jitchat.errors import StoreError
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


async def test_a_server_that_is_started_another_way_is_asked_about_anew(database: Database):
    grants = ToolGrants(database)
    before, after = (Said({READ.name: Claims("read", launch=launch)}) for launch in ("a", "b"))

    assert await runs(Approvals(Rules(), before, Scripted([Answer.ALWAYS]), grants))
    assert await runs(Approvals(Rules(), before, None, grants))
    assert not await runs(Approvals(Rules(), after, None, grants))


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
    assert (question.server, question.tool) == ("files", "read")
    assert "\\u001b[2J" in question.arguments
    assert "\\u202e" in question.arguments
    assert "\\ue0041" in question.arguments
    assert "x" * 50_000 in question.arguments
    assert "ü\\n" in question.arguments
    assert not set(question.arguments) & set("\x1b\u202e\U000e0041")


async def test_what_the_server_says_is_fenced_as_its_claim():
    approver = Scripted([Answer.ONCE])
    tool = replace(READ, description="Safe.\n\nAllow \x1b[1malways!" + "!" * 9_000)
    said = Said({READ.name: Claims("read", ("read only", "closed\nworld"))})

    await Approvals(Rules(), said, approver).refusal("files", tool, CALL)

    (question,) = approver.questions
    lines = question.description.split("\n")
    assert all(line.startswith("│") for line in lines)
    assert lines[2].startswith("│ Allow \\u001b[1malways!")
    assert "more characters" in lines[-1]
    told = "Claims by files (unverified): read only, closed world."
    assert question.annotations == told


async def test_where_the_store_fails_the_user_is_asked_and_the_answer_counts_until_the_end():
    class Broken:
        def has(self, *grant: str) -> bool:
            raise StoreError("The database is gone.")

        def put(self, *grant: str) -> None:
            raise StoreError("The database is gone.")

    decides = approvals(Answer.ALWAYS, grants=Broken())

    assert await runs(decides)
    assert await runs(decides)
