"""Grades answers by a normalised match, as RULER and LongMemEval do, or by a judge.

The lab asks for the value alone, or for `not said` (`contract`). An answer is right if it contains
an accepted value and none of the wrong ones (an old value, or somebody else's). Exact values are
compared verbatim, all others after case, markup, numbers, dates, times and units are normalised.
A count must be the only number. If nothing was said, the answer must say so. For an instruction,
only the requested form is graded.

A judge is a model that is asked about answers that no rule finds right. Its verdict is parsed as
strictly as in the benchmarks.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass, replace

from jitchat.bench import workers
from jitchat.errors import ContextOverflow, ProviderError, WindowOverflow
from jitchat.events import AnswerProgress
from jitchat.lab import read_data
from jitchat.lab.experiment import Result, Verdict
from jitchat.lab.facts import Fact, Kind, Where
from jitchat.lab.spelling import exact_places, has, places, plain, stated, unmarked
from jitchat.providers.provider import Options, Provider
from jitchat.text.sentences import sentences
from jitchat.text.stance import disclaims
from jitchat.values import Message, Status

_WORD, _WORDS = re.compile(r"\w"), re.compile(r"\w+")
_LEAST_SENTENCE = 3
"""Minimum words of a whole sentence."""
_NUMBER = re.compile(r"(?<![\w#])\d+(?![\w%])")
_SAYS_TAKEN_BACK = re.compile(
    r"\b(?:t(?:ake|aken|ook) (?:it |that |this )?back|withdr(?:aw|awn|ew)|retract(?:ed|s)?"
    r"|forget|disregard(?:ed)?|deleted?|str(?:ike|uck|icken)|scrap(?:ped)?|revoked)\b"
)
_NOT_SAID = re.compile(
    r"\b(?:not|never|n't) (?:been )?(?:said|mentioned|discussed|stated|specified|given)\b"
)


@dataclass(frozen=True, slots=True)
class Ruling:
    is_right: bool
    rule: str
    """The reason, as a short phrase: `says 7443`, `gives no number`."""


def grade(fact: Fact, answer: str) -> Ruling:
    said = stated(answer)
    text = plain(said)
    if not _WORD.search(text):
        return Ruling(is_right=False, rule="empty answer")
    if fact.kind is Kind.INSTRUCTION:
        return _grade_form(fact, said, text)
    if fact.kind is Kind.COUNTING:
        return _grade_count(fact, text)
    if fact.kind in (Kind.ABSENT, Kind.DELETED):
        return _grade_absence(fact, text)
    if fact.kind is Kind.EXACT:
        whole, find = unmarked(said), exact_places
    else:
        whole, find = text, places
    is_said = any(has(whole, each, find) for each in fact.accepted)
    return _grade_value(fact, text, is_said=is_said)


def contract(kinds: Collection[Kind]) -> str:
    """Return the end of the system text for questions of these kinds."""
    told = ["contract"]
    if Kind.DELETED in kinds:
        told.append("taken_back")
    if Kind.INSTRUCTION in kinds:
        told.append("form")
    return " ".join(read_data("prompts")[name] for name in told)


def _grade_form(fact: Fact, said: str, text: str) -> Ruling:
    """Grade whether an instruction is obeyed, whatever the rest of the answer."""
    wanted, found = _WORDS.findall(plain(fact.expected)), _WORDS.findall(text)
    sizes = [len(_WORDS.findall(each)) for each in sentences(said)]
    is_obeyed = {
        "ends": lambda: found[-len(wanted) :] == wanted,
        "begins": lambda: found[: len(wanted)] == wanted,
        "says": lambda: has(text, fact.expected),
        "sentences": lambda: [str(len(sizes))] == wanted[:1] and min(sizes) >= _LEAST_SENTENCE,
    }[fact.rule]()
    does, fails = _FORMS[fact.rule]
    return Ruling(is_obeyed, f"{does if is_obeyed else fails} {fact.expected}")


_FORMS = {
    "ends": ("ends with", "does not end with"),
    "begins": ("begins with", "does not begin with"),
    "says": ("says", "does not say"),
    "sentences": ("answers in", "does not answer in"),
}


def admits(text: str) -> bool:
    return bool(_NOT_SAID.search(plain(text))) or disclaims(text)


_CHANGED = (Where.BEFORE, Where.EARLY)


def _grade_value(fact: Fact, text: str, *, is_said: bool) -> Ruling:
    if (wrong := _wrong_value(fact, text)) is not None:
        changed = (each.where in _CHANGED and not each.is_needed for each in fact.sayings)
        old = fact.wrong[: sum(changed)]
        whose = "the old value" if wrong in old else "another's value"
        beside = f"{fact.expected} and " if is_said else ""
        return Ruling(is_right=False, rule=f"says {beside}{whose} {wrong}")
    if is_said:
        return Ruling(is_right=True, rule=f"says {fact.expected}")
    if admits(text):
        return Ruling(is_right=False, rule="says it is not known")
    near = fact.kind is Kind.EXACT and any(has(text, each) for each in fact.accepted)
    rule = f"does not say {fact.expected} to the letter" if near else f"never says {fact.expected}"
    return Ruling(is_right=False, rule=rule)


def _grade_count(fact: Fact, text: str) -> Ruling:
    if admits(text):
        return Ruling(is_right=False, rule="says it is not known")
    numbers = list(dict.fromkeys(_NUMBER.findall(text)))
    if not numbers:
        return Ruling(is_right=False, rule="gives no number")
    if numbers[1:]:
        return Ruling(is_right=False, rule=f"gives several numbers: {', '.join(numbers[:4])}")
    return Ruling(numbers[0] in map(plain, fact.accepted), f"counts {numbers[0]}")


def _grade_absence(fact: Fact, text: str) -> Ruling:
    """Grade whether an answer states that nothing was said, or that the fact was taken back."""
    is_deleted = fact.kind is Kind.DELETED
    if (wrong := _wrong_value(fact, text)) is not None:
        is_own = is_deleted and wrong == fact.wrong[0]
        whose = "the value that was taken back," if is_own else "another's value"
        return Ruling(is_right=False, rule=f"says {whose} {wrong}")
    if is_deleted and _SAYS_TAKEN_BACK.search(text):
        return Ruling(is_right=True, rule="states that it was taken back")
    if not admits(text):
        what = "taken back" if is_deleted else "never said"
        return Ruling(is_right=False, rule=f"does not state that it was {what}")
    return Ruling(is_right=True, rule="states that it was never said")


def _wrong_value(fact: Fact, text: str) -> str | None:
    return next((each for each in fact.wrong if has(text, each)), None)


CORRECT = "the judge: correct"
_CUT = "The answer was cut at its maximum length."


@dataclass(frozen=True, slots=True)
class Judge:
    provider: Provider
    options: Options

    async def ruling(self, fact: Fact, answer: str, ruled: Ruling) -> Ruling:
        """Ask about an answer that the rule found wrong; without a verdict, the rule holds."""
        if ruled.is_right or not answer.strip():
            return ruled
        messages = judge_messages(fact, answer)
        reply = await workers.reply_to(
            messages, self.provider, self.options, workers.LONGEST_VERDICT
        )
        return Ruling(is_right=True, rule=CORRECT) if workers.verdict(reply.text) else ruled


def judge_messages(fact: Fact, answer: str) -> tuple[Message, Message]:
    given = {
        "question": fact.question,
        "expected": fact.expected,
        "not the answer": list(fact.wrong),
        "answer": answer,
    }
    prompts = read_data("prompts")
    rules = prompts["rules"]
    if fact.kind in prompts["exceptions"]:
        rules = f"{rules} {prompts['exceptions'][fact.kind]}"
    return workers.judge_messages(rules, given)


@dataclass(frozen=True, slots=True)
class Decision:
    result: Result
    failure: ProviderError | None = None
    """The error of the model or the judge if nothing is decided; None otherwise."""


async def decide(
    asked: Result, fact: Fact, answer: AnswerProgress, judge: Judge | None
) -> Decision:
    """Decide on an answer; if the judge cannot be asked, nothing is decided."""
    if (error := answer.error) is not None:
        failure = error if isinstance(error, ProviderError) else None
        unanswered = replace(asked, note=str(error))
        if isinstance(error, WindowOverflow | ContextOverflow):
            unanswered = replace(unanswered, verdict=Verdict.UNFIT, rule="the window does not fit")
        return Decision(unanswered, failure)
    ruling = grade(fact, answer.text)
    if judge is not None and fact.kind is not Kind.INSTRUCTION:  # rules fully decide on a form
        try:
            ruling = await judge.ruling(fact, answer.text, ruling)
        except ProviderError as failed:
            note = f"The judge could not be asked: {failed}"
            return Decision(replace(asked, rule="not judged", note=note), failed)
    verdict = Verdict.RIGHT if ruling.is_right else Verdict.WRONG
    is_cut = answer.reply is not None and answer.reply.status is Status.CUT
    note = _CUT if is_cut and not ruling.is_right else ""
    return Decision(replace(asked, verdict=verdict, rule=ruling.rule, note=note))
