"""Bundles on the command line: written, and checked by repeating what they say."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio

from orchestrator.cli.version import sq_version
from orchestrator.git.command import git, git_succeeds
from orchestrator.git.repository import find_repository
from orchestrator.git.workspace import tree_of
from orchestrator.verify.bundle import Bundle, RefusedError, environment_of, opened, packed, statement_of
from orchestrator.verify.formats import as_data
from orchestrator.verify.records import Asked, Tried
from orchestrator.views.screen import say, say_json
from state.errors import GitError, UsageError
from state.outcome import Outcome


def write_bundle(done: Tried, file: Path, key: Path | None) -> None:
    """Write the evidence for a commit as one file.

    Raises:
        UsageError: there is no commit to vouch for, or the file or the key cannot be used.
    """
    if not done.work.head:
        raise UsageError(
            "--bundle vouches for a commit, and --worktree asks about files in none: commit them"
        )
    data = {**as_data(done.work, done.view, done.judgement), "sq_version": sq_version()}
    found = environment_of(os.environ.get("PATH", os.defpath))
    try:
        file.write_bytes(packed(statement_of(data, found), key))
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}. Name another file") from error


def checked(
    file: Path, asked: Asked, signers: Path | None, *, run: Callable[[Asked], Tried], as_json: bool
) -> int:
    """Check a bundle: its signer, its trees, and all that it says, again and here. Return the exit code.

    Nothing of it is run: the commands are those of the base as it is here, in a whole sandbox. `run` asks the
    checks.
    """
    try:
        data = file.read_bytes()
    except OSError as error:
        raise UsageError(f"--check {file}: cannot be read: {error.strerror}") from error
    try:
        bundle = opened(data, signers or anyio.run(_signers_of, asked.folder))
        given = anyio.run(_range_of, bundle, asked.folder)
    except RefusedError as error:
        return _end(as_json=as_json, outcome=Outcome.FAILED, says=f"the bundle is refused: {error}")
    again = replace(
        asked,
        given=given,
        spec=str(bundle.predicate.get("spec", "")) or asked.spec,
        flags={**asked.flags, "sandbox": ("--check", "whole")},
        anew=True,
    )
    done = run(again)
    now = as_data(done.work, done.view, done.judgement)
    differences = _differences(bundle.predicate, now)
    outcome = done.judgement.outcome
    if differences:
        says = f"signed by {bundle.signer}, and not what is seen here: {'; '.join(differences)}"
        return _end(as_json=as_json, outcome=Outcome.FAILED, says=says, differences=differences)
    says = f"signed by {bundle.signer}, and the same is seen here: {now['says']}"
    return _end(as_json=as_json, outcome=outcome, says=says)


def _end(*, as_json: bool, outcome: Outcome, says: str, differences: list[str] | None = None) -> int:
    if as_json:
        held = {"outcome": str(outcome), "exit_code": outcome.exit_code, "says": says}
        say_json({"schema": "sq-verify-check/1", **held, "differences": differences or []})
    else:
        say(says)
    return outcome.exit_code


async def _signers_of(folder: Path) -> Path | None:
    """Return the file of allowed signers that git is told of."""
    root = (await find_repository(folder)).root
    try:
        named = await git(root, "config", "--type=path", "--get", "gpg.ssh.allowedSignersFile")
    except GitError:
        return None
    return Path(named) if named else None


async def _range_of(bundle: Bundle, folder: Path) -> str:
    """Return the commits of a bundle as a range, if they are here and have the trees that it names."""
    root = (await find_repository(folder)).root
    found = bundle.predicate
    for name in ("base", "work"):
        one: Any = found.get(name)
        commit, tree = (
            (str(one.get(key, "")) for key in ("commit", "tree")) if isinstance(one, dict) else ("", "")
        )
        if not await git_succeeds(root, "cat-file", "-e", "--end-of-options", f"{commit}^{{commit}}"):
            raise UsageError(f"the bundle is about {commit[:10]}, which is not in {root}: fetch it first")
        if await tree_of(root, commit) != tree:
            raise RefusedError(f"its {name} {commit[:10]} has another tree here")
    return f"{found['base']['commit']}..{found['work']['commit']}"


def _differences(then: Any, now: Any) -> list[str]:  # noqa: ANN401  JSON
    """Return how two results differ: the end, the commands, and each objection that only one has."""
    found = []
    commands = [sorted(one["command"] for one in each["commands"]) for each in (then, now)]
    if commands[0] != commands[1]:
        found.append(f"it ran {commands[0]}, and the base shows {commands[1]}")
    results = [{one["command"]: one["verdict"] for one in each["commands"]} for each in (then, now)]
    found += [
        f"`{one}` {results[0][one]} there, {results[1][one]} here"
        for one in sorted(set(results[0]) & set(results[1]))
        if results[0][one] != results[1][one]
    ]
    open_ = [
        {one["id"]: f"{one['check']}: {one['says']}" for one in each["objections"] if one["open"]}
        for each in (then, now)
    ]
    found += [f"only there: {open_[0][one]}" for one in sorted(set(open_[0]) - set(open_[1]))]
    found += [f"only here: {open_[1][one]}" for one in sorted(set(open_[1]) - set(open_[0]))]
    if then["exit_code"] != now["exit_code"]:
        found.append(f"exit code {then['exit_code']} there, {now['exit_code']} here")
    return found
