"""Commands that never end: a runner that watches files, or a server in the place of tests."""

import re
from collections.abc import Mapping

from orchestrator.project.runners.suite import Suite

_OFF = ("--run", "--watch=false", "--watchAll=false", "--no-watch", "--single-run", "--singleRun")
_ON = re.compile(r"--(?:watch|watchAll|watch-all|continuous)(?:=true)?")
_SHORT = {"mocha": "-w", "ava": "-w", "tsc": "-w", "gradle": "-t", "gradlew": "-t", "tape": "-w"}
# Programs that wait for changes or requests, by themselves or by a word.
_ALONE = {"nodemon", "ptw", "pytest-watch", "watchexec", "entr", "guard", "live-server", "webpack-dev-server"}
_ROWS = (
    *("next nuxt astro vite wrangler gatsby remix: dev serve", "vitest: watch dev", "webpack: serve watch"),
    *("ng vue-cli-service hugo jekyll: serve server", "cargo dotnet: watch", "mix: test.watch phx.server"),
    *("rails: server s", "flask: run", "php: -S", "manage.py: runserver"),
)
_BY_WORD = {name: {*row.split(": ")[1].split()} for row in _ROWS for name in row.split(": ")[0].split()}
# Ends of an output that waits.
_WAITS = re.compile(
    r"(?:[Ww]atch Usage|[Pp]ress .{1,9} to (?:quit|exit|show)|[Ww](?:aiting|atching) for (?:file )?change"
    r"|Local:\s+https?://|\b(?:[Ll]istening|[Rr]unning|[Ss]erving|[Ss]tarted|[Rr]eady)\b.{0,40}"
    r"\b(?:https?://|port \d+)).*"
)
_LAST = 8  # lines


def never_ends(suite: Suite, environ: Mapping[str, str]) -> str:
    """Return the command of a suite that waits for changes or requests, and what would end it, or ""."""
    for run in suite.runs:
        words, name = run.simple.words, run.simple.name
        if any(off in words for off in _OFF):
            continue
        by_word = _BY_WORD.get(name, set()) & {*words[1:]} or (name == "vite" and len(words) == 1)
        watches = any(_ON.fullmatch(one) for one in words) or _SHORT.get(name, "") in words[1:]
        by_itself = (name == "react-scripts" and "test" in words) or (name == "karma" and "start" in words)
        if name in _ALONE or by_word or (watches and name not in {"grep", "kubectl"}):
            return (
                f"`{' '.join(words)}` waits for changes or requests: name its form that ends, such as `--run`"
            )
        if by_itself and not environ.get("CI"):
            return f"`{' '.join(words)}` watches files unless `CI=1` or `--watchAll=false` is set"
    return ""


def is_waiting(output: str) -> str:
    """Return the line at the end of an output in which a command says that it waits, or ""."""
    lines = [found[0].strip() for line in output.splitlines()[-_LAST:] if (found := _WAITS.search(line))]
    return lines[-1] if lines else ""
