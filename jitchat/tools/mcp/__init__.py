"""Tool servers that speak the Model Context Protocol, through its official SDK.

The SDK takes a second to import and is an extra: only `connection` and `results` import it, and
only `server` imports these two, when a server is started.
"""
