"""What is known about text as such: what may be shown, words, sentences, dates.

Pure functions on strings; nothing here knows what a turn is.
"""
