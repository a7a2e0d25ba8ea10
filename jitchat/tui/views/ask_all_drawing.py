"""How an answer looks among others: its state, its times, its tokens, its cost. Pure."""

from __future__ import annotations

from jitchat.answer import Answer
from jitchat.errors import WindowOverflow
from jitchat.text.safe import one_line
from jitchat.tui.figures import cost_figure, reported, tokens, used_figure
from jitchat.turn import Status


def state_of(answer: Answer) -> str:
    """Say in a word or two how far it is."""
    if not answer.is_over:
        return _under_way(answer)
    if isinstance(answer.error, WindowOverflow):
        return "does not fit"
    if answer.reply is not None:
        return "done" if answer.reply.status is Status.COMPLETE else "cut"
    if answer.error is not None:
        return "failed"
    return "stopped" if answer.left_at is not None else "not asked"


def _under_way(answer: Answer) -> str:
    if answer.left_at is None:
        return "planning…"
    if answer.first_at is None:
        return "waiting…"
    return "answering…" if answer.text else "thinking…"


def times_of(answer: Answer) -> str:
    """`first 0.42 s · all 2.10 s`: to its first token and to its end, as far as it is."""
    times = (("first", answer.to_first), ("all", answer.took))
    return " · ".join(f"{name} {seconds:.2f} s" for name, seconds in times if seconds is not None)


def figures_of(answer: Answer) -> str:
    """`in 1,187 ✓ · out 210 ✓ · $0.0041`, as far as it is known.

    What the provider did not report is the own count, marked as an estimate.
    """
    if answer.window is None:
        return ""
    parts = [_sent(answer)]
    if answer.is_over and answer.first_at is not None:
        parts.append(_out(answer))
    if answer.is_over:
        parts.append(cost_figure(answer.cost, answer.usage))
    return " · ".join(parts)


def _sent(answer: Answer) -> str:
    usage, window = answer.usage, answer.window
    if usage is not None and usage.input_tokens is not None:
        return f"in {reported(usage.input_tokens)}"
    return f"in {used_figure(window)}" if window is not None else ""


def _out(answer: Answer) -> str:
    usage = answer.usage
    if usage is not None and usage.output_tokens is not None:
        return f"out {reported(usage.output_tokens)}"
    return f"out {tokens(answer.counted, exact=False)}"


def trouble_of(answer: Answer) -> str:
    """Say what went wrong, or what is to be known of the request; mostly empty."""
    return one_line(str(answer.error) if answer.error is not None else answer.told)


def plain(answer: Answer) -> str:
    """Write it as text, with its figures."""
    told = (str(answer.mode), state_of(answer), times_of(answer), figures_of(answer))
    head = " · ".join(filter(None, told))
    return "\n".join(filter(None, (head, trouble_of(answer), answer.text)))


def confirmation(cost: str) -> str:
    """Ask whether to ask; `cost` is what the three windows cost, without the answers."""
    if not cost.endswith("unknown"):
        return f"Ask all three for {cost}, and what the answers cost? Y asks, N does not."
    return "Ask all three? What that costs is not known. Y asks, N does not."
