from written_sessions.vocabulary import *

_TODO = ("A subagent lists all uses", "mdx-core", "mdx-html", "mdx-cli", "mdx-lsp", "Remove the dependency, raise rust-version", "CHANGELOG", "just ci")


def _list(done):
    return todos(*(f"{'x' if place < done else '>' if place == done else '-'} {one}" for place, one in enumerate(_TODO)))


_rust = Session(
    name="r4b_rust_lazylock_compacted",
    about="A refactoring through four crates with a subagent, a compaction and a failing check in between.",
    type="development",
    branch="lazylock",
    steps=(
        user("Replace lazy_static by std::sync::LazyLock in the whole workspace and drop the dependency. MSRV has to go up accordingly. CONTRIBUTING.md says what is needed before a commit; commit on this branch, one commit is fine."),
        bash("cat CONTRIBUTING.md justfile Cargo.toml; git status -sb", '''# Contributing
Before you commit: `just ci` must pass, and user-visible changes (MSRV counts) need a line in CHANGELOG.md under "Unreleased".

ci:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings
    cargo test --workspace
[workspace]
resolver = "2"
members = ["crates/*"]

[workspace.package]
edition = "2021"
rust-version = "1.74"

[workspace.dependencies]
lazy_static = "1.5"
regex = "1.11"
## lazylock'''),
        _list(0),
        subagent("a7e1", "Find all uses of lazy_static", "List every file in crates/ that uses lazy_static (macro, import, Cargo.toml), with the statics in it and where each static is used in a way that depends on its type (deref, &*X, X.clone()). Only read.",
            bash("rg -n 'lazy_static' crates", '''crates/mdx-core/Cargo.toml:9:lazy_static.workspace = true
crates/mdx-core/src/inline.rs:3:use lazy_static::lazy_static;
crates/mdx-core/src/inline.rs:6:lazy_static! {
crates/mdx-html/Cargo.toml:8:lazy_static.workspace = true
crates/mdx-html/src/escape.rs:1:lazy_static::lazy_static! {
crates/mdx-cli/Cargo.toml:12:lazy_static.workspace = true
crates/mdx-cli/src/theme.rs:5:use lazy_static::lazy_static;
crates/mdx-cli/src/theme.rs:8:lazy_static! {
crates/mdx-lsp/Cargo.toml:10:lazy_static.workspace = true
crates/mdx-lsp/src/state.rs:2:use lazy_static::lazy_static;
crates/mdx-lsp/src/state.rs:9:lazy_static! {'''),
            bash("rg -n '\\b(LINK|CODE|ENTITIES|THEMES|STATE)\\b' crates --type rust", '''crates/mdx-core/src/inline.rs:7:    static ref LINK: Regex = Regex::new(r"\\[([^\\]]+)\\]\\(([^)]+)\\)").unwrap();
crates/mdx-core/src/inline.rs:8:    static ref CODE: Regex = Regex::new(r"`([^`]+)`").unwrap();
crates/mdx-core/src/inline.rs:12:    let text = LINK.replace_all(text, "<$2|$1>");
crates/mdx-core/src/inline.rs:13:    CODE.replace_all(&text, "{$1}").into_owned()
crates/mdx-html/src/escape.rs:2:    pub static ref ENTITIES: HashMap<char, &'static str> = [('<', "&lt;"), ('>', "&gt;"), ('&', "&amp;")].into_iter().collect();
crates/mdx-html/src/escape.rs:9:        match ENTITIES.get(&c) {
crates/mdx-cli/src/theme.rs:9:    static ref THEMES: Vec<Theme> = load_themes();
crates/mdx-cli/src/theme.rs:19:    THEMES.clone()
crates/mdx-lsp/src/state.rs:10:    pub static ref STATE: Mutex<State> = Mutex::new(State::default());
crates/mdx-lsp/src/main.rs:21:    let mut state = STATE.lock().unwrap();'''),
            report="Four crates. mdx-core inline.rs: LINK, CODE (deref only). mdx-html escape.rs: ENTITIES, pub, deref only. mdx-cli theme.rs: THEMES, `THEMES.clone()` at line 19 depends on the type (auto-deref still finds Vec::clone, LazyLock is not Clone). mdx-lsp state.rs: STATE, a Mutex::new(State::default()), used in main.rs:21 by lock(). Each crate's Cargo.toml has lazy_static.workspace = true."),
        _list(1),
        read("crates/mdx-core/src/inline.rs", '''//! Inline markup.

use lazy_static::lazy_static;
use regex::Regex;

lazy_static! {
    static ref LINK: Regex = Regex::new(r"\\[([^\\]]+)\\]\\(([^)]+)\\)").unwrap();
    static ref CODE: Regex = Regex::new(r"`([^`]+)`").unwrap();
}

pub fn inline(text: &str) -> String {
    let text = LINK.replace_all(text, "<$2|$1>");
    CODE.replace_all(&text, "{$1}").into_owned()
}
'''),
        multi_edit("crates/mdx-core/src/inline.rs", ("use lazy_static::lazy_static;\nuse regex::Regex;\n\nlazy_static! {\n    static ref LINK: Regex = Regex::new(r\"\\[([^\\]]+)\\]\\(([^)]+)\\)\").unwrap();\n    static ref CODE: Regex = Regex::new(r\"`([^`]+)`\").unwrap();\n}\n", '''use std::sync::LazyLock;

use regex::Regex;

static LINK: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\\[([^\\]]+)\\]\\(([^)]+)\\)").unwrap());
static CODE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"`([^`]+)`").unwrap());
'''),),
        bash("cargo test -p mdx-core", '''   Compiling mdx-core v0.9.0 (/srv/project/crates/mdx-core)
    Finished `test` profile [unoptimized + debuginfo] target(s) in 2.14s
     Running unittests src/lib.rs (target/debug/deps/mdx_core-1c33be71ad0af2a1)

running 14 tests
..............
test result: ok. 14 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s
'''),
        _list(2),
        read("crates/mdx-html/src/escape.rs", '''lazy_static::lazy_static! {
    pub static ref ENTITIES: HashMap<char, &'static str> = [('<', "&lt;"), ('>', "&gt;"), ('&', "&amp;")].into_iter().collect();
}

use std::collections::HashMap;

pub fn escape(text: &str) -> String {
    text.chars().fold(String::new(), |mut out, c| {
        match ENTITIES.get(&c) {
            Some(entity) => out.push_str(entity),
            None => out.push(c),
        }
        out
    })
}
'''),
        edit("crates/mdx-html/src/escape.rs", '''lazy_static::lazy_static! {
    pub static ref ENTITIES: HashMap<char, &'static str> = [('<', "&lt;"), ('>', "&gt;"), ('&', "&amp;")].into_iter().collect();
}

use std::collections::HashMap;
''', '''use std::collections::HashMap;
use std::sync::LazyLock;

pub static ENTITIES: LazyLock<HashMap<char, &'static str>> = LazyLock::new(|| {
    [('<', "&lt;"), ('>', "&gt;"), ('&', "&amp;")]
        .into_iter()
        .collect()
});
'''),
        _list(3),
        read("crates/mdx-cli/src/theme.rs", '''//! Colour themes.
use std::path::PathBuf;

use crate::load::load_themes;
use lazy_static::lazy_static;
use serde::Deserialize;

lazy_static! {
    static ref THEMES: Vec<Theme> = load_themes();
}

#[derive(Clone, Deserialize)]
pub struct Theme {
    pub name: String,
    pub file: PathBuf,
}

pub fn all() -> Vec<Theme> {
    THEMES.clone()
}
'''),
        multi_edit("crates/mdx-cli/src/theme.rs",
            ("use std::path::PathBuf;\n\nuse crate::load::load_themes;\nuse lazy_static::lazy_static;\n", "use std::path::PathBuf;\nuse std::sync::LazyLock;\n\nuse crate::load::load_themes;\n"),
            ("lazy_static! {\n    static ref THEMES: Vec<Theme> = load_themes();\n}\n", "static THEMES: LazyLock<Vec<Theme>> = LazyLock::new(load_themes);\n")),
        bash("cargo test -p mdx-html -p mdx-cli", '''   Compiling mdx-html v0.9.0 (/srv/project/crates/mdx-html)
   Compiling mdx-cli v0.9.0 (/srv/project/crates/mdx-cli)
    Finished `test` profile [unoptimized + debuginfo] target(s) in 4.90s
     Running unittests src/main.rs (target/debug/deps/mdx_cli-7fd0c9e3110a2b55)

running 6 tests
......
test result: ok. 6 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.02s

     Running unittests src/lib.rs (target/debug/deps/mdx_html-a0912f6c47b1de88)

running 9 tests
.........
test result: ok. 9 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
'''),
        _list(4),
        compacted("The user wants lazy_static replaced by std::sync::LazyLock in the whole workspace, the dependency dropped, the MSRV raised, and one commit on branch lazylock. CONTRIBUTING.md: `just ci` must pass, MSRV changes need a CHANGELOG.md line under Unreleased. Done with their tests: mdx-core, mdx-html, mdx-cli. Open: mdx-lsp (state.rs, STATE is a Mutex), the Cargo.toml entries (workspace and four crates), rust-version 1.74 -> 1.80, CHANGELOG, just ci, commit."),
        read("crates/mdx-lsp/src/state.rs", '''use std::collections::HashMap;
use lazy_static::lazy_static;
use std::sync::Mutex;

#[derive(Default)]
pub struct State {
    pub open: HashMap<String, String>,
}
lazy_static! {
    pub static ref STATE: Mutex<State> = Mutex::new(State::default());
}
'''),
        multi_edit("crates/mdx-lsp/src/state.rs",
            ("use lazy_static::lazy_static;\nuse std::sync::Mutex;\n", "use std::sync::{LazyLock, Mutex};\n"),
            ("}\nlazy_static! {\n    pub static ref STATE: Mutex<State> = Mutex::new(State::default());\n}\n", "}\n\npub static STATE: LazyLock<Mutex<State>> = LazyLock::new(Mutex::default);\n")),
        _list(5),
        bash("sed -i '/^lazy_static/d' Cargo.toml crates/*/Cargo.toml && sed -i 's/rust-version = \"1.74\"/rust-version = \"1.80\"/' Cargo.toml && rg -n 'lazy_static|1\\.74' --hidden -g '!.git' -g '!Cargo.lock' -g '!target'", "README.md:8:Needs Rust 1.74 or newer.\n.github/workflows/ci.yml:14:        toolchain: [stable, \"1.74\"]"),
        says("README and the CI matrix name the old version as well; both belong to the MSRV."),
        bash("sed -i 's/Needs Rust 1.74/Needs Rust 1.80/' README.md && sed -i 's/\\[stable, \"1.74\"\\]/[stable, \"1.80\"]/' .github/workflows/ci.yml && git diff README.md .github | grep '^[+-][^+-]'", "-        toolchain: [stable, \"1.74\"]\n+        toolchain: [stable, \"1.80\"]\n-Needs Rust 1.74 or newer.\n+Needs Rust 1.80 or newer."),
        _list(6),
        read("CHANGELOG.md", "# Changelog\n\n## Unreleased\n\n- html: escape `&` in link titles\n\n## 0.9.0\n"),
        edit("CHANGELOG.md", "- html: escape `&` in link titles\n", "- html: escape `&` in link titles\n- Rust 1.80 or newer is needed (`lazy_static` gave way to `LazyLock`)\n"),
        _list(7),
        bash("just ci", '''cargo fmt --all --check
cargo clippy --workspace --all-targets -- -D warnings
    Checking mdx-core v0.9.0 (/srv/project/crates/mdx-core)
    Checking mdx-html v0.9.0 (/srv/project/crates/mdx-html)
    Checking mdx-lsp v0.9.0 (/srv/project/crates/mdx-lsp)
error[E0433]: failed to resolve: use of unresolved module or unlinked crate `lazy_static`
 --> crates/mdx-lsp/tests/session.rs:4:1
  |
4 | lazy_static::lazy_static! {
  | ^^^^^^^^^^^ use of unresolved module or unlinked crate `lazy_static`

error: could not compile `mdx-lsp` (test "session") due to 1 previous error
error: Recipe `ci` failed on line 3 with exit code 101''', 101),
        says("A use in `tests/` that ripgrep did not show, neither to the subagent nor to me. Why?"),
        bash("git check-ignore -v crates/mdx-lsp/tests/session.rs; git ls-files crates/mdx-lsp/tests; sed -n 1,9p crates/mdx-lsp/tests/session.rs", '''.gitignore:6:session.*	crates/mdx-lsp/tests/session.rs
crates/mdx-lsp/tests/session.rs
use std::process::{Child, Command};
use std::sync::Mutex;

lazy_static::lazy_static! {
    static ref SERVER: Mutex<Option<Child>> = Mutex::new(None);
}

#[test]
fn opens_a_document() {'''),
        says("Tracked, but matched by an ignore rule, so ripgrep passes over it. A Mutex around None is const, no LazyLock needed."),
        bash('''python3 - <<'P'
from pathlib import Path
path = Path("crates/mdx-lsp/tests/session.rs")
text = path.read_text()
old = "lazy_static::lazy_static! {\\n    static ref SERVER: Mutex<Option<Child>> = Mutex::new(None);\\n}\\n"
assert old in text
path.write_text(text.replace(old, "static SERVER: Mutex<Option<Child>> = Mutex::new(None);\\n"))
P
git grep -n lazy_static -- ':!CHANGELOG.md' ':!Cargo.lock'; grep -c lazy_static Cargo.lock''', "0", 1),
        bash("just ci", '''cargo fmt --all --check
cargo clippy --workspace --all-targets -- -D warnings
    Checking mdx-lsp v0.9.0 (/srv/project/crates/mdx-lsp)
    Checking mdx-cli v0.9.0 (/srv/project/crates/mdx-cli)
    Finished `dev` profile [unoptimized + debuginfo] target(s) in 3.77s
cargo test --workspace
   Compiling mdx-lsp v0.9.0 (/srv/project/crates/mdx-lsp)
    Finished `test` profile [unoptimized + debuginfo] target(s) in 6.02s
     Running unittests src/main.rs (target/debug/deps/mdx_cli-7fd0c9e3110a2b55)

running 6 tests
......
test result: ok. 6 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.02s

     Running unittests src/lib.rs (target/debug/deps/mdx_core-1c33be71ad0af2a1)

running 14 tests
..............
test result: ok. 14 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s

     Running unittests src/lib.rs (target/debug/deps/mdx_html-a0912f6c47b1de88)

running 9 tests
.........
test result: ok. 9 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

     Running unittests src/main.rs (target/debug/deps/mdx_lsp-55d1c0a98e3f7b20)

running 0 tests

test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

     Running tests/session.rs (target/debug/deps/session-90be21c7f4d6a113)

running 3 tests
...
test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.84s

   Doc-tests mdx_core

running 2 tests
..
test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.41s

   Doc-tests mdx_html

running 0 tests

test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
'''),
        bash("git add -u && git commit -m 'Replace lazy_static by LazyLock, MSRV 1.80' && git status -sb", "[lazylock d7702be] Replace lazy_static by LazyLock, MSRV 1.80\n 14 files changed, 33 insertions(+), 46 deletions(-)\n## lazylock"),
        todos(*(f"x {one}" for one in _TODO)),
        assistant("`lazy_static` is gone from all four crates and from the lock file. `LINK`, `CODE`, `ENTITIES`, `THEMES` and `STATE` are `LazyLock`s; `SERVER` in the LSP session test is a plain static, because `Mutex::new(None)` is const. The MSRV is 1.80 in `Cargo.toml`, the README, the CI matrix and the CHANGELOG.\n\n`just ci` passes: fmt, clippy, 34 tests (doc tests included). Committed as d7702be on `lazylock`.\n\nOne thing I left alone: `.gitignore` has `session.*`, which also hides `crates/mdx-lsp/tests/session.rs` from ripgrep. A leading slash would limit the rule to the root."),
    ),
)

PART = (_rust,)
INTENT = {"r4b_rust_lazylock_compacted": "good"}

SESSIONS = PART
