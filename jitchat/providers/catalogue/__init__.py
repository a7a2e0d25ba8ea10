"""Providers and models: which exist, their context sizes, and their prices."""
