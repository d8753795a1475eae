"""The step that hands the work of a run over as a pull request."""

import json
import re
import subprocess
import sys

from runner import STATE, asked, environment, put, say, sq, tell, unheard

_MADE = re.compile(r"^pull request #(\d+) .*: (https?://\S+)$", re.MULTILINE)


def main() -> None:
    """Call `sq pr`, and write the outputs `number` and `url`. Without finished work there is none."""
    run = asked("run-id")
    if not json.loads(sq("report", run, "--format", "json"))["commits"]["commit"]:
        say(f"run {run} has no finished work, so there is no pull request")
        return
    words = ["sq", "pr", run, "--state-dir", str(STATE)]
    words += ["--base", asked("base")] if asked("base") else []
    words += ["--draft"] if asked("pr") == "draft" else []
    env, both = environment(with_token=True), subprocess.STDOUT
    done = subprocess.run(words, env=env, stdout=subprocess.PIPE, stderr=both, check=False, text=True)
    with unheard():
        say(done.stdout)
    if done.returncode or not (made := _MADE.search(done.stdout)):
        tell("error", f"the work of run {run} was not handed over: {done.stdout[-500:]}", title="sq pr")
        sys.exit(done.returncode or 1)
    put(number=made[1], url=made[2])


if __name__ == "__main__":
    main()
