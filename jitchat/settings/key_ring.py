"""The system's keyring, where the optional package `keyring` is installed.

Its backends fail in ways of their own (no session, locked, refused): then there is no key.
"""

from __future__ import annotations

from types import ModuleType

from jitchat.errors import JitchatError
from jitchat.settings.rules import Secret

_SERVICE = "jitchat"


def key_from_ring(name: str) -> Secret:
    """Look up a provider's key; empty where there is none, or no keyring."""
    ring = _ring()
    if ring is None:
        return Secret()
    try:
        return Secret((ring.get_password(_SERVICE, name) or "").strip())
    except Exception:  # noqa: BLE001  a backend's own failure, whatever it is, is no key
        return Secret()


def put_into_ring(name: str, key: Secret) -> None:
    """Store a provider's key.

    Raises:
        JitchatError: There is no keyring, or it does not take it.

    """
    ring, why = _ring(), "the package keyring is not installed"
    if ring is not None:
        try:
            ring.set_password(_SERVICE, name, str(key))
        except Exception as error:  # noqa: BLE001  see key_from_ring; its words may hold the key
            why = f"it refused ({type(error).__name__})"
        else:
            return
    raise JitchatError(
        f"The key was not stored in the keyring: {why}.",
        "Without --keyring it is stored in a file; `pip install 'jitchat[keyring]'` adds keyrings.",
    )


def remove_from_ring(name: str) -> bool:
    """Forget a provider's key; whether there was one."""
    ring = _ring()
    if ring is None or not key_from_ring(name):
        return False
    try:
        ring.delete_password(_SERVICE, name)
    except Exception:  # noqa: BLE001  see key_from_ring
        return False
    return True


def _ring() -> ModuleType | None:
    try:
        import keyring  # noqa: PLC0415  optional, and 55 to 100 ms
    except ImportError:
        return None
    return keyring  # type: ignore[no-any-return]  # it has no types where it is not installed
