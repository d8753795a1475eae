"""Functions of many languages: which a work changed, and sources without them, by the languages' own compilers."""

import os
import runpy
import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from language.programs import ran

from orchestrator.project.functions.emptying import emptied, empty_value, types_with_a_default
from orchestrator.project.functions.functions import changed_functions, read_source
from orchestrator.project.functions.languages import language_of, languages
from orchestrator.project.functions.statements import statements_of
from tests.language.sampled import examples
from tests.orchestrator.project.commands_of_projects import HOME

TOOLCHAINS = {"RUSTUP_HOME": os.environ.get("RUSTUP_HOME", str(HOME / ".rustup"))}
SOURCES = Path(__file__).parent / "sources"
FILES = {
    "python": "a.py", "javascript": "a.js", "typescript": "a.ts", "go": "a.go", "rust": "a.rs", "java": "A.java", "c": "a.c",
    "cpp": "a.cpp", "ruby": "a.rb", "php": "a.php", "shell": "a.sh", "c_sharp": "a.cs", "kotlin": "a.kt", "swift": "a.swift",
}  # fmt: skip
COMPILED = {
    "python": [sys.executable, "-W", "error", "-m", "py_compile", "a.py"],
    "javascript": ["node", "--check", "a.js"],
    "go": ["go", "vet", "a.go"],
    "rust": ["rustc", "--crate-type", "lib", "--edition", "2021", "a.rs"],
    "java": ["javac", "-Xlint:all", "-Werror", "A.java"],
    "c": ["gcc", "-Wall", "-Wextra", "-Werror", "-std=c99", "-pedantic", "-c", "a.c"],
    "cpp": ["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-c", "a.cpp"],
    "ruby": ["ruby", "-wc", "a.rb"],
    "php": ["php", "-l", "a.php"],
    "shell": ["bash", "-n", "a.sh"],
}


def source(name):
    return (SOURCES / f"{name}.txt").read_bytes()


def without_functions(file, content):
    functions = read_source(file, content).functions
    return emptied(content, functions, types_with_a_default(content, language_of(file)))


@pytest.mark.late
@pytest.mark.parametrize("name", COMPILED)
def test_a_source_without_its_functions_compiles_with_all_warnings_as_errors(name, tmp_path):
    program = COMPILED[name][0]
    if not shutil.which(program):
        pytest.skip(f"there is no {program} here")
    file = tmp_path / FILES[name]
    for content in (source(name), without_functions(file.name, source(name)).content):
        file.write_bytes(content)
        done = ran(COMPILED[name], cwd=tmp_path, env={**os.environ, **TOOLCHAINS}, timeout=100)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", FILES)
def test_every_language_reads_and_empties_its_source(name):
    done = without_functions(FILES[name], source(name))
    assert len(done.functions) >= 3, done
    again = read_source(FILES[name], done.content)
    assert {one.name for one in done.functions} <= {one.name for one in again.functions}
    assert all(not one.trouble for one in again.functions)


def test_an_emptied_function_returns_the_empty_value_and_keeps_the_rest_in_python(tmp_path):
    content = b'''
import functools
from contextlib import contextmanager

class Shop:
    def __init__(self):
        self.open = True

    def __str__(self):
        return "a shop"

    def __len__(self):
        return 3

    @property
    def names(self) -> list[str]:
        """The names."""
        return ["a"]

@functools.cache
def count(a: int, *, b: int = 2) -> int:
    return a + b

def numbers():
    yield 1

@contextmanager
def opened():
    yield 1

async def later() -> dict[str, int] | None:
    return {"a": 1}

double = lambda x: x * 2
'''
    file = tmp_path / "a.py"
    file.write_bytes(without_functions("a.py", content).content)
    space = runpy.run_path(str(file))
    shop = space["Shop"]()
    assert shop.open
    assert str(shop) == ""
    assert len(shop) == 0
    assert shop.names == []
    assert space["Shop"].names.__doc__ == "The names."
    assert space["count"](1) == 0
    assert space["count"].cache_info()
    assert list(space["numbers"]()) == []
    assert space["double"](2) is None
    with space["opened"]() as found:
        assert found is None


def test_inline_tests_constructors_and_bodies_that_do_nothing_stay():
    names = {one.name for one in without_functions("a.rs", source("rust")).functions}
    assert not [name for name in names if name.startswith("tests")]
    plain = b"class A:\n    def __init__(self):\n        self.a = 1\n\n    def f(self):\n        ...\n\n    def g(self):\n        return None\n"
    assert without_functions("a.py", plain).content == plain


def test_a_type_without_an_empty_value_is_named_and_the_rest_is_emptied():
    done = without_functions(
        "a.rs", b"struct B { y: i32 }\nfn a() -> B { B { y: 1 } }\nfn b() -> i32 { 2 }\n"
    )
    assert [(one.name, why) for one, why in done.left] == [("a", "sq knows no empty value of B")]
    assert [one.name for one in done.functions] == ["b"]
    assert b"return 0" in done.content


def test_syntax_that_sq_does_not_know_is_said():
    done = without_functions("a.py", b"def f(:\n    return 1\n\ndef g():\n    return 2\n")
    assert any("syntax" in why for _, why in done.left) or not done.functions


PYTHON = 'def total(items, rate):\n    """Sum."""\n    s = 0\n    for i in items:\n        s += i * rate\n    return s\n'
CALLED = PYTHON + "def g():\n    return total([1], 2)\n"
GO = 'package a\nimport "strings"\nfunc F(s string) string { x := strings.ToUpper(s); return x }\n'
TYPESCRIPT = "export function f(a: number): number { return a * 2 }\n"
FIELDS = "class A:\n    def __init__(self):\n        self.x = 1\n\n    def f(self):\n        return self.x\n"
UNCHANGED = {
    "comments, docstrings, types, layout": (
        {"a.py": PYTHON},
        {"a.py": PYTHON.replace('"""Sum."""', '"""Other."""  # c').replace("items, rate", "items: list[int],\n    rate: int = 1,\n").replace(": int = 1", ": int").replace("return s", "return (s)")},
    ),
    "its own names": ({"a.py": PYTHON}, {"a.py": PYTHON.replace("s ", "acc ").replace("return s", "return acc").replace(" i ", " one ")}),
    "a function's name, with its callers": ({"a.py": CALLED}, {"a.py": CALLED.replace("total", "sum_of")}),
    "another file": ({"a.py": PYTHON, "b.py": ""}, {"a.py": "", "b.py": PYTHON}),
    "another name and file": ({"a.py": CALLED}, {"c/d.py": CALLED.replace("total", "sum_of")}),
    "a field": ({"a.py": FIELDS}, {"a.py": FIELDS.replace(".x", ".y")}),
    "Go's layout and names": ({"a.go": GO}, {"a.go": GO.replace("x", "y").replace("{ y", "{\n\ty").replace("; ret", "\n\t// hi\n\tret")}),
    "types and semicolons": ({"a.ts": TYPESCRIPT}, {"a.ts": "export function f(a: bigint): number {\n  return a * 2;\n}\n"}),
    "quotes": ({"a.js": "function f(a) { return h(a, 'q') }\n"}, {"a.js": 'function f(a) {\n  return h(a, "q");\n}\n'}),
    "brackets of a parameter": ({"a.js": "const f = x => x + 1;\n"}, {"a.js": "const f = (x) => x + 1;\n"}),
    "a method, with its callers": (
        {"A.java": "class A { int f(int a) { B b = new B(a); return g(b); } int g(B b) { return 1; } }"},
        {"A.java": "class A { int f(int a) { B q = new B(a); return h(q); } int h(B b) { return 1; } }"},
    ),
}  # fmt: skip
CHANGED = {
    "a value": (PYTHON, PYTHON.replace("s = 0", "s = 1"), "a.py", [("total", False)]),
    "a call of something else": ("def f(a):\n    return min(a)\n", "def f(a):\n    return max(a)\n", "a.py", [("f", False)]),
    "a call of an imported function": (GO, GO.replace("ToUpper", "ToLower"), "a.go", [("F", False)]),
    "arguments": ("def f(a, b):\n    return a - b\n", "def f(a, b):\n    return b - a\n", "a.py", [("f", False)]),
    "the order of parameters": ("def f(a, b):\n    return a - b\n", "def f(b, a):\n    return a - b\n", "a.py", [("f", False)]),
    "the inner one alone": (
        "def o():\n    def i(x):\n        return x\n    return i\n",
        "def o():\n    def i(x):\n        return x + 1\n    return i\n",
        "a.py",
        [("o.i", False)],
    ),
    "a new one": (PYTHON, PYTHON + "def n():\n    return 1\n", "a.py", [("n", True)]),
    "a new one in a variable": (TYPESCRIPT, TYPESCRIPT + "export const g = (x: number) => f(x) + 1\n", "a.ts", [("g", True)]),
    "a text": ('def f():\n    return "a"\n', "def f():\n    return 'b'\n", "a.py", [("f", False)]),
    "a text between escapes": ('def f():\n    return "a\\nb"\n', 'def f():\n    return "b\\na"\n', "a.py", [("f", False)]),
    "a template's text": ("function f(a) { return `x\\n${a} y` }\n", "function f(a) { return `z\\n${a} y` }\n", "a.js", [("f", False)]),
    "a text in Go": ('package a\nfunc F() string { return "a\\n" }\n', 'package a\nfunc F() string { return "b\\n" }\n', "a.go", [("F", False)]),
    "part of a slice": ("def f(a):\n    return a[1:]\n", "def f(a):\n    return a[:1]\n", "a.py", [("f", False)]),
    "an operator": ("fn a(x: i32) -> i32 { x + 1 }\n", "fn a(x: i32) -> i32 { x - 1 }\n", "a.rs", [("a", False)]),
    "a static type": ("int f(void) { int a = 300; return a; }\n", "int f(void) { char a = 300; return a; }\n", "a.c", [("f", False)]),
}  # fmt: skip


def bytes_of(files):
    return {file: text.encode() for file, text in files.items()}


@pytest.mark.parametrize("what", UNCHANGED)
def test_a_function_is_not_changed_by(what):
    before, after = UNCHANGED[what]
    assert changed_functions(bytes_of(before), bytes_of(after)) == []


@pytest.mark.parametrize("what", CHANGED)
def test_a_function_is_changed_by(what):
    before, after, file, expected = CHANGED[what]
    found = changed_functions({file: before.encode()}, {file: after.encode()})
    assert [(one.function.name, one.new) for one in found] == expected


@pytest.mark.night
@settings(max_examples=examples(20, at_night=300), deadline=None)
@given(
    content=st.binary(max_size=300) | st.text(max_size=300).map(str.encode),
    suffix=st.sampled_from(sorted(languages())),
)
def test_any_bytes_are_read(content, suffix):
    done = without_functions(f"a{suffix}", content)
    assert not done.functions or done.content != content


def test_deep_code_is_read():
    deep = b"def f():\n    return " + b"(" * 5_000 + b"1" + b")" * 5_000 + b"\n"
    assert [one.name for one in read_source("a.py", deep).functions] == ["f"]


@pytest.mark.parametrize(
    ("file", "returns", "value"),
    [
        ("a.rs", "Result<Vec<u8>, Box<dyn Error>>", "Ok(Vec::new())"),
        ("a.rs", "(i32, Option<String>)", "(0, None,)"),
        ("a.rs", "&'a HashMap<String, i32>", "Box::leak(Box::new(Default::default()))"),
        ("a.py", '"list[int]"', "[]"),
        ("a.py", "tuple[int, ...] | None", "None"),
        ("a.ts", "Promise<Map<string, number[]>>", "Promise.resolve(new Map())"),
        ("A.java", "Map<String, List<Integer>>", "new java.util.HashMap<>()"),
        ("a.kt", "Pair<Int, List<String>>", "Pair(0, emptyList())"),
        ("a.php", "?Shop", "null"),
        ("a.php", "Shop", None),
        ("a.rs", "!", None),
    ],
)  # fmt: skip
def test_the_empty_value_of_a_type(file, returns, value):
    assert empty_value(language_of(file), returns) == value


@pytest.mark.late
@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    "text",
    ['x = {"a":' * 20_000, "x = 1" + "-" * 100_000, "a=" * 50_000, "if a:\n  b()\n" + "elif a:\n  b()\n" * 5_000],
    ids=["nested", "wide", "a chain", "conditions"],
)  # fmt: skip
def test_a_source_of_any_form_is_read_in_time(text):
    read_source("a.py", text.encode())
    assert statements_of("a.py", text.encode())


def test_statements_in_very_deep_blocks_are_lines():
    text = "function f(a) {" + "if (a) {" * 2_000 + "b()" + "}" * 2_000 + "}"
    assert [one.around for one in statements_of("a.js", text.encode())] == [()]
