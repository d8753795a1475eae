"""Other languages: how their tests are run, from the manifest of each or the place of its tests."""

import json
import os
import re
import shlex
from collections.abc import Iterator

from orchestrator.project.detection.ways import Way
from orchestrator.project.files import Shown

# A folder for build results that git never sees, and that is removed with the worktree.
_BUILT = '"$(git rev-parse --absolute-git-dir)/sq-build"'
_IGNORED_BUILD = re.compile(r"^/?(?:\*\*/)?build[*]?/?\s*$", re.MULTILINE)
_CMAKE_TESTS = re.compile(
    r"^\s*(?:enable_testing|add_test|include\s*\(\s*CTest)", re.MULTILINE | re.IGNORECASE
)
_RAKE_TEST = re.compile(r"TestTask|^\s*task\s*\(?\s*:?['\"]?test\b|RSpec::Core::RakeTask", re.MULTILINE)
_RUBY_TESTS = 'ruby -Ilib -Itest -e \'Dir["test/**/*_test.rb"].sort.each { |name| require "./#{name}" }\''
# Manifests that show by themselves how the tests of a project are run.
_PLAIN = {
    "Cargo.toml": "cargo test",
    "go.mod": "go test ./...",
    "build.sbt": "sbt test",
    "project.clj": "lein test",
    "mix.exs": "mix test",
    "Package.swift": "swift test",
    "MODULE.bazel": "bazel test //...",
    "WORKSPACE.bazel": "bazel test //...",
    "WORKSPACE": "bazel test //...",
    "stack.yaml": "stack test",
}


def language_ways(shown: Shown) -> list[Way]:
    """Return the commands that the manifests and the tests of a folder show, for languages but Python."""
    found: dict[str, Way] = {}
    for way in _all(shown):
        found.setdefault(way.command, way)
    return list(found.values())


def _all(shown: Shown) -> Iterator[Way]:
    for name, command in _PLAIN.items():
        if shown.has(name):
            yield Way(command=command, source=name)
    for read in (_jvm, _dotnet, _ruby, _php, _native, _scripts, _others):
        yield from read(shown)


def _jvm(shown: Shown) -> Iterator[Way]:
    if shown.has("pom.xml"):
        yield Way(command=f"{_wrapper(shown, 'mvnw', 'mvn')} -q test", source="pom.xml")
    elif name := shown.first("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"):
        yield Way(command=f"{_wrapper(shown, 'gradlew', 'gradle')} test", source=name)


def _wrapper(shown: Shown, wrapper: str, program: str) -> str:
    if not shown.has(wrapper):
        return program
    return f"./{wrapper}" if os.access(shown.folder / wrapper, os.X_OK) else f"sh {wrapper}"


def _dotnet(shown: Shown) -> Iterator[Way]:
    solutions = shown.at_top(".sln", ".slnx")
    projects = (".csproj", ".fsproj", ".vbproj")
    if len(solutions) == 1 or (not solutions and shown.at_top(*projects)):
        yield Way(command="dotnet test", source=(solutions or shown.at_top(*projects))[0])
        return
    tested = [name for name in shown.ending(*projects) if "test" in name.lower()]
    for name in solutions or [name for name in tested if name.count("/") <= 2]:  # noqa: PLR2004  folders deep
        yield Way(command=shlex.join(["dotnet", "test", name]), source=name)


def _ruby(shown: Shown) -> Iterator[Way]:
    bundle = "bundle exec " if shown.has("Gemfile") else ""
    rakefile = shown.first("Rakefile", "rakefile", "Rakefile.rb")
    if shown.ending("_spec.rb", under="spec/"):
        yield Way(command=f"{bundle}rspec", source=shown.first(".rspec") or "spec/")
    if not (tests := shown.ending("_test.rb", under="test/") + shown.ending(".rb", under="test/test_")):
        return
    if shown.has("bin/rails"):
        yield Way(command="bin/rails test", source="bin/rails")
    elif _RAKE_TEST.search(shown.text(rakefile)):
        yield Way(command=f"{bundle}rake test", source=rakefile)
    elif tests[0].endswith("_test.rb"):
        yield Way(command=bundle + _RUBY_TESTS, source=tests[0])


def _php(shown: Shown) -> Iterator[Way]:
    composer = shown.text("composer.json")
    try:
        scripts = json.loads(composer).get("scripts")
        script = scripts.get("test") if isinstance(scripts, dict) else None
    except (ValueError, AttributeError, RecursionError):
        script = None
    if script:
        lines = tuple(str(line) for line in (script if isinstance(script, list) else [script]))
        yield Way(command="composer test", source="composer.json", lines=lines, own=True, one_language=True)
    elif shown.has("tests/Pest.php") or '"pestphp/pest"' in composer:
        yield Way(command="vendor/bin/pest", source=shown.first("tests/Pest.php", "composer.json"))
    elif name := shown.first("phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"):
        yield Way(command="vendor/bin/phpunit" if composer else "phpunit", source=name)


def _native(shown: Shown) -> Iterator[Way]:
    built = "build" if _IGNORED_BUILD.search(shown.text(".gitignore")) else _BUILT
    if _CMAKE_TESTS.search(shown.text("CMakeLists.txt")):
        command = (
            f"cmake -S . -B {built} && cmake --build {built} && ctest --test-dir {built} --output-on-failure"
        )
        yield Way(command=command, source="CMakeLists.txt")
    elif re.search(r"^\s*test\s*\(", _with_parts(shown, "meson.build"), re.MULTILINE):
        made = f"{{ test -d {built}/meson-info || meson setup {built}; }}"
        yield Way(command=f"{made} && meson test -C {built}", source="meson.build")
    if re.search(r'\.step\(\s*"test"', shown.text("build.zig")):
        yield Way(command="zig build test", source="build.zig")


def _with_parts(shown: Shown, name: str) -> str:
    """Return the texts of a build file and of those in folders below, which may hold the tests."""
    if not shown.has(name):
        return ""
    return "\n".join(map(shown.text, [name, *shown.ending(f"/{name}")[:20]]))


def _scripts(shown: Shown) -> Iterator[Way]:
    if tests := shown.ending(".t", under="t/"):
        yield Way(command="prove -lr t", source=tests[0])
    if tests := shown.ending(".bats"):
        folders = sorted({name.rpartition("/")[0] or "." for name in tests})
        yield Way(command=shlex.join(["bats", *folders]), source=tests[0])


def _others(shown: Shown) -> Iterator[Way]:
    if not shown.has("stack.yaml") and (name := [*shown.at_top(".cabal"), *shown.at_top("cabal.project")]):
        yield Way(command="cabal test all", source=name[0])
    if shown.has("pubspec.yaml") and shown.ending("_test.dart", under="test/"):
        flutter = re.search(r"^\s+sdk:\s*flutter\b", shown.text("pubspec.yaml"), re.MULTILINE)
        yield Way(command=f"{'flutter' if flutter else 'dart'} test", source="pubspec.yaml")
    if re.search(r":test\s*\{", shown.text("deps.edn")):
        yield Way(command="clojure -M:test", source="deps.edn")
