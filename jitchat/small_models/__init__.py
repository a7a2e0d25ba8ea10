"""Requests to small models, in addition to the model that replies. All of them are optional."""
