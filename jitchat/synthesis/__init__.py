"""Distilled memory: observations, facts and documents, made by built-in rules or by a model."""
