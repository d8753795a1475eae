"""Commands whose tests sq cannot count: honest work reaches code 0 by their exit code, and its twins do not."""

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from language.scripted import Done, Rehearse, completes, passes, whole_run, writes
from language.tables import table

from orchestrator.checks.objecting import WITHOUT_WORK
from state.journal import events as e
from state.outcome import Outcome

SPEC = "# Calculator\n\n- Add mul(a, b), which multiplies.\n- add goes on adding.\n"
WORKS: Mapping[str, Mapping[str, Any]] = table(__file__, "works")
FIRST = {"c with make", "a makefile alone", "a runner of its own"}
Built = Callable[..., Done]


def each() -> list[Any]:
    """Every work, most of them late, and none whose tools this machine lacks."""
    return [
        pytest.param(
            name,
            marks=[
                *([] if name in FIRST else [pytest.mark.late]),
                pytest.mark.skipif(not all(map(shutil.which, one["needs"])), reason=f"needs {one['needs']}"),
            ],
        )
        for name, one in WORKS.items()
    ]


@pytest.fixture
def built(rehearse: Rehearse, repository: Path, shell: Callable[..., str]) -> Built:
    def run(one: Mapping[str, Any], files: Mapping[str, str], work: Mapping[str, str], **flags: Any) -> Done:
        for path, text in files.items():
            (repository / path).parent.mkdir(parents=True, exist_ok=True)
            (repository / path).write_text(text)
            (repository / path).chmod(0o755 if text.startswith("#!") else 0o644)
        shell(repository, "git", "add", "--all")
        shell(repository, "git", "commit", "--quiet", "-m", "A calculator")
        done = [*(writes(path, text) for path, text in work.items()), *[completes()] * 3]
        verify = (one["verify"],) if "verify" in one else ()
        flags = {"spec": SPEC, "verify": verify, "ends": None, **flags}
        return rehearse(whole_run(worker=done, **{"reviewer/notes/*": [passes()] * 3}), **flags)

    return run


@pytest.mark.parametrize("name", each())
def test_honest_work_reaches_code_0_by_a_command_that_notices_it(built: Built, name: str) -> None:
    one = WORKS[name]
    done = built(one, one["files"], one["work"])
    assert done.outcome is Outcome.COMPLETE, done.output
    assert "number of tests unknown" in done.output
    begin = done.output.partition("analysis: ")[0]
    assert "its exit code counts and the run can end with code 0, and else with code 5" in begin, begin
    (answer,) = [one for one in done.of(e.ProofsTaken)[-1].proofs if one.check == WITHOUT_WORK]
    assert answer.by_exit_code, answer
    assert not [one for one in answer.functions if "test" in one], answer


@pytest.mark.parametrize("name", each())
@pytest.mark.late
def test_a_twin_whose_command_says_yes_whatever_the_work_does_is_not_believed(
    built: Built, name: str
) -> None:
    one = WORKS[name]
    twin = one.get("twin", {})
    work = {
        **{path: text for path, text in one["work"].items() if path not in twin},
        **one.get("twin_of_work", {}),
    }
    done = built(one, {**one["files"], **twin}, work)
    assert done.outcome is Outcome.UNVERIFIED, done.output


LINTED = table(__file__, "linted")
NODE = pytest.mark.skipif(not (shutil.which("node") and shutil.which("npm")), reason="needs node and npm")


@NODE
@pytest.mark.parametrize(
    ("scripts", "test", "outcome"),
    [
        ("one line", "honest", Outcome.COMPLETE),
        pytest.param("one line", "vacuous", Outcome.UNVERIFIED, marks=pytest.mark.late),
        pytest.param("two scripts", "honest", Outcome.COMPLETE, marks=pytest.mark.late),
        pytest.param("two scripts", "vacuous", Outcome.UNVERIFIED, marks=pytest.mark.late),
    ],
)
def test_the_work_is_taken_out_for_the_runner_alone_where_a_linter_stands_before_it(
    built: Built, scripts: str, test: str, outcome: Outcome
) -> None:
    done = linted(built, scripts, test)
    assert done.outcome is outcome, done.output
    for proofs in done.of(e.ProofsTaken):
        shown = [one for one in proofs.proofs if one.check == WITHOUT_WORK]
        assert bool(shown) is (test == "honest"), proofs
        assert all(one.functions and not one.small for one in shown), shown
        assert not [one for one in proofs.silent if one.check == WITHOUT_WORK], proofs


def linted(built: Built, scripts: str, test: str, **flags: Any) -> Done:
    package = {"name": "calc", "version": "1.0.0", "scripts": LINTED["scripts"][scripts]}
    files = {**LINTED["files"], "package.json": json.dumps(package)}
    work = {"calc.js": LINTED["calc.js"], "mul.test.js": LINTED[test]}
    return built({}, files, work, **flags)


@NODE
@pytest.mark.late
@pytest.mark.parametrize(
    ("effort", "outcome"), [("low", Outcome.COMPLETE), ("medium", Outcome.UNVERIFIED)], ids=str
)
def test_work_that_cannot_be_taken_out_costs_code_0_from_medium_on(
    built: Built, effort: str, outcome: Outcome
) -> None:
    done = linted(built, "tangled", "idle", effort=effort)
    assert done.outcome is outcome, done.output
    said = "sq could not check whether `npm test` fails without the work: no test ran (exit code 1: calc.js: style). A test"
    assert (said in done.output) is (outcome is Outcome.UNVERIFIED), done.output


@NODE
@pytest.mark.late
def test_it_does_not_if_another_question_shows_that_a_test_needs_the_work(built: Built) -> None:
    done = linted(built, "tangled", "honest")
    assert done.outcome is Outcome.COMPLETE, done.output


BUILT = table(__file__, "built")


@NODE
@pytest.mark.parametrize(
    ("build", "test", "outcome"),
    [
        ("npm run build", "honest", Outcome.COMPLETE),
        pytest.param("npm run build", "vacuous", Outcome.UNVERIFIED, marks=pytest.mark.late),
        pytest.param("", "honest", Outcome.COMPLETE, marks=pytest.mark.late),
        pytest.param("", "vacuous", Outcome.UNVERIFIED, marks=pytest.mark.late),
    ],
)
def test_work_is_taken_out_of_a_source_and_built_again_or_out_of_the_build_too(
    built: Built, build: str, test: str, outcome: Outcome
) -> None:
    package = BUILT["files"]["package.json"] if build else '{"scripts": {"test": "node --test test"}}'
    files = {**BUILT["files"], "package.json": package}
    done = built({}, files, {**BUILT["work"], "test/mul.test.js": BUILT[test]})
    assert done.outcome is outcome, done.output
    ran = {one.command for one in done.of(e.CommandStarted)}
    assert any(one.startswith("npm run build && ") for one in ran) is bool(build), ran


@pytest.mark.late
def test_a_command_that_notices_the_work_taken_out_alone_does_not_count(built: Built) -> None:
    one = WORKS["a script that has no function"]
    loose = 'set -e\ntest "$(sh calc.sh add 2 3)" = 5\ntest -n "$(sh calc.sh mul 2 3)"\n'
    done = built(one, one["files"], {**one["work"], "test.sh": loose})
    assert done.outcome is Outcome.UNVERIFIED, done.output
    assert "passes with each of these small changes in the work too: calc.sh:3: $2 * $3" in done.output


def test_documents_alone_need_no_command_that_notices_them(built: Built) -> None:
    files = WORKS["a script that has no function"]["files"]
    done = built({}, {**files, "Makefile": "test:\n\tsh test.sh\n"}, {"README.md": "make test\n"})
    assert done.outcome is Outcome.COMPLETE, done.output


def test_an_output_of_the_work_does_not_stay_where_the_work_is_taken_out(built: Built) -> None:
    rule = "out/{0}: src/{0}\n\tmkdir -p out\n\ttr a-z A-Z < src/{0} > out/{0}\n"
    check = '\ttest "$$(cat out/{0})" = {1}\n'
    base = rule.format("a") + "test: out/a\n" + check.format("a", "HELLO")
    work = rule.format("a") + rule.format("mul") + "test: out/a out/mul\n"
    files = {"Makefile": base, ".gitignore": "out/\n", "src/a": "hello\n", "src/mul": "world\n"}
    work += check.format("a", "HELLO") + check.format("mul", "WORLD")
    done = built({}, files, {"Makefile": work})
    assert done.outcome is Outcome.COMPLETE, done.output


@pytest.mark.late
@NODE
def test_a_committed_build_that_its_source_does_not_make_is_not_believed(built: Built) -> None:
    source = BUILT["work"]["src/calc.js"].replace("a * b", "a + b")
    done = built(
        {}, BUILT["files"], {**BUILT["work"], "src/calc.js": source, "test/mul.test.js": BUILT["honest"]}
    )
    assert done.outcome is Outcome.UNVERIFIED, done.output
    assert "so the source does not make that build" in done.output


PHP = pytest.mark.skipif(not shutil.which("phpunit"), reason="needs phpunit")
CMAKE = pytest.mark.skipif(not (shutil.which("cmake") and shutil.which("cc")), reason="needs cmake and cc")


@PHP
def test_several_files_of_a_runner_that_takes_one_are_counted_with_their_names(built: Built) -> None:
    test = "<?php\nuse PHPUnit\\Framework\\TestCase;\nrequire_once __DIR__ . '/../calc.php';\n"
    test += "final class {0}Test extends TestCase\n{{\n    public function test{0}(): void\n    {{\n        {1}\n    }}\n}}\n"
    add = "$this->assertSame(5, add(2, 3));"
    calc = "<?php\n\nfunction add(int $a, int $b): int\n{\n    return $a + $b;\n}\n"
    suite = '<phpunit><testsuites><testsuite name="all"><directory>tests</directory></testsuite></testsuites></phpunit>'
    files = {"phpunit.xml": suite, "calc.php": calc}
    files |= {f"tests/{one}Test.php": test.format(one, add) for one in ("Add", "More")}
    mul = "\nfunction mul(int $a, int $b): int\n{\n    return $a * $b;\n}\n"
    work = {
        "calc.php": calc + mul,
        "tests/MulTest.php": test.format("Mul", "$this->assertSame(6, mul(2, 3));"),
    }
    done = built({}, files, work)
    assert done.outcome is Outcome.COMPLETE, done.output


@pytest.mark.late
@CMAKE
def test_a_program_that_is_one_test_and_a_new_one_that_the_build_lists_end_complete(built: Built) -> None:
    lists = (
        "cmake_minimum_required(VERSION 3.13)\nproject(calc C)\nenable_testing()\nadd_library(calc calc.c)\n"
    )
    program = "add_executable({0} {0}.c)\ntarget_link_libraries({0} calc)\nadd_test(NAME {0} COMMAND {0})\n"
    test = "int {0}(int a, int b);\n\nint main(void)\n{{\n    return {0}(2, 3) == {1} ? 0 : 1;\n}}\n"
    calc = "int add(int a, int b)\n{\n    return a + b;\n}\n"
    files = {".gitignore": "build/\n", "CMakeLists.txt": lists + program.format("test_add"), "calc.c": calc}
    files["test_add.c"] = test.format("add", 5)
    work = {"CMakeLists.txt": files["CMakeLists.txt"] + program.format("test_mul")}
    work |= {
        "calc.c": calc + "\nint mul(int a, int b)\n{\n    return a * b;\n}\n",
        "test_mul.c": test.format("mul", 6),
    }
    done = built({}, files, work)
    assert done.outcome is Outcome.COMPLETE, done.output
