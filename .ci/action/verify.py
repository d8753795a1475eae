"""The step of the mode `verify`: sq is asked about a pull request, without a token, a key or a cache.

The summary, the annotations and the artifacts say what it found. The work may be a stranger's.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from runner import OUT, asked, environment, put, say, tell, unheard

_OUTCOMES = {0: "complete", 1: "failed", 2: "usage", 5: "unverified", 130: "interrupted"}
_MOST = 10  # annotations that the service shows
_LONGEST = 1_000


def main() -> None:
    """Ask, and write the outputs `outcome`, `exit-code`, `job-code`, `report-path` and `bundle-path`."""
    OUT.mkdir(parents=True, exist_ok=True)
    files = {name: OUT / f"verify.{name}" for name in ("html", "json", "sarif", "md")}
    told = {"html": "--report", "json": "--bundle", "sarif": "--sarif", "md": "--summary"}
    options = [word for name, option in told.items() for word in (option, str(files[name]))]
    options += [
        word for line in asked("verify").splitlines() if line.strip() for word in ("--verify", line.strip())
    ]
    options += ["--spec", asked("spec")] if asked("spec") else []
    options += ["--within", asked("within")] if asked("within") else []
    command = ["sq", "verify", asked("range"), "--sandbox", "whole", "--json", *options]
    with unheard():
        say(f"sq asks about {asked('range')}")
        done = subprocess.run(command, env=environment(), stdout=subprocess.PIPE, text=True, check=False)
    code = done.returncode
    outcome = _OUTCOMES.get(code, "failed")
    put(outcome=outcome, exit_code=code, job_code=code)
    try:
        found = json.loads(done.stdout)
    except ValueError:
        tell("error", f"sq ended with exit code {code}, {outcome}: the log says why", title="sq verify")
        return
    for one in [each for each in found["objections"] if each["open"]][:_MOST]:
        _annotate(one)
    if files["md"].exists() and (summary := os.environ.get("GITHUB_STEP_SUMMARY")):
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(files["md"].read_text("utf-8"))
    put(report_path=str(files["html"]), bundle_path=str(files["json"]))


def _annotate(one: dict[str, Any]) -> None:
    """Show an objection at its line, if it has one."""
    file, _, line = one["place"].rpartition(":")
    at: dict[str, str | int] = {"file": file, "line": int(line)} if line.isdigit() else {"file": one["place"]}
    text = f"{one['says']}. {one['do']}"[:_LONGEST]
    tell("error" if one["against"] else "warning", text, title=one["check"], **at)


if __name__ == "__main__":
    main()
