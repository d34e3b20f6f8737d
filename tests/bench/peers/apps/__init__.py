"""What each queue is told, in its own words: a module for each, with `send(number)`; run by that queue's own Python.

They read their settings at import, since the workers of others import an application and start it.
"""
