"""Select rows of the hot index by time: days, hours, speaker and order are filters."""

import numpy as np
from numpy.typing import NDArray

from jitchat.index.columns import Columns
from jitchat.index.lexical import Places
from jitchat.text.time_filters import TimeFilter

Lengths = NDArray[np.uint32]


def rows_of(time_filter: TimeFilter, columns: Columns, lengths: Lengths, stop: int) -> Places:
    """Find the rows before row `stop` that match, best first.

    Rows of the likelier day come first, and within a day the longest turns; `lengths` is the number
    of stems in each row. If nothing was said at that time of day, any time on these days counts.
    If nothing was said on these days, the result is empty.
    """
    rows = _said_by(time_filter, columns, np.arange(stop))
    if time_filter.spans:
        rows = _said_then(time_filter, columns, lengths, rows)
    if time_filter.places:
        rows = _in_place(time_filter, columns, np.sort(rows))
    if time_filter.is_answer:
        rows = np.stack((rows + 1, rows), axis=1).ravel()
    if time_filter.is_event:
        rows = np.append(rows, np.flatnonzero(columns.speaking_of(time_filter.spans)))
    return _without_repeats(rows[rows < stop])


def _said_by(time_filter: TimeFilter, columns: Columns, rows: Places) -> Places:
    """Keep the rows by the role asked for, if turns are labelled with roles and not with names."""
    if time_filter.role and {time_filter.role} <= columns.speakers:
        return rows[columns.spoken_by([time_filter.role])[rows] > 0]
    return rows


def _said_then(time_filter: TimeFilter, columns: Columns, lengths: Lengths, rows: Places) -> Places:
    order = np.full(len(rows), len(time_filter.spans))
    for place, span in reversed(list(enumerate(time_filter.spans))):
        order[columns.said_in([span])[rows] > 0] = place
    rows, order = rows[order < len(time_filter.spans)], order[order < len(time_filter.spans)]
    if time_filter.hours is not None:
        within = columns.said_at_hours(rows, time_filter.hours)
        if len(within):
            kept = np.isin(rows, within)
            rows, order = rows[kept], order[kept]
    says = lengths[rows].astype(np.int64)
    return rows[np.lexsort((rows, -says, order))]


def _in_place(time_filter: TimeFilter, columns: Columns, rows: Places) -> Places:
    """Take the rows at the places asked for: first among questions, then among all rows."""
    found = list[int]()
    asking = rows[columns.flag("asks")[rows] > 0]
    known = [asking, rows] if time_filter.is_question and len(asking) else [rows]
    for among in known:
        places = (place for place in time_filter.places if -len(among) <= place < len(among))
        found += [int(among[place]) for place in places]
    return np.array(found, dtype=np.int64)


def _without_repeats(rows: Places) -> Places:
    return np.array(list(dict.fromkeys(rows.tolist())), dtype=np.int64)
