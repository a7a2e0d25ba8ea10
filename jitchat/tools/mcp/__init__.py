"""Servers of tools that speak the Model Context Protocol, on its official SDK.

The SDK takes a second to import, and is an extra: only `connection` and `results` import it, and
only `server` imports these, when a server is started.
"""
