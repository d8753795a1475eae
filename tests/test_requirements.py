"""The promises of `requirements.yaml`, checked both ways."""

import ast
import re
from functools import cache
from pathlib import Path

import click
import yaml

from orchestrator.cli.main import COMMANDS, cli
from state.settings.keys import KEYS

ROOT = Path(__file__).parents[1]
REGISTRIES = "orchestrator/project/readiness/registries.yaml"  # the one file that names hosts of registries
REQUIREMENTS = yaml.safe_load((ROOT / "tests" / "requirements.yaml").read_text())


@cache
def names_of_tests(file: str) -> set[str]:
    tree = ast.parse((ROOT / file).read_text())
    return {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    }


def is_there(test: str) -> bool:
    file, _, name = test.partition("::")
    return (ROOT / file).is_file() and name in names_of_tests(file)


def flags_of_the_program() -> set[str]:
    context = click.Context(cli)
    found = set()
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None
        found |= flags_of(name, command)
    return found


def flags_of(name: str, command: click.Command) -> set[str]:
    options = [one for one in command.params if isinstance(one, click.Option)]
    found = {f"{name} {max(one.opts, key=len)}" for one in options}
    inner = command.commands if isinstance(command, click.Group) else {}
    return found.union(*(flags_of(f"{name} {word}", one) for word, one in inner.items()))


def test_every_setting_is_linked_to_a_test_of_its_effect_and_no_other() -> None:
    assert set(REQUIREMENTS["settings"]) == set(KEYS)
    assert [test for test in REQUIREMENTS["settings"].values() if not is_there(test)] == []


def test_every_flag_of_the_program_is_linked_to_a_test_and_no_other() -> None:
    assert set(REQUIREMENTS["flags"]) == flags_of_the_program()
    assert [test for test in REQUIREMENTS["flags"].values() if not is_there(test)] == []


def test_every_lesson_is_linked_to_tests_that_exist() -> None:
    for lesson in REQUIREMENTS["lessons"]:
        assert lesson["tests"], lesson["lesson"]
        assert [test for test in lesson["tests"] if not is_there(test)] == []


def test_every_lesson_with_a_number_has_a_mutant() -> None:
    mutants = {one["lesson"] for one in yaml.safe_load((ROOT / "tests" / "mutants.yaml").read_text("utf-8"))}
    numbers = [one["number"] for one in REQUIREMENTS["lessons"] if "number" in one]
    flat = {number for one in numbers for number in (one if isinstance(one, list) else [one])}
    assert flat <= mutants


def test_every_mutant_changes_one_place_and_names_a_test_that_exists() -> None:
    for mutant in yaml.safe_load((ROOT / "tests" / "mutants.yaml").read_text("utf-8")):
        assert (ROOT / mutant["file"]).read_text("utf-8").count(mutant["was"]) == 1, mutant
        assert mutant["becomes"] != mutant["was"]
        assert is_there(mutant["test"].partition("[")[0]), mutant["test"]


def test_the_commands_document_has_exactly_the_commands_and_the_flags_there_are() -> None:
    document = (ROOT / "docs" / "commands.md").read_text()
    helps = dict(re.findall(r"^##+ sq ([a-z ]+)\n\n```\n(.*?)^```", document, re.MULTILINE | re.DOTALL))
    assert {name.split()[0] for name in helps} == set(COMMANDS)
    documented = {
        f"{name} {flag}"
        for name, text in helps.items()
        for flag in re.findall(r"^  (?:-\w, )?(--[a-z-]+)", text, re.MULTILINE)
        if flag != "--help"
    }
    assert documented == flags_of_the_program()


def test_the_exit_codes_in_documents_are_those_of_the_program() -> None:
    from state.outcome import EXIT_CODES, MEANINGS

    for name in ("README.md", "docs/commands.md"):
        document = (ROOT / name).read_text()
        for outcome, code in EXIT_CODES.items():
            assert f"| {code} | {outcome} | {MEANINGS[outcome]} |" in document


def test_the_repository_names_no_machine_and_no_registry() -> None:
    import subprocess

    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files"], capture_output=True, text=True, check=True)
    data = yaml.safe_load((ROOT / REGISTRIES).read_text("utf-8"))
    hosts = [host for row in data["ecosystems"].values() for host in row["hosts"]]
    assert len(hosts) > 15
    pattern = re.compile("|".join(["/(?:root|work)/", *map(re.escape, hosts)]))
    guilty = []
    for name in listed.stdout.split():
        path = ROOT / name
        if (
            path.is_file()
            and path not in {Path(__file__), ROOT / REGISTRIES}
            and pattern.search(path.read_text(errors="replace"))
        ):
            guilty.append(name)
    assert guilty == []
