"""Providers for any LLM: one pure translation per protocol, and one HTTP provider over httpx."""
