"""What `bench observe` measured → the JSON that is kept, and the table that is read."""

from dataclasses import asdict

from rich.table import Table

from jitchat.bench.observation import ObservedScores
from jitchat.bench.output import plain_table
from jitchat.bench.proportions import wilson

_COLUMNS = ("questions", "asked", "observe", "recency, as many tokens")
_ABOUT = (
    "Shares of questions whose answer's words stand in the window, in text of the turn that holds"
    " them; below, the 95 % interval (Wilson). Evidence held is not an answer given."
)


def observe_fields(scores: ObservedScores, limit: int, observer: str) -> dict[str, object]:
    return {"limit": limit, "observer": observer} | asdict(scores)


def observe_table(title: str, scores: ObservedScores) -> Table:
    rows = [
        [name.replace("_", " "), f"{asked:,}", _share(held, asked), _share(last, asked)]
        for name, (asked, held, last) in scores.categories.items()
    ]
    asked = scores.asked
    rows.append(["all", f"{asked:,}", _share(scores.held, asked), _share(scores.recency, asked)])
    observed = scores.observed_asked
    rows.append(["of observed turns", f"{observed:,}", _share(scores.observed_held, observed), ""])
    return plain_table(title, _COLUMNS, rows, _ABOUT)


def observe_lines(scores: ObservedScores, limit: int) -> list[str]:
    """Say in lines what the windows were like."""
    return [
        f"windows of {limit:,}: {scores.largest:.1%} of the limit at the most, 95 % of them up to"
        f" {scores.p95:.1%}; turns and observations alone {scores.largest_history:.1%}",
        f"{scores.conversations:,} conversations, {scores.turns:,} turns: {scores.passes:,} passes,"
        f" {scores.reflections:,} reflections; in {scores.fallbacks:,} a window did not fit until"
        f" turns were observed at once; {scores.overflows:,} windows did not fit at all",
        f"observations at the end: {scores.compression:.1f} times smaller than their turns",
    ]


def _share(part: int, whole: int) -> str:
    if not whole:
        return ""
    low, high = wilson(part, whole)
    return f"{part / whole:.1%}\n{low:.1%}–{high:.1%}"
