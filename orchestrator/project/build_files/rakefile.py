"""Reads the commands of a Rakefile's tasks, written in the usual ways."""

import re
from pathlib import Path

from orchestrator.project.build_files.step import ShellStep, text_of
from orchestrator.project.shell import Simple

_FILES = ("Rakefile", "rakefile", "Rakefile.rb", "rakefile.rb")
_TESTS = re.compile(r"(?:Rake::TestTask|Minitest::TestTask)\.(?:new|create)(?:[ (]+[:\"'](\w+))?")
_SPECS = re.compile(r"RSpec::Core::RakeTask\.new(?:[ (]+[:\"'](\w+))?")
_TASK = re.compile(
    r"^\s*(?:multi)?task[ (]+(?:[:\"']?(\w+)[\"']?(?::\s*|\s*=>\s*)(\[[^\]]*\]|%[iw]\[[^\]]*\]|"
    r"[:\"']\w+[\"']?)|[:\"'](\w+))",
    re.MULTILINE,
)
_SHELL = re.compile(r"^\s+(?:sh|system)[ (]+[\"']([^\"'\n]+)", re.MULTILINE)


def rake_steps(simple: Simple, folder: Path) -> list[ShellStep] | None:
    """Return the commands that a call of rake runs, or None if the Rakefile or a task in it is missing."""
    path = next((folder / name for name in _FILES if (folder / name).is_file()), None)
    if path is None:
        return None
    text = text_of(path)
    front = "bundle exec " if (folder / "Gemfile").is_file() else ""
    goals = [word for word in simple.positional(("-f", "-C", "-I", "-r")) if "=" not in word] or ["default"]
    steps: list[ShellStep] = []
    known = [_collect(goal, text, folder, front, steps, set()) for goal in goals]
    return steps if all(known) else None


def _collect(goal: str, text: str, folder: Path, front: str, steps: list[ShellStep], seen: set[str]) -> bool:
    if goal in seen:
        return True
    seen.add(goal)
    if goal in {found[1] or "test" for found in _TESTS.finditer(text)}:
        steps.append(
            ShellStep(line=f"{front}minitest", folder=folder, choose=f"{front}rake {goal} TEST={{files}}")
        )
        return True
    if goal in {found[1] or "spec" for found in _SPECS.finditer(text)}:
        steps.append(ShellStep(line=f"{front}rspec", folder=folder))
        return True
    known = False
    for found in _TASK.finditer(text):
        if (found[1] or found[3]) == goal:
            needs = re.findall(r"\w+", re.sub(r"^%[iw]", "", found[2] or ""))
            followed = [_collect(need, text, folder, front, steps, seen) for need in needs]
            known = all(followed)
            body = text[found.end() : (text.find("\nend", found.end()) + 1) or found.end()].split(
                "\ntask", maxsplit=1
            )[0]
            steps.extend(
                ShellStep(line=call[1], folder=folder) for call in _SHELL.finditer(body) if "do" in body[:80]
            )
    return known
