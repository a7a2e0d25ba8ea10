"""Distilled memory: what turns are made into, by what is built in, or by a model."""
