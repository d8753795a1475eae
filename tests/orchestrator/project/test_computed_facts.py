"""Dependencies and public names, computed from texts of many ecosystems and languages."""

from contextlib import suppress

import pytest

from orchestrator.project.build_files.manifests import dependencies_in, dependency_changes
from orchestrator.project.functions.public import name_changes, public_names

MANIFESTS = {
    "pyproject.toml": ('[project]\ndependencies = ["A_b>=1", "c[x]"]\n[project.optional-dependencies]\nt = ["d"]\n[dependency-groups]\ndev = ["e", {include-group = "t"}]\n[build-system]\nrequires = ["f"]\n[tool.poetry.group.x.dependencies]\npython = "^3"\ng = {version = "1"}\n', "a-b c d e g"),
    "requirements-dev.txt": ("# x\n-r other.txt\na==1.0 \\\n    --hash=sha256:1\nB.c ; python_version > '3'\nd @ https://x\n", "a b-c d"),
    "setup.cfg": ("[options]\ninstall_requires =\n    a>1\n    b\n[options.extras_require]\nt = c\n", "a b c"),
    "setup.py": ("from setuptools import setup\nsetup(install_requires=['a>1'], extras_require={'t': ['b']})\n", "a b"),
    "Pipfile": ("[packages]\na = '*'\n[dev-packages]\nb = '*'\n", "a b"),
    "Pipfile.lock": ('{"default": {"a": {"version": "1"}}, "develop": {"b": {}}}', "a b"),
    "uv.lock": ('[[package]]\nname = "own"\nsource = {editable = "."}\n[[package]]\nname = "a"\nsource = {registry = "r"}\n', "a"),
    "poetry.lock": ('[[package]]\nname = "a"\nversion = "1"\n', "a"),
    "package.json": ('{"dependencies": {"@x/a": "1"}, "devDependencies": {"b": "2"}}', "@x/a b"),
    "package-lock.json": ('{"packages": {"": {"name": "own"}, "packages/own": {}, "node_modules/a": {"version": "1"}, "node_modules/a/node_modules/@x/b": {}, "node_modules/own": {"link": true}}}', "a @x/b"),
    "yarn.lock": ('# yarn\n\n"@x/a@^1", "@x/a@^2":\n  version "1"\n\nb@^1:\n  version "1"\n', "@x/a b"),
    "pnpm-lock.yaml": ("lockfileVersion: '9.0'\npackages:\n\n  a@1.0.0:\n    resolution: {}\n\n  '@x/b@2.0.0':\n    resolution: {}\n", "a @x/b"),
    "Cargo.toml": ('[dependencies]\na = "1"\nr = {package = "b", version = "2"}\n[target.x.dev-dependencies]\nc = "1"\n', "a b c"),
    "Cargo.lock": ('[[package]]\nname = "own"\nversion = "1"\n[[package]]\nname = "a"\nsource = "registry"\n', "a"),
    "go.mod": ("module x.org/own\n\ngo 1.20\n\nrequire x.org/a v1.0.0\n\nrequire (\n\tx.org/b/v2 v2.0.0\n\tx.org/c v1.0.0 // indirect\n)\n", "x.org/a x.org/b/v2 x.org/c"),
    "pom.xml": ('<project xmlns="http://maven.apache.org/POM/4.0.0"><dependencies><dependency><groupId>g</groupId><artifactId>a</artifactId></dependency><!-- <dependency><artifactId>no</artifactId></dependency> --></dependencies></project>', "g:a"),
    "build.gradle": ("dependencies {\n    implementation 'g:a:1'\n    testImplementation(\"g:b:1\")\n    api libs.c\n}\nplugins { \n  id 'p' version '1'\n}\n", "g:a g:b libs.c p"),
    "gradle/libs.versions.toml": ('[versions]\nv = "1"\n[libraries]\na = {module = "g:a", version.ref = "v"}\nb = {group = "g", name = "b"}\nc = "g:c:1"\n', "g:a g:b g:c"),
    "Gemfile": ("source 'x'\ngem 'a', '~> 1'\n  gem \"b\"\n", "a b"),
    "x.gemspec": ("spec.add_dependency 'a', '>= 1'\nspec.add_development_dependency(\"b\")\n", "a b"),
    "Gemfile.lock": ("GEM\n  specs:\n    a (1.0)\n      b (>= 1)\n", "a"),
    "composer.json": ('{"require": {"php": ">=8", "ext-json": "*", "x/a": "1"}, "require-dev": {"x/b": "1"}}', "x/a x/b"),
    "composer.lock": ('{"packages": [{"name": "x/a"}], "packages-dev": [{"name": "x/b"}]}', "x/a x/b"),
    "A.csproj": ('<Project><ItemGroup><PackageReference Include="A" Version="1" /><PackageReference Include="B"><Version>2</Version></PackageReference></ItemGroup></Project>', "A B"),
    "Directory.Packages.props": ('<Project><ItemGroup><PackageVersion Include="A" Version="1"/></ItemGroup></Project>', "A"),
    "packages.config": ('<packages><package id="A" version="1" /></packages>', "A"),
}  # fmt: skip


@pytest.mark.parametrize("path", MANIFESTS)
def test_a_manifest_names_dependencies(path: str) -> None:
    text, wanted = MANIFESTS[path]
    assert sorted(name for name, _ in dependencies_in(path, text)) == sorted(wanted.split())


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("pyproject.toml", "[project\n"),
        ("package.json", '{"dependencies": '),
        ("package.json", "[" * 100_000),
        ("pom.xml", '<!DOCTYPE x [<!ENTITY a "b">]><project/>'),
        ("pom.xml", "<project>"),
        ("setup.py", "setup(install_requires=read())"),
        ("setup.cfg", "no section"),
    ],
)
def test_a_broken_or_hostile_manifest_could_not_be_read(path: str, text: str) -> None:
    assert dependency_changes({}, {path: text}).unread == (path,)


@pytest.mark.parametrize(
    "text", ['{"dependencies": [1], "packages": 3}', "[]", "null", '{"dependencies": {"a": null}}']
)
def test_an_odd_manifest_is_read_as_far_as_it_names_something(text: str) -> None:
    assert dependency_changes({}, {"package.json": text}).unread == ()


def test_dependencies_are_added_removed_changed_or_only_locked() -> None:
    before = {"package.json": '{"dependencies": {"a": "1", "b": "1", "c": "1"}}', "vendor/package.json": "{"}
    after = {
        "package.json": '{"dependencies": {"a": "2"}}',
        "packages/x/package.json": '{"dependencies": {"c": "1", "d": "1"}}',
        "package-lock.json": '{"packages": {"node_modules/e": {}, "node_modules/b": {}}}',
    }
    found = dependency_changes(before, after)
    assert (found.added, found.removed, found.changed, found.locked) == (("d",), ("b",), ("a",), ("e",))


SOURCES = {
    "a.py": ("X = 1\n_y = 2\ndef f(a, b=1, *c, d: int = 2, **e): pass\ndef _g(): pass\nclass A:\n    def m(self, x):\n        def inner(): pass\nclass _B:\n    def q(self): pass\n", "X f(a, b?, c, d?, e) A A.m(x)"),
    "__init__.py": ('__all__ = ["f", "g"]\nfrom a import g\ndef f(a): pass\ndef h(): pass\n', "f(a) f g"),
    "a.go": ("package a\nfunc F(a, b int) error { return nil }\nfunc g() {}\ntype T struct{}\nfunc (t *T) M(x int) {}\nconst C = 1\n", "F(a, b) T T.M(x) C"),
    "a.rs": ("pub fn f(a: i32) {}\nfn g() {}\npub struct S;\nimpl S { pub fn m(&self, x: u8) {} fn n(&self) {} }\npub(crate) fn h() {}\n", "f(a) S S.m(x)"),
    "A.java": ("public class A { public int f(int a, String b) { return 1; } private void g() {} }", "A A.f(a, b)"),
    "a.ts": ("export function f(a: number, b?: string) {}\nfunction g() {}\nexport const k = (x) => x;\nexport class A { m(a) {} private n() {} }\n", "f(a, b?) k k(x) A A.m(a)"),
    "a.js": ("function f(a) {}\nfunction g() {}\nmodule.exports = { f };\n", "f(a)"),
    "a.c": ("int f(int a, char *b) { return 0; }\nstatic int g(void) { return 1; }\n", "f(a, b)"),
    "A.cs": ("namespace N { public class A { public int F(int a) { return 1; } private int G() => 1; } }", "N.A N.A.F(a)"),
    "a.rb": ("class A\n  def f(a, b = 1)\n  end\nend\n", "A A.f(a, b?)"),
    "a.php": ("<?php\nfunction f($a, $b = 1) {}\nclass A { private function n() {} }\n", "f(a, b?) A"),
    "a.kt": ("fun f(a: Int, b: Int = 1): Int { return 1 }\nclass A {\n    fun m(x: Int) {}\n    private fun n() {}\n}\n", "f(a, b?) A A.m(x)"),
    "a.swift": ("public func f(_ a: Int) -> Int { return 1 }\nfunc g() {}\n", "f(a)"),
    "a.sh": ("f() { echo; }\n_g() { echo; }\n", "f()"),
}  # fmt: skip


@pytest.mark.parametrize("file", SOURCES)
def test_the_public_names_of_a_source_are_those_that_others_can_use(file: str) -> None:
    text, wanted = SOURCES[file]
    found = [f"{name}{signature}" for name, signature in public_names(file, text.encode())]
    assert " ".join(found) == wanted


def test_public_names_are_added_removed_or_have_other_parameters() -> None:
    before = {"a.py": b"def f(a): pass\ndef g(): pass\ndef h(x): pass\n", "b.go": b"package b\nfunc F() {}\n"}
    after = {
        "a.py": b"def f(a, b): pass\ndef h(x: int) -> None: pass\n",
        "c.go": b"package b\nfunc F() {}\n",
        "d.py": b"def (\n",
    }
    found = name_changes(before, after)
    assert found.changed == ("a.py: f(a) is now (a, b)",)
    assert (found.removed, found.added, found.unread) == (("a.py: g",), (), ("d.py",))


ODD = [
    "-" * 50_000 + "1",
    "(" * 50_000,
    "[" * 50_000 + "]" * 50_000,
    "<a>" * 50_000,
    "\n" * 200_000,
    ".package(" * 30_000,
]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("text", ODD, ids=range(len(ODD)))
@pytest.mark.parametrize(
    "path",
    ["setup.py", "package.json", "pyproject.toml", "pom.xml", "requirements.txt", "Gemfile", "build.gradle", "mix.exs", "Package.swift"],
)  # fmt: skip
def test_any_manifest_has_dependencies_or_cannot_be_read(path, text):
    with suppress(ValueError):
        assert list(dependencies_in(path, f"x = {text}" if path == "setup.py" else text)) == []
