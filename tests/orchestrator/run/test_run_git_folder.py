"""A run whose Worker changes the git folder: sq runs nothing of it, and says so."""

from collections.abc import Callable
from pathlib import Path

from language.scripted import Rehearse, call, completes, says, whole_run, writes

from state.journal import events as e
from state.outcome import Outcome

Shell = Callable[..., str]


def planting(mark: Path) -> str:
    """Return a command that plants a hook and a filter, and then another repository in place of the worktree's."""
    return (
        'common=$(cd "$(git rev-parse --git-common-dir)" && pwd); mkdir -p "$common/hooks"; '
        f"printf '#!/bin/sh\\ntouch {mark}\\n' > \"$common/hooks/post-index-change\"; "
        'chmod +x "$common/hooks/post-index-change"; '
        f'printf \'[filter "evil"]\\n\\tclean = touch {mark} && cat\\n\' >> "$common/config"; '
        "echo '* filter=evil' > .gitattributes; cp \"$common/config\" keep; "
        "rm .git; mkdir -p .git/objects .git/refs; echo 'ref: refs/heads/main' > .git/HEAD; mv keep .git/config"
    )


def test_what_a_worker_plants_is_not_run_and_is_named(
    rehearse: Rehearse, repository: Path, tmp_path: Path, shell: Shell
) -> None:
    mark = tmp_path / "ran"
    done = rehearse(
        whole_run(
            worker=[says(call("Bash", command=planting(mark))), writes("notes.txt", "A line.\n"), completes()]
        ),
        settings={"sandbox": "off"},
        ends=Outcome.UNVERIFIED,  # there is nothing to verify with
    )
    assert not mark.exists()
    named = done.of(e.GitFolderChanged)[-1].paths
    assert {Path(path).name for path in named} == {"config", "post-index-change", ".git"}
    assert done.output.count("changed during the run, by an agent or by you") >= 2
    (kept,) = done.of(e.WorkKept)
    assert "notes.txt" in shell(repository, "git", "ls-tree", "-r", "--name-only", kept.branch).split()
