"""A run at work in worktrees, as far as tests of merging and of tasks' places need one."""

import hashlib
from pathlib import Path

from language.beginnings import run_started

from orchestrator.run.places.worktrees import Worktrees
from state.journal.events.tasks import TaskView
from state.journal.view import RunView
from state.records.plan import Task

RUN = "20260101-000000-aaaa"


def write(folder, files):
    """Write files, remove them (None) or make links (a path); a pair is a content and a mode."""
    for name, given in files.items():
        path = folder / name
        content, mode = given if isinstance(given, tuple) else (given, None)
        if content is None:
            path.unlink()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Path):
            path.unlink(missing_ok=True)
            path.symlink_to(content)
        elif isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content)
        if mode is not None:
            path.chmod(mode)


class RunAtWork:
    """The worktrees of a run, and its tasks as far as these tests need them."""

    def __init__(self, project, folder, shell):
        self.project, self.shell = project, shell
        self.view = RunView()
        head = self.git("rev-parse", "HEAD")
        started = run_started(RUN, repository=str(project), worktrees=str(folder), base_commit=head)
        self.places = Worktrees(started=started)
        self.view.whole.commit = started.base_commit
        self.integration = folder / "run"

    def git(self, *arguments, folder=None):
        return self.shell(folder or self.project, "git", *arguments)

    def refs(self):
        return self.git("for-each-ref", "--format=%(refname)").split()

    def kept(self):
        """The refs that keep something of tasks, and what they keep."""
        form = "--format=%(refname) %(objectname)"
        listed = self.git("for-each-ref", form, f"refs/sq/{RUN}").splitlines()
        return {
            ref.removeprefix(f"refs/sq/{RUN}/"): commit for ref, commit in (one.split() for one in listed)
        }

    def files(self, folder):
        """What lies in a worktree, and what it holds."""
        paths = [path for path in folder.rglob("*") if path.is_file() and path != folder / ".git"]
        return {str(path.relative_to(folder)): path.read_text() for path in paths}

    def users(self):
        """Everything of the user's that no merge may touch, to the byte."""
        git = self.project / ".git"
        paths = [path for path in self.project.rglob("*") if path.is_file() and git not in path.parents]
        paths += [git / "index", git / "HEAD", git / "config", *(git / "refs" / "heads").glob("[!s]*")]
        found = {
            str(path): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
            for path in paths
        }
        return found, self.git("stash", "list"), (git / "MERGE_HEAD").exists()

    async def begun(self, id_="a"):
        """A task that has its place on the newest merged work."""
        task = TaskView(Task(id=id_, title=f"Task {id_}", description=""), attempt=1)
        place = await self.places.begin(self.view.tasks, self.view.whole, task)
        task.place.branch, task.place.worktree, task.place.base_commit = (
            place.branch,
            str(place.folder),
            place.base_commit,
        )
        self.view.tasks[id_] = task
        return task, place.folder

    async def commit(self, task, files):
        """Change files in a task's worktree, and commit them."""
        folder = await self.places.ensure(task, task.place.base_commit)
        write(folder, files)
        task.claim.committed_tree = await self.places.snapshot(folder)
        task.claim.commit = await self.places.commit(
            task, task.claim.committed_tree, f"Work on {task.task.id}"
        )
        return task

    async def sides(self, base, ours, theirs):
        """Two tasks that began on the same files: `a` is merged, `b` is committed and to be merged next."""
        if base:
            start, _ = await self.begun("start")
            await self.merge(await self.commit(start, base))
        tasks = [(await self.begun(id_))[0] for id_ in ("a", "b")]
        await self.merge(await self.commit(tasks[0], ours))
        return await self.commit(tasks[1], theirs)

    async def merge(self, task):
        """Merge a task that git can merge."""
        onto = self.view.whole.commit
        state = await self.places.begin_merge(task, onto)
        assert state.is_clean
        commit = await self.places.conclude_merge(task, onto, state.tree, f"Merge: {task.task.title}")
        await self.places.advance(commit, onto)
        task.merged_commit = self.view.whole.commit = commit
        self.view.whole.tree = state.tree
        return commit
