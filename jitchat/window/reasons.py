"""Every reason that the ledger gives for sending something or leaving it out.

Tokens in a reason stand for what the server will count: `number_of` marks the counter's, and
`with_numbers` writes them once the rate of the window is known.
"""

import re
from collections.abc import Callable

INSTRUCTIONS = "instructions"
INSTRUCTIONS_SET = "instructions from the settings"
OWN_INSTRUCTIONS = "instructions for this conversation"
READING = "how to read this window"
PERSONA = "persona {name}"
DRAFT = "your message"
KEPT = "turns not shown"
GATE = "offered with other tools, whose results may be large"
CAN_ASK = "finds turns not shown"
NOTHING_LEFT_OUT = "the whole conversation is shown"
NO_TOOLS = "the model does not support tools"
NOT_OF_PERSONA = "not one of the persona's tools"
# distilled
STANDING = "standing instructions"
STANDING_LEFT_OUT = "standing instructions; {missing:,} older left out, over {most:,} tokens"
FACT = "{kind} on “{words}”"
FACT_IN_TURN = "#{turn}, which it is from, is sent in full"
FACTS_IN_MODES = "only jit, observe and document send facts"
FACTS_LESS = "they match the message less, or not at all"
STANDING_OLDER = "the {most:,} tokens for standing instructions go to the latest"
OBSERVATIONS = "{lines} of #1–#{through}"
DOCUMENT = "the memory document, version {version}"
OBSERVED = "observed"
IN_DOCUMENT = "in the document"
NOTHING_DISTILLED = "no distilled notes are sent: the turns are chosen as in jit"
# appended in mid-turn
CALLED = "called by the model"
RESULT = "whole result"
LARGE_RESULT = "large result"
NO_ROOM_PREVIEW = "no room for a preview"
REQUESTED_BY_MODEL = "requested by the model"
# in the window
EVERY_TURN = "mode full: every turn"
PASSED_THROUGH = "whole conversation sent: it fits"
PASSED_THROUGH_WITHOUT = "all but the excluded turns sent: they fit"
RECENT_BLOCK = "recent block"
ALREADY_RECENT = "already in recent"
PINNED = "pinned by you"
REQUESTED = "you asked for #{turn}"
NEEDS_MORE = "; in full, it would need {tokens} more"
LAST_EXCHANGE = "last exchange"
CARRIED = "in the window since #{turn}"
NEIGHBOUR = "neighbour of #{turn}"
# passages of an excerpt
MATCHES = "on “{words}”"
IN_SUMMARY = "named in its index line"
BEGINNING = "beginning of the turn"
FRAMES = "heading, lead-in or code fence of another passage"
ELSEWHERE = "{reason}, in “{title}”"
# files
FILE = "attached in full"
FILE_EXTRACTED = "attached as the text that was read from it"
PICTURE = "picture, {tokens:,} tokens, {how}"
BY_FORMULA, ESTIMATED = "by the provider's formula", "estimated"
MAY_NOT_SEE = "unknown whether the model can see pictures"
CANNOT_SEE = "the model cannot see pictures"
FILE_BY_PART = "{tokens} tokens, over the {most:,} for a whole file: sent in parts, as needed"
KEPT_FILE = "kept, not shown whole"
FILE_ELSEWHERE = "it is with #{turn} already"
FILE_EQUAL = "same content as {name} with #{turn}"
FILE_TURN_NOT_SENT = "attached with #{turn}, which is not sent"
FILE_TURN_QUOTED = "attached with #{turn}, which is {kind}: only its text is quoted"
FILE_TURN_OUT = "attached with #{turn}: {reason}"
PARTS_IN_MODES = "only jit, observe and document send parts of files"
FIRST_PART = "beginning of the file; nothing in it matched"
PART_YIELDS = "matches little; turns match far better"
# as an index line
LATEST_DECISION = "latest decision"
LINE_ONLY = "rank {rank}, index line only"
# left out by the user
EXCLUDED = "excluded by you"
DROPPED = "left out of this message by you"
SAME_UNIT = "same unit as a call or a result that is left out"
KEPT_OUT = (EXCLUDED, DROPPED, SAME_UNIT)
"""Why a turn is left out that the user keeps out, with its unit."""
# no room
NO_ROOM = "no room: {tokens} tokens, {left} left {where}"
IN_WINDOW, FOR_RECALLED = "in the window", "for recalled turns"
FOR_FACTS, FOR_PARTS = "for facts", "for parts of files"
NO_ROOM_REQUIRED = "{reason}, but it would need {tokens} more tokens"
WEAKER_ELSEWHERE = "{distance} below {place} of another conversation"
NO_ROOM_RECENT = "no room for its exchange in the recent block; tokens left: {left}"
LINES_FULL = "no room for its index line; tokens left: {left}"
LINE_NEEDLESS = "an index line would save little"
GAVE_WAY = "gave way to what ranks above it"
# no window shows it
UNANSWERED = "not answered, so it is kept but not sent again"
AWAITING = "not answered yet when this message was sent"
BLANK = "no text to send"
BLANK_REPLY = "a reply without text"
OWN_TOOLS = "calls of jitchat's own tools and their results are not sent again"
# not chosen
NOT_SHOWABLE = "not a turn that a window can show"
REPEATED = "same text as #{turn}"
REPLACED = "replaced by #{turn}"
SAME_TEXT = "same text as {place}"
NOT_PICKED = "not picked by {model}"
BELOW_FLOOR = "{distance} below the floor {floor:.2f}"
BELOW_LAST_HIT = "{distance} below #{turn}"
AFTER_LAST_HIT = "ranked after the last pick"
NOT_FETCHED = "asked for, but only jit, observe and document fetch turns"
BEFORE_RECENT = "said before the recent block"
# never a candidate
NOTHING_ASKED = "nothing typed yet"
NOT_INDEXED = "not all of them are indexed yet"
NEEDLESS = "nothing is recalled for {kind}"
NOT_SEARCHED = "not searched, too many turns in scope: {others}, the least recently used"
OTHER_TIME = "from a different time or speaker than the message asks about"
NO_MATCH = "nothing in them matched"
BEYOND_SHORTLIST = "matched less than the shortlist of {size}, or not at all"


_NUMBER = re.compile("\0(-?[0-9]+)\0")
"""Between characters that no name and no text of a user can hold."""


def number_of(tokens: int) -> str:
    """Mark a number of the counter's tokens in a reason."""
    return f"\0{max(0, tokens)}\0"


def room_of(tokens: int) -> str:
    """Mark what is left, as a negative number: what did not fit is larger when both are rounded."""
    return f"\0{-max(0, tokens)}\0"


def with_numbers(reason: str, write: Callable[[int], str]) -> str:
    """Write the numbers that are marked in a reason."""
    return _NUMBER.sub(lambda match: write(int(match[1])), reason)


def no_room(tokens: int, left: int, where: str) -> str:
    """Say how much is needed and how much is left.

    What would fit by now was dropped for something else.
    """
    if tokens <= left:
        return GAVE_WAY
    return NO_ROOM.format(tokens=number_of(tokens), left=room_of(left), where=where)
