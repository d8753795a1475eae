"""Test runners: how each is recognised, made to report, counted, and given single files.

The rows in `rows/*.yaml` are the data. The modules here read the rows and the files of a project. They start
no process.
"""
