"""Keep Python's garbage collector from blocking the event loop.

A full collection visits every object: 100 ms with 10,000 turns open, several times while a reply
streams. The objects of an open conversation live as long as it is open, so there is nothing to
collect among them.
"""

import gc


def pause() -> None:
    """Collect nothing while the app is being loaded, until `freeze` is called."""
    gc.disable()


def freeze() -> None:
    """Exclude all current objects from collection, and enable it for new ones."""
    gc.freeze()
    gc.enable()


def unfreeze() -> None:
    """Include all objects in collection again, when another conversation is opened."""
    gc.unfreeze()
