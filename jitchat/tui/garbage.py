"""Keeping Python's garbage collector out of the event loop's way.

A full collection looks at every object there is: 100 ms with 10,000 turns open, several times
while a reply streams. What an open conversation holds is kept as long as it is open, so there
is nothing to find in it.
"""

import gc


def pause() -> None:
    """Collect nothing while the app is being loaded; `freeze` ends that."""
    gc.disable()


def freeze() -> None:
    """Look no more at what there is now, and collect again from what comes after."""
    gc.freeze()
    gc.enable()


def unfreeze() -> None:
    """Look at everything again, as another conversation takes the place of this one."""
    gc.unfreeze()
