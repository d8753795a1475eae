"""The language of tests: a scripted model's words, whole runs of many tasks, states of a checkout, events.

pytest makes it importable, because the folder of `tests/conftest.py` is on its path.
"""
