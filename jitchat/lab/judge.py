"""What came of a cell: by rule, and where the rule finds it wrong, by the judge that there is.

A judge is a model that is asked about answers that no rule finds right. Its word is read as
strictly as in the benchmarks.
"""

from dataclasses import dataclass, replace

from jitchat.bench import judge as judging
from jitchat.bench.workers import reply_to
from jitchat.errors import ContextOverflow, ProviderError, WindowOverflow
from jitchat.events import AnswerProgress
from jitchat.lab.experiment import Result, Verdict
from jitchat.lab.facts import Fact, Kind
from jitchat.lab.grade import Ruling, grade
from jitchat.providers.provider import Options, Provider
from jitchat.values import Message, Status

_RULES = (
    "question, the expected answer, values that are not the answer although they were said"
    " (older ones, or other people's), and the answer to grade. The answer is CORRECT if what it"
    " asserts in the end is the expected answer, in whatever words or form. It is WRONG if it"
    " asserts another value, leaves open which of several it is, or says that it does not know."
)
_EXCEPTIONS = {
    Kind.EXACT: (
        " The answer has to hold the expected string to the letter, upper and lower case included."
    ),
    Kind.ABSENT: (
        " Here nothing was said that answers the question: it is CORRECT only to say so, and WRONG"
        " to name or to guess an answer."
    ),
}
CORRECT = "the judge: correct"
_CUT = "The answer was cut where it was to end at the latest."


@dataclass(frozen=True, slots=True)
class Judge:
    provider: Provider
    options: Options

    async def ruling(self, fact: Fact, answer: str, ruled: Ruling) -> Ruling:
        """Ask about an answer that the rule found wrong; the rule stands where it does not say.

        Raises:
            ProviderError: It cannot be asked.

        """
        if ruled.is_right or not answer.strip():
            return ruled
        messages = judge_messages(fact, answer)
        reply = await reply_to(messages, self.provider, self.options, judging.LONGEST)
        return Ruling(is_right=True, rule=CORRECT) if judging.verdict(reply.text) else ruled


def judge_messages(fact: Fact, answer: str) -> tuple[Message, Message]:
    given = {
        "question": fact.question,
        "expected": fact.expected,
        "not the answer": list(fact.wrong),
        "answer": answer,
    }
    rules = _RULES + _EXCEPTIONS.get(fact.kind, "")
    return judging.judge_messages(judging.instructions(rules), given)


@dataclass(frozen=True, slots=True)
class Decision:
    result: Result
    failure: ProviderError | None = None
    """Why nothing is decided: of who answers, or of the judge; None where all is well."""


async def decide(
    asked: Result, fact: Fact, answer: AnswerProgress, judge: Judge | None
) -> Decision:
    """Decide on an answer; one that the judge could not be asked about is not decided."""
    error = answer.error
    if error is not None:
        failure = error if isinstance(error, ProviderError) else None
        unanswered = replace(asked, note=str(error))
        if isinstance(error, WindowOverflow | ContextOverflow):
            unanswered = replace(unanswered, verdict=Verdict.UNFIT, rule="the window does not fit")
        return Decision(unanswered, failure)
    ruling = grade(fact, answer.text)
    if judge is not None:
        try:
            ruling = await judge.ruling(fact, answer.text, ruling)
        except ProviderError as failed:
            note = f"The judge could not be asked: {failed}"
            return Decision(replace(asked, rule="not judged", note=note), failed)
    verdict = Verdict.RIGHT if ruling.is_right else Verdict.WRONG
    is_cut = answer.reply is not None and answer.reply.status is Status.CUT
    note = _CUT if is_cut and not ruling.is_right else ""
    return Decision(replace(asked, verdict=verdict, rule=ruling.rule, note=note))
