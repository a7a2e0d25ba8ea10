"""How the turns of a window were chosen, and what that cost."""

from jitchat.text.figures import Figure, cost_of, duration, mark_of, plural
from jitchat.text.sanitize import one_line
from jitchat.window import reasons
from jitchat.window.carriers import statements_in
from jitchat.window.window import ContextWindow, Kind


def choosing_sentences(window: ContextWindow) -> list[str]:
    """Describe how the turns were chosen: why none were searched, the models and the tools used."""
    needless = [reasons.NEEDLESS.format(kind=window.needless)] if window.needless else []
    if window.not_searched:
        others = plural(window.not_searched, "conversation")
        needless.append(reasons.NOT_SEARCHED.format(others=others))
    asked = [one_line(request.sentence(window.figure)) for request in window.requests]
    chosen = [*needless, *_reranking_sentences(window), *picking_sentences(window)]
    held = [result.sentence(window.figure) for result in window.held]
    return [
        *_distilling_sentences(window),
        *chosen,
        *_step_sentences(window),
        *_tool_sentences(window),
        *asked,
        *held,
    ]


def _distilling_sentences(window: ContextWindow) -> list[str]:
    """Say that a distilling mode chooses turns without a head of statements."""
    why = {each.reason for each in window.segments if each.kind is Kind.RECENT}
    is_composed = window.mode.distils and reasons.RECENT_BLOCK in why
    return [reasons.NOTHING_DISTILLED] if is_composed and statements_in(window) is None else []


def _step_sentences(window: ContextWindow) -> list[str]:
    """List the steps of the turn so far: `step 3: look, count (~412) → search (~90) → this one`."""
    steps: list[str] = []
    tokens = 0
    for segment in reversed(window.segments):
        if segment.kind is Kind.DRAFT:
            break
        tokens += segment.tokens
        if segment.kind is Kind.TOOL_CALLS:
            names = ", ".join(call.name for call in segment.use.calls)
            steps.insert(0, f"{names} ({window.figure(tokens)})")
            tokens = 0
    written = " → ".join((*steps, "this one"))
    return [one_line(f"step {window.step + 1}: {written}")] if steps else []


_NAMED = 4
"""The number of tools not offered that are named."""


def _tool_sentences(window: ContextWindow) -> list[str]:
    """List the tools that are not offered, with the reason and tokens of each, largest first."""
    left_out = sorted(window.others_of(Kind.TOOLS), key=lambda tool: -tool.tokens)
    if not left_out:
        return []
    total = sum(tool.tokens for tool in left_out)
    by_reason: dict[str, list[str]] = {}
    for tool in left_out[:_NAMED]:
        by_reason.setdefault(tool.reason, []).append(f"{tool.name} ({window.figure(tool.tokens)})")
    few = "; ".join(f"{reason}: {', '.join(names)}" for reason, names in by_reason.items())
    more = ", …" if left_out[_NAMED:] else ""
    not_offered = f"{plural(len(left_out), 'tool')} not offered"
    return [one_line(f"{not_offered}, {window.figure(total)} tokens, because {few}{more}")]


def _reranking_sentences(window: ContextWindow) -> list[str]:
    """For example: `reranked by tiny-1: 50 turns, 0.3 s, on this machine`."""
    reranking = window.reranking
    if reranking is None:
        return []
    model, why = one_line(reranking.model), one_line(reranking.fallback)
    took = f" ({duration(reranking.ms / 1000)})" if reranking.ms else ""
    if why:
        return [f"reranker {model}: {why}; ranking unchanged{took}"]
    ranked = len(window.shortlist.rows)
    of = f"{reranking.turns} of " if reranking.turns < ranked else ""
    took = f"{of}{plural(ranked, 'turn')}, {duration(reranking.ms / 1000)}, on this machine"
    return [f"reranked by {model}: {took}"]


def picking_sentences(window: ContextWindow) -> list[str]:
    """Describe the picker's model and cost, then the net saving; empty without a model.

    For example: `picked by small-1: 412 + 18 tokens, 0.4 s, cost unknown`.
    """
    picking = window.picking
    if picking is None:
        return []
    model, why = one_line(picking.model), one_line(picking.fallback)
    if not picking.ms:
        return [f"picker {model}: {why}; heuristic used"]
    if not spent(window):
        return [f"picker {model}: {why}; heuristic used (no tokens, {duration(picking.ms / 1000)})"]
    mark = mark_of(exact=picking.exact)
    counts = Figure(picking.input_tokens, mark), Figure(picking.output_tokens, mark)
    took = (
        f"{counts[0]} + {counts[1]} tokens, {duration(picking.ms / 1000)}, {cost_of(picking.cost)}"
    )
    if why:
        return [f"picker {model}: {why}; heuristic used ({took})", _net(window)]
    return [f"picked by {model}: {took}", _net(window), *picking_pays(window)]


def spent(window: ContextWindow) -> int:
    """Return the tokens spent on choosing the window's turns, in addition to its own tokens."""
    picking = window.picking
    return picking.input_tokens + picking.output_tokens if picking is not None else 0


def picking_pays(window: ContextWindow) -> list[str]:
    """Compare what picking cost with what it saves against the window chosen by scores.

    For example: `picking took 2,455 tokens to save 359 (of 1,310 by scores): it does not pay in
    tokens`. Empty if nothing was picked, or if the other window's size was not stored.
    """
    picking = window.picking
    if picking is None or picking.by_scores is None:
        return []
    took, saved = spent(window), picking.by_scores - window.counted
    mark = mark_of(exact=window.exact and picking.exact)
    more_or_less = Figure(abs(saved), mark)
    effect = f"to save {more_or_less}" if saved >= 0 else f"to send {more_or_less} more"
    verdict = "it pays" if saved >= took else "it does not pay in tokens"
    than = f"{'than' if saved < 0 else 'of'} {Figure(picking.by_scores, mark)}"
    return [f"picking took {Figure(took, mark)} tokens {effect} ({than} by scores): {verdict}"]


def _net(window: ContextWindow) -> str:
    """Compare the tokens spent on the picker's request with those that the window saves."""
    is_sure = window.is_sure and window.picking is not None and window.picking.exact
    mark = mark_of(exact=is_sure)
    saved, took = window.full_tokens - window.used, spent(window)
    spending = f"{Figure(took, mark)} spent on picking"
    against = f"{spending}, {Figure(saved, mark)} saved against full"
    net = f"{Figure(saved - took, mark)} net" if took <= saved else "it does not pay"
    return f"{against}: {net}"
