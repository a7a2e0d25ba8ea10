"""Which hosts are the machine that asks. Pure: no name is looked up."""

import ipaddress
import socket


def is_this_machine(host: str) -> bool:
    """Whether a host's name or address means the machine that asks."""
    name = host.rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(_usual(name))
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None) or address
    return bool(mapped.is_loopback or mapped.is_unspecified)


def _usual(name: str) -> str:
    """Write 127.1 and the like as the addresses that they are."""
    try:
        return socket.inet_ntoa(socket.inet_aton(name))
    except (OSError, UnicodeError):
        return name
