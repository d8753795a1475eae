"""Test runners: how each is recognised, made to report, counted, and given single files.

The rows in `rows/*.yaml` are the data; the modules here read them, and the files of a project. No process is
run.
"""
