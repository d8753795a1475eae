"""Runs on many hosts: submitted to a database, claimed by workers, carried between hosts by git.

`records` has what sq needs of an engine, `dbos_engine` is the engine on DBOS, `ledger` sq's own tables
beside it. `transport` moves commits between a worker and the git server, `checkpoint` makes a commit of a
run's state, and a run of a commit. `unit` works on one submission with the means of its `host`, which runs sq
for it. `liveness` finds out which workers are gone, `worker` puts both together.
"""
