"""The questions that sq asks of a work, and the answers: it knows no run, no task, no agent and no journal.

It is asked about a `Change` on a `Bench`, so a run and a bare range of commits get the same answers.
"""
