"""Text processing: sanitizing, words, sentences, dates.

Pure functions on strings, independent of turns and conversations.
"""
