"""The user's uncommitted work is copied, scrambled by commands, and put back: the same bytes, the same index."""

import shutil
from pathlib import Path

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from language.dirty_states import (
    ON_A_PATH,
    ON_ALL,
    STATES,
    TARGETS,
    bash,
    quoted,
    seen,
    template,
    users_paths,
)
from language.sampled import examples

from orchestrator.git.users.backup import read_backup, take_backup
from orchestrator.git.users.ignored import changed_ignored, keep_ignored, put_ignored_back
from orchestrator.git.users.restoring import restore

RUN = "20260101-000000-aaaa"
REF = f"refs/sq/{RUN}/users.work"


async def copied_and_put_back(project: Path, folder: Path, scramble: str) -> list[str]:
    head = bash(project, "git rev-parse HEAD")[1].decode().strip()
    backup = await take_backup(project, ref=REF, parent=head, leave_out=[])
    ignored = await keep_ignored(project, folder / "ignored", leave_out=[])
    paths = users_paths(project)
    before = seen(project, paths)
    bash(project, scramble, GIT_REFLOG_ACTION="sq-agent")
    again = await read_backup(project, backup.commit)
    assert again == backup
    await restore(project, again, ref=f"refs/sq/{RUN}/users.beside", aside=folder / "aside")
    put_ignored_back(project, folder / "ignored", changed_ignored(project, ignored))
    after = seen(project, paths)
    once_more = await restore(project, again, ref=f"refs/sq/{RUN}/users.beside", aside=folder / "aside")
    assert once_more.is_nothing, once_more
    return [key for key in before if before[key] != after.get(key)]


_template: list[Path] = []


@given(
    states=st.sets(st.sampled_from(sorted(STATES)), min_size=1, max_size=6),
    steps=st.lists(
        st.one_of(
            st.tuples(st.sampled_from(ON_A_PATH), st.sampled_from(TARGETS)),
            st.tuples(st.sampled_from(ON_ALL), st.just("")),
        ),
        min_size=1,
        max_size=5,
    ),
)
@pytest.mark.night
@settings(max_examples=examples(12, at_night=40), suppress_health_check=list(HealthCheck))
@pytest.mark.late
def test_whatever_was_done_to_it_the_users_work_is_as_it_was_to_the_byte_and_so_is_the_index(
    states, steps, tmp_path_factory
):
    folder = tmp_path_factory.mktemp("users-work")
    if not _template:
        _template.append(template(tmp_path_factory.mktemp("template")))
    project = folder / "project"
    shutil.copytree(_template[0], project, symlinks=True)
    for state in sorted(states):
        code, _, said = bash(project, STATES[state])
        assert code == 0, said
    scramble = "\n".join(step.format(quoted(path)) for step, path in steps)
    try:
        different = anyio.run(copied_and_put_back, project, folder, scramble)
        assert different == [], scramble
    finally:
        shutil.rmtree(folder, ignore_errors=True)
