"""Which hosts are the machine that asks. Pure: no name is looked up."""

import ipaddress
import socket
from contextlib import suppress


def is_this_machine(host: str) -> bool:
    """Whether a host's name or address means the machine that asks."""
    name = host.rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    with suppress(OSError, UnicodeError):  # 127.1 and the like
        name = socket.inet_ntoa(socket.inet_aton(name))
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None) or address
    return bool(mapped.is_loopback or mapped.is_unspecified)
