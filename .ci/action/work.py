"""The step that works: go on with a run that was restored, begin one, or follow a pull request.

A cache holds the state folder and, in it, the commits that only this job's repository has: refs and a pack.
"""

import json
import os
import subprocess
from pathlib import Path

from runner import STATE, asked, put, say, sq, work

_REFS, _PACK = STATE / "ci" / "refs", STATE / "ci" / "objects.pack"
_OURS = ("refs/heads/sq/", "refs/heads/sq-tasks/", "refs/sq/", "refs/sq-rescue/")


def main() -> None:
    """Work, and write the outputs `exit-code` and `run-id`."""
    _restore_commits()
    before = _runs()
    code, run = _work(before[-1] if before else "")
    new = [one for one in _runs() if one not in before]
    _keep_commits()
    put(exit_code=code, run_id=new[-1] if new else run)


def _work(newest: str) -> tuple[int, str]:
    """Return the exit code, and the run that it is of if none was begun."""
    budget = ["--budget", asked("budget")] if asked("budget") else []
    common = [*budget, "--sandbox", asked("sandbox") or "whole", "--plain"]
    played = ["--rehearse", asked("rehearse")] if asked("rehearse") else []
    if asked("work") == "follow":
        return work("follow", asked("pull"), *common, *played, with_token=True), newest
    lists = [word for one in _lines("models") for word in ("--model", one)]
    lists += [word for one in _lines("verify") for word in ("--verify", one)]
    if newest and _goes_on(newest):
        say(f"sq goes on with run {newest}, which an earlier job left")
        limits = [] if asked("budget") == "none" else budget
        return work("resume", newest, *limits, *common[len(budget) :], *lists, with_token=False), newest
    effort = ["--effort", asked("effort")] if asked("effort") else []
    spec = asked("spec")
    words = ["run", "--spec", spec, *effort, *common, *lists, *played, "--no-merge"]
    return work(*words, with_token=spec.startswith(("gh:", "https://"))), ""


def _lines(name: str) -> list[str]:
    return [line.strip() for line in asked(name).splitlines() if line.strip()]


def _runs() -> list[str]:
    return sorted(file.parent.name for file in STATE.glob("runs/*/journal.db"))


def _goes_on(run: str) -> bool:
    """Whether a run ended at a limit, by a signal, or not at all."""
    try:
        return json.loads(sq("report", run, "--format", "json"))["outcome"] in {None, "limit", "interrupted"}
    except subprocess.CalledProcessError:
        say(f"run {run} of an earlier job cannot be read, so sq begins anew")
        return False


def _git(*words: str, given: bytes | None = None) -> bytes:
    return subprocess.run(["git", *words], input=given, stdout=subprocess.PIPE, check=True).stdout


def _restore_commits() -> None:
    if not _REFS.is_file():
        return
    _git("unpack-objects", "-q", given=_PACK.read_bytes())
    Path(".git/worktrees").mkdir(exist_ok=True)  # which links of the runs lead to
    for line in _REFS.read_text("utf-8").splitlines():
        commit, _, name = line.partition(" ")
        look = ["git", "cat-file", "-e", f"{commit}^{{commit}}"]
        known = subprocess.run(look, check=False, capture_output=True)
        if name.startswith(_OURS) and known.returncode == 0:
            _git("update-ref", name, commit)


def _keep_commits() -> None:
    """Keep what no branch of the service has. What has been pushed is there again in a later checkout."""
    if not STATE.is_dir():
        return
    _PACK.parent.mkdir(mode=0o700, exist_ok=True)
    refs = _git("for-each-ref", "--format=%(objectname) %(refname)", *_OURS)
    theirs = _git("for-each-ref", "--format=^%(objectname)", "refs/remotes")
    wanted = b"".join(line.partition(b" ")[0] + b"\n" for line in refs.splitlines())
    _PACK.write_bytes(_git("pack-objects", "--revs", "--stdout", "-q", given=wanted + theirs))
    _REFS.write_bytes(refs)


if __name__ == "__main__":
    os.umask(0o077)
    if not os.environ.get("ANTHROPIC_API_KEY"):  # no input
        os.environ.pop("ANTHROPIC_API_KEY", None)
    main()
