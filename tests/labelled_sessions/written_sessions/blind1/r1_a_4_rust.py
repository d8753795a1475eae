"""The long Rust session: one crate after the other, compacted half way."""

from written_sessions.vocabulary import *

# crate -> (error.rs before, after, tests, sha, words before the crate)
CRATES = {
    "wire": ('''use failure::Fail;

#[derive(Debug, Fail)]
pub enum WireError {
    #[fail(display = "frame of {} bytes is longer than {}", _0, _1)]
    TooLong(usize, usize),
    #[fail(display = "unknown tag {:#x}", _0)]
    UnknownTag(u8),
}''', '''use thiserror::Error;

#[derive(Debug, Error)]
pub enum WireError {
    #[error("frame of {0} bytes is longer than {1}")]
    TooLong(usize, usize),
    #[error("unknown tag {0:#x}")]
    UnknownTag(u8),
}
''', 21, "3f0a1c2", "wire depends on no other crate of ours, so it comes first."),
    "store": ('''use failure::Fail;
use std::io;

#[derive(Debug, Fail)]
pub enum StoreError {
    #[fail(display = "segment {} is damaged at {}", segment, offset)]
    Damaged { segment: u64, offset: u64 },
    #[fail(display = "{}", _0)]
    Io(#[cause] io::Error),
}

impl From<io::Error> for StoreError {
    fn from(error: io::Error) -> Self {
        StoreError::Io(error)
    }
}''', '''use std::io;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum StoreError {
    #[error("segment {segment} is damaged at {offset}")]
    Damaged { segment: u64, offset: u64 },
    #[error(transparent)]
    Io(#[from] io::Error),
}
''', 48, "a81d5e0", "`#[from]` replaces the hand-written From."),
    "index": ('''use failure::{Backtrace, Context, Fail};
use std::fmt;

#[derive(Debug)]
pub struct IndexError {
    inner: Context<IndexErrorKind>,
}

#[derive(Clone, Copy, Debug, Eq, Fail, PartialEq)]
pub enum IndexErrorKind {
    #[fail(display = "no such key")]
    NoKey,
    #[fail(display = "index is older than its store")]
    Stale,
}

impl Fail for IndexError {
    fn cause(&self) -> Option<&dyn Fail> {
        self.inner.cause()
    }
    fn backtrace(&self) -> Option<&Backtrace> {
        self.inner.backtrace()
    }
}

impl fmt::Display for IndexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.inner, f)
    }
}

impl IndexError {
    pub fn kind(&self) -> IndexErrorKind {
        *self.inner.get_context()
    }
}

impl From<IndexErrorKind> for IndexError {
    fn from(kind: IndexErrorKind) -> Self {
        IndexError { inner: Context::new(kind) }
    }
}''', '''use thiserror::Error;

#[derive(Debug, Error)]
#[error(transparent)]
pub struct IndexError(#[from] IndexErrorKind);

#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
pub enum IndexErrorKind {
    #[error("no such key")]
    NoKey,
    #[error("index is older than its store")]
    Stale,
}

impl IndexError {
    pub fn kind(&self) -> IndexErrorKind {
        self.0
    }
}
''', 33, "70bb9d4", "index uses the Context pattern. `kind()` has callers in query and cli, so it stays."),
    "query": ('''use failure::Fail;
use index::IndexError;

#[derive(Debug, Fail)]
pub enum QueryError {
    #[fail(display = "syntax error at column {}", _0)]
    Syntax(usize),
    #[fail(display = "lookup failed")]
    Index(#[cause] IndexError),
}''', '''use index::IndexError;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum QueryError {
    #[error("syntax error at column {0}")]
    Syntax(usize),
    #[error("lookup failed")]
    Index(#[source] IndexError),
}
''', 64, "c93e770", "Here the message is its own and the cause is kept, hence `#[source]` and not transparent."),
    "net": ('''use failure::Fail;
use std::net::SocketAddr;
use wire::WireError;

#[derive(Debug, Fail)]
pub enum NetError {
    #[fail(display = "{} closed the connection", _0)]
    Closed(SocketAddr),
    #[fail(display = "{} sent nonsense", peer)]
    Protocol { peer: SocketAddr, #[cause] error: WireError },
}''', '''use std::net::SocketAddr;
use thiserror::Error;
use wire::WireError;

#[derive(Debug, Error)]
pub enum NetError {
    #[error("{0} closed the connection")]
    Closed(SocketAddr),
    #[error("{peer} sent nonsense")]
    Protocol { peer: SocketAddr, #[source] error: WireError },
}
''', 17, "12d6f0b", "net wraps wire's error in a struct variant."),
    "replica": ('''use failure::{format_err, Error};
use net::NetError;

pub fn follow(peer: &str) -> Result<(), Error> {
    let at = peer.parse().map_err(|_| format_err!("{} is no address", peer))?;
    match net::dial(at) {
        Err(NetError::Closed(_)) => Ok(()),
        other => other.map(drop).map_err(Error::from),
    }
}''', '''use anyhow::{anyhow, Error};
use net::NetError;

pub fn follow(peer: &str) -> Result<(), Error> {
    let at = peer.parse().map_err(|_| anyhow!("{peer} is no address"))?;
    match net::dial(at) {
        Err(NetError::Closed(_)) => Ok(()),
        other => other.map(drop).map_err(Error::from),
    }
}
''', 9, "e47a2c8", "replica only passes errors on, so anyhow fits better than an enum."),
    "cli": ('''use failure::{Error, ResultExt};
use std::process::exit;

mod commands;

fn main() {
    if let Err(error) = run() {
        for cause in error.iter_chain() {
            eprintln!("{}", cause);
        }
        exit(1);
    }
}

fn run() -> Result<(), Error> {
    let config = commands::config().context("reading the configuration")?;
    commands::dispatch(config)
}''', '''use anyhow::{Context, Result};
use std::process::exit;

mod commands;

fn main() {
    if let Err(error) = run() {
        for cause in error.chain() {
            eprintln!("{cause}");
        }
        exit(1);
    }
}

fn run() -> Result<()> {
    let config = commands::config().context("reading the configuration")?;
    commands::dispatch(config)
}
''', 14, "5b90e13", "Last one, the binary: `iter_chain` is `chain` in anyhow."),
}
MAIN = {"cli": "src/main.rs", "replica": "src/lib.rs"}
def tested(crate, count):
    said = f"\nrunning {count} tests\n{'.' * count}\ntest result: ok. {count} passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.0{count % 9 + 1}s\n"
    doc = "\n\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n"
    return said if crate == "cli" else said + doc


def crate_steps(number, crate):
    before, after, count, sha, words = CRATES[crate]
    path = f"crates/{crate}/{MAIN.get(crate, 'src/error.rs')}"
    new = "anyhow" if crate in MAIN else "thiserror"
    commit = f"{crate}: {new} in place of failure"
    steps = [task_update(number, "in_progress"), read(path, before), says(words), write(path, after),
             edit(f"crates/{crate}/Cargo.toml", 'failure = "0.1"', f"{new}.workspace = true")]
    if crate == "query":
        steps += [
            bash("cargo test -q -p query", '''error[E0432]: unresolved import `failure`
 --> crates/query/src/plan.rs:2:5
  |
2 | use failure::{Fail, ResultExt};
  |     ^^^^^^^ use of unresolved module or unlinked crate `failure`
  |
  = help: if you wanted to use a crate named `failure`, use `cargo add failure` to add it to your `Cargo.toml`

error[E0433]: failed to resolve: use of unresolved module or unlinked crate `failure`
 --> crates/query/src/plan.rs:4:43
  |
4 | pub fn plan(keys: &[Key]) -> Result<Plan, failure::Error> {
  |                                           ^^^^^^^ use of unresolved module or unlinked crate `failure`

Some errors have detailed explanations: E0432, E0433.
For more information about this error, try `rustc --explain E0432`.
error: could not compile `query` (lib) due to 2 previous errors''', 101),
            read("crates/query/src/plan.rs", '''use crate::error::QueryError;
use failure::{Fail, ResultExt};

pub fn plan(keys: &[Key]) -> Result<Plan, failure::Error> {
    let mut plan = Plan::default();
    for key in keys {
        lookup(key).map_err(|e| e.context("while planning"))?;
        plan.push(key);
    }
    Ok(plan)
}'''),
            says("plan.rs adds context and returns `failure::Error`; anyhow does the same."),
            multi_edit("crates/query/src/plan.rs", ("use crate::error::QueryError;\nuse failure::{Fail, ResultExt};", "use anyhow::{Context, Result};"),
                       ("Result<Plan, failure::Error>", "Result<Plan>"),
                       ('lookup(key).map_err(|e| e.context("while planning"))?;', 'lookup(key).context("while planning")?;')),
            edit("crates/query/Cargo.toml", "thiserror.workspace = true", "anyhow.workspace = true\nthiserror.workspace = true"),
        ]
    steps += [
        bash(f"cargo test -q -p {crate}", tested(crate, count)),
        bash(f"git commit -qam '{commit}' && git log --oneline -1", f"{sha} {commit}"),
        task_update(number, "completed"),
    ]
    return steps


names = list(CRATES)
rust_long = Session(
    name="r1a_rust_failure_to_thiserror",
    about="Seven crates move from failure to thiserror or anyhow, a commit each; long, compacted half way, clippy and the tests at the end.",
    type="development",
    branch="drop-failure",
    steps=(
        user("The `failure` crate is unmaintained (RUSTSEC-2020-0036). Move all crates of the workspace to thiserror, anyhow where errors are only passed on. One commit per crate on this branch, kind() of IndexError must survive. At the end cargo deny check advisories, clippy -D warnings and the whole test suite have to be clean."),
        bash("cargo tree -i failure --depth 1; cat Cargo.toml; git branch --show-current", '''failure v0.1.8
├── cli v0.7.0 (/srv/project/crates/cli)
├── index v0.7.0 (/srv/project/crates/index)
├── net v0.7.0 (/srv/project/crates/net)
├── query v0.7.0 (/srv/project/crates/query)
├── replica v0.7.0 (/srv/project/crates/replica)
├── store v0.7.0 (/srv/project/crates/store)
└── wire v0.7.0 (/srv/project/crates/wire)
[workspace]
members = ["crates/*"]
resolver = "2"

[workspace.dependencies]
bytes = "1"
drop-failure'''),
        [task_create(f"{crate}: replace failure") for crate in names],
        task_create("deny, clippy, all tests"),
        edit("Cargo.toml", 'bytes = "1"', 'anyhow = "1"\nbytes = "1"\nthiserror = "2"'),
        [crate_steps(number, crate) for number, crate in enumerate(names[:4], start=1)],
        compacted("The user wants `failure` replaced by thiserror/anyhow in all seven crates (wire, store, index, query, net, replica, cli), one commit per crate on drop-failure; `IndexError::kind()` must survive; at the end `cargo deny check advisories`, clippy with -D warnings and all tests clean. wire (3f0a1c2), store (a81d5e0), index (70bb9d4) and query (c93e770) are committed. Left: net, replica, cli, then the final checks."),
        bash("git status -sb && git log --oneline -4 && cargo tree -i failure --depth 1", '''## drop-failure
c93e770 query: thiserror in place of failure
70bb9d4 index: thiserror in place of failure
a81d5e0 store: thiserror in place of failure
3f0a1c2 wire: thiserror in place of failure
failure v0.1.8
├── cli v0.7.0 (/srv/project/crates/cli)
├── net v0.7.0 (/srv/project/crates/net)
└── replica v0.7.0 (/srv/project/crates/replica)'''),
        [crate_steps(number, crate) for number, crate in enumerate(names[4:], start=5)],
        task_update(8, "in_progress"),
        bash("grep -rn failure crates Cargo.toml; cargo deny check advisories && cargo clippy --workspace --all-targets -- -D warnings", '''crates/store/src/segment.rs:12:// A failure while writing leaves the old segment in place.
advisories ok
    Checking wire v0.7.0 (/srv/project/crates/wire)
    Checking net v0.7.0 (/srv/project/crates/net)
    Checking replica v0.7.0 (/srv/project/crates/replica)
error: this `map_or` can be simplified
  --> crates/replica/src/peers.rs:40:12
   |
40 |         if self.last.map_or(false, |at| at.elapsed() < LIMIT) {
   |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
   |
   = note: `-D clippy::unnecessary-map-or` implied by `-D warnings`
help: use is_some_and instead

error: could not compile `replica` (lib) due to 1 previous error''', 101),
        says("That line is older than this branch, but you want clippy clean, and it is a one-liner."),
        edit("crates/replica/src/peers.rs", "self.last.map_or(false, |at| at.elapsed() < LIMIT)", "self.last.is_some_and(|at| at.elapsed() < LIMIT)"),
        bash("cargo clippy --workspace --all-targets -- -D warnings && cargo test --workspace -q 2>&1 | grep -E '^test result|FAILED|panicked|error'", '''    Checking replica v0.7.0 (/srv/project/crates/replica)
    Checking cli v0.7.0 (/srv/project/crates/cli)
    Finished `dev` profile [unoptimized + debuginfo] target(s) in 3.02s
test result: ok. 14 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.06s
test result: ok. 33 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.07s
test result: ok. 17 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.09s
test result: ok. 64 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.02s
test result: ok. 9 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s
test result: ok. 48 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.04s
test result: ok. 21 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.04s
test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s'''),
        bash("git commit -qam 'replica: is_some_and, as clippy wants it' && git status -sb && git log --oneline main..", '''## drop-failure
88c1b5f replica: is_some_and, as clippy wants it
5b90e13 cli: anyhow in place of failure
e47a2c8 replica: anyhow in place of failure
12d6f0b net: thiserror in place of failure
c93e770 query: thiserror in place of failure
70bb9d4 index: thiserror in place of failure
a81d5e0 store: thiserror in place of failure
3f0a1c2 wire: thiserror in place of failure'''),
        task_update(8, "completed"),
        assistant("`failure` is out of the dependency tree. wire, store, index, query and net use thiserror; replica, cli and query's planner, which only pass errors on, use anyhow. There is a commit per crate on `drop-failure`, plus 88c1b5f for an older line that clippy complained about.\n\n`IndexError::kind()` is still there with the same variants. `cargo deny check advisories` is ok, clippy with `-D warnings` is clean and all 206 tests pass. Nothing is pushed."),
    ),
)
