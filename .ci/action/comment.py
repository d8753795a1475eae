"""The step that says in the pull request how it ended: one comment, changed in place."""

import os
from itertools import count

from runner import ask, asked

_MARK = "<!-- sq:job -->"
_PAGE = 100


def main() -> None:
    """Write the comment. It holds no words of agents."""
    pull = int(asked("pull"))
    page_of = "{GITHUB_SERVER_URL}/{GITHUB_REPOSITORY}/actions/runs/{GITHUB_RUN_ID}".format_map(os.environ)
    run = f"Run {asked('run-id')}" if asked("run-id") else "sq"
    how = f"{asked('outcome')} (exit code {asked('exit-code')})"
    text = f"{_MARK}\n{run} ended {how}: [the job and its report]({page_of}).\n"
    author = ask(f"/pulls/{pull}")["user"]["login"]  # this account, as sq made it
    for page in count(1):
        found = ask(f"/issues/{pull}/comments?per_page={_PAGE}&page={page}")
        ours = [one for one in found if one["user"]["login"] == author and one["body"].startswith(_MARK)]
        if ours:
            ask(f"/issues/comments/{int(ours[0]['id'])}", {"body": text}, "PATCH")
            return
        if len(found) < _PAGE:
            break
    ask(f"/issues/{pull}/comments", {"body": text})


if __name__ == "__main__":
    main()
