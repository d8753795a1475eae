"""Good sessions, third piece."""
from written_sessions.vocabulary import *

playwright = Session(
    name="r3b_playwright_checkout_pr",
    about="TypeScript: a bug in a checkout is fixed on a branch, the slow e2e suite runs in the background, then a pull request whose checks pass.",
    type="development",
    branch="fix/voucher-reset",
    steps=(
        user("Shop bug #1204: after removing a voucher in the cart the total keeps the discount until you reload. Fix on fix/voucher-reset, vitest + playwright green, open the PR and wait for the checks."),
        bash("gh issue view 1204 --json title,body -q '.title,.body' && grep -rn 'removeVoucher' src", "Total keeps discount after removing the voucher\nSteps: add HELLO10, remove it. Total still shows -10%. Reload: right.\nsrc/cart/useCart.ts:24:  const removeVoucher = async () => {\nsrc/cart/VoucherBox.tsx:19:        <button onClick={removeVoucher}>Remove</button>"),
        read("src/cart/useCart.ts", '''import { useMemo, useState } from "react";
import * as api from "./api";
import { priced, type Cart } from "./pricing";

export function useCart(initial: Cart) {
  const [cart, setCart] = useState(initial);
  const total = useMemo(() => priced(cart), [cart.lines]);

  const addVoucher = async (code: string) => {
    const voucher = await api.redeem(cart.id, code);
    setCart({ ...cart, voucher, lines: [...cart.lines] });
  };

  const removeVoucher = async () => {
    await api.release(cart.id);
    setCart({ ...cart, voucher: undefined });
  };

  return { cart, total, addVoucher, removeVoucher };
}
'''),
        says("The memo only looks at `cart.lines`. `addVoucher` hides that by copying the array; `removeVoucher` does not. The dependency is what is wrong."),
        multi_edit("src/cart/useCart.ts",
            ("[cart.lines]);", "[cart]);"),
            ("setCart({ ...cart, voucher, lines: [...cart.lines] });", "setCart({ ...cart, voucher });")),
        write("src/cart/useCart.test.tsx", '''import { act, renderHook } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import * as api from "./api";
import { useCart } from "./useCart";

vi.mock("./api");

it("follows the voucher in both directions", async () => {
  vi.mocked(api.redeem).mockResolvedValue({ code: "HELLO10", percent: 10 });
  const { result } = renderHook(() => useCart({ id: "c1", lines: [{ sku: "mug", cents: 2000, count: 1 }] }));
  expect(result.current.total).toBe(2000);

  await act(() => result.current.addVoucher("HELLO10"));
  expect(result.current.total).toBe(1800);

  await act(() => result.current.removeVoucher());
  expect(result.current.total).toBe(2000);
});
'''),
        bash("npx tsc --noEmit && npx vitest run", """ RUN  v1.6.0 /srv/project

 ✓ src/cart/pricing.test.ts  (9 tests) 6ms
 ✓ src/cart/useCart.test.tsx  (1 test) 31ms
 ✓ src/account/address.test.ts  (14 tests) 11ms

 Test Files  3 passed (3)
      Tests  24 passed (24)
   Start at  09:00:58
   Duration  1.64s (transform 212ms, setup 0ms, collect 801ms, tests 48ms, environment 1.02s, prepare 244ms)
"""),
        background("bpw77", "npx playwright test --reporter=line > e2e.log 2>&1"),
        bash('git add src && git commit -qm "Recompute the cart total when the voucher changes (#1204)" && git log --oneline -1 && git push -q -u origin fix/voucher-reset', "5be20c1 Recompute the cart total when the voucher changes (#1204)"),
        assistant("The fix is pushed; the Playwright suite (about four minutes) is still running in the background. I go on as soon as it reports."),
        background_ended("bpw77", "npx playwright test --reporter=line > e2e.log 2>&1", 0),
        bash("tail -5 e2e.log; rm e2e.log; git status --short", "[41/42] [chromium] › tests/e2e/search.spec.ts:30:5 › no hits\n[42/42] [firefox] › tests/e2e/search.spec.ts:30:5 › no hits\n  2 skipped\n  40 passed (3.8m)"),
        bash("git grep -n 'test.skip\\|test.fixme' origin/main -- tests/e2e", "origin/main:tests/e2e/paypal.spec.ts:8:test.skip(!process.env.PAYPAL_SANDBOX, \"needs the sandbox\");"),
        says("The two skips are the PayPal spec without its sandbox, in both browsers, as on main."),
        bash("""gh pr create --title "Recompute the cart total when the voucher changes" --body "$(cat <<'B'
Fixes #1204.

**Why**: the memo of the total depended on cart.lines only; removing a voucher leaves the lines alone, so the discount stayed until a reload.
**What**: depend on the cart; addVoucher no longer copies the lines to get around it.
**Tested**: vitest 24 passed (new test for both directions), playwright 40 passed, 2 skipped (PayPal sandbox, as on main).
B
)" && gh pr checks --watch""", """https://github.com/hafenshop/web/pull/1211
All checks were successful
0 cancelled, 0 failing, 4 successful, 0 skipped, and 0 pending

   NAME          DESCRIPTION  ELAPSED  URL
✓  build                      1m12s    https://github.com/hafenshop/web/actions/runs/9911
✓  e2e (chromium)             3m02s    https://github.com/hafenshop/web/actions/runs/9911
✓  e2e (firefox)              3m40s    https://github.com/hafenshop/web/actions/runs/9911
✓  unit                       44s      https://github.com/hafenshop/web/actions/runs/9911"""),
        assistant("Fixed and in https://github.com/hafenshop/web/pull/1211; all four checks are green. The total was memoised on `cart.lines`, which does not change when a voucher is removed. It depends on the cart now, and a new test adds and removes a voucher. Locally: 24 vitest tests pass, Playwright 40 passed and 2 skipped (the PayPal spec without sandbox, unchanged from main)."),
    ),
)

scala = Session(
    name="r3b_sbt_review_comments",
    about="Scala: two of three review comments are implemented, one is answered with a reason; sbt test passes and CI is green.",
    type="development",
    branch="feature/parquet-sink",
    steps=(
        user("Lena reviewed PR 88. Handle her comments: do what makes sense, answer where you disagree. sbt test + scalafmtCheckAll before you push."),
        bash("gh api repos/acme/lakehouse/pulls/88/comments --jq '.[] | \"\\(.id) \\(.path):\\(.line) \\(.body)\"'", "70011 src/main/scala/sink/ParquetSink.scala:18 Why a var? fold would do.\n70012 src/main/scala/sink/ParquetSink.scala:24 close() is not called when write throws.\n70013 src/test/scala/sink/ParquetSinkSuite.scala:9 Can we use a real S3 bucket here instead of the temp dir?"),
        read("src/main/scala/sink/ParquetSink.scala", '''package sink

import java.nio.file.Path

final case class Written(rows: Long, bytes: Long)

final class ParquetSink(open: Path => RowWriter) {

  /** Writes the rows and gives how many there were. */
  def write(target: Path, rows: Iterator[Row]): Written = {
    val writer = open(target)
    var count = 0L
    rows.foreach { row =>
      writer.put(row)
      count += 1
    }
    val bytes = writer.size
    writer.close()
    Written(count, bytes)
  }
}
'''),
        bash("cat src/test/scala/sink/ParquetSinkSuite.scala", '''package sink

import java.nio.file.{Files, Path}

class ParquetSinkSuite extends munit.FunSuite {

  test("counts rows and bytes") {
    val dir = Files.createTempDirectory("sink")
    val sink = new ParquetSink(RowWriter.parquet)
    val written = sink.write(dir.resolve("a.parquet"), Iterator(Row("a", 1), Row("b", 2)))
    assertEquals(written.rows, 2L)
    assert(written.bytes > 0)
  }
}'''),
        edit("src/main/scala/sink/ParquetSink.scala", '''  def write(target: Path, rows: Iterator[Row]): Written = {
    val writer = open(target)
    var count = 0L
    rows.foreach { row =>
      writer.put(row)
      count += 1
    }
    val bytes = writer.size
    writer.close()
    Written(count, bytes)
  }
''', '''  def write(target: Path, rows: Iterator[Row]): Written =
    Using.resource(open(target)) { writer =>
      val count = rows.foldLeft(0L) { (soFar, row) =>
        writer.put(row)
        soFar + 1
      }
      Written(count, writer.size)
    }
'''),
        edit("src/main/scala/sink/ParquetSink.scala", "import java.nio.file.Path\n", "import java.nio.file.Path\nimport scala.util.Using\n"),
        edit("src/test/scala/sink/ParquetSinkSuite.scala", "    assert(written.bytes > 0)\n  }\n", '''    assert(written.bytes > 0)
  }

  test("closes the writer when a row cannot be written") {
    var closed = false
    val writer = new RowWriter {
      def put(row: Row): Unit = throw new IllegalStateException("disk full")
      def size: Long = 0L
      def close(): Unit = closed = true
    }
    intercept[IllegalStateException](new ParquetSink(_ => writer).write(Path.of("x"), Iterator(Row("a", 1))))
    assert(closed)
  }
'''),
        bash('sbt "scalafmtCheckAll; test"', """[info] welcome to sbt 1.9.9 (Eclipse Adoptium Java 17.0.10)
[info] loading settings for project root from build.sbt ...
[info] set current project to lakehouse (in build file:/srv/project/)
[error] /srv/project/src/main/scala/sink/ParquetSink.scala:12:30: type mismatch;
[error]  found   : sink.RowWriter
[error]  required: AutoCloseable
[error]     Using.resource(open(target)) { writer =>
[error]                        ^
[error] one error found
[error] (Compile / compileIncremental) Compilation failed
[error] Total time: 6 s, completed Mar 2, 2026, 9:00:49 AM""", 1),
        bash("grep -n 'trait RowWriter' -A 6 src/main/scala/sink/RowWriter.scala", "5:trait RowWriter {\n6-  def put(row: Row): Unit\n7-  def size: Long\n8-  def close(): Unit\n9-}"),
        edit("src/main/scala/sink/RowWriter.scala", "trait RowWriter {\n", "trait RowWriter extends AutoCloseable {\n"),
        bash('sbt "scalafmtCheckAll; test"', """[info] welcome to sbt 1.9.9 (Eclipse Adoptium Java 17.0.10)
[info] loading settings for project root from build.sbt ...
[info] set current project to lakehouse (in build file:/srv/project/)
[success] Total time: 2 s, completed Mar 2, 2026, 9:01:02 AM
[info] compiling 3 Scala sources to /srv/project/target/scala-2.13/classes ...
[info] compiling 1 Scala source to /srv/project/target/scala-2.13/test-classes ...
sink.RowSuite:
  + equality 0.011s
sink.ParquetSinkSuite:
  + counts rows and bytes 0.402s
  + closes the writer when a row cannot be written 0.009s
[info] Passed: Total 3, Failed 0, Errors 0, Passed 3
[success] Total time: 9 s, completed Mar 2, 2026, 9:01:11 AM"""),
        bash('git commit -qam "ParquetSink: close the writer in any case, fold instead of var" && git push -q && git log --oneline -1', "e8812fd ParquetSink: close the writer in any case, fold instead of var"),
        bash("""gh api -X POST repos/acme/lakehouse/pulls/88/comments/70011/replies -f body='Agreed, it is a fold now (e8812fd).' --jq .id
gh api -X POST repos/acme/lakehouse/pulls/88/comments/70012/replies -f body='Right. Using.resource closes it now, with a test for a writer that throws (e8812fd).' --jq .id
gh api -X POST repos/acme/lakehouse/pulls/88/comments/70013/replies -f body='I would rather not: the unit suite runs on forks without AWS credentials. The bucket is covered by the nightly job in it/S3SinkIT.scala.' --jq .id
gh pr checks 88 --watch""", """70020
70021
70022
All checks were successful
0 cancelled, 0 failing, 2 successful, 0 skipped, and 0 pending

   NAME     DESCRIPTION  ELAPSED  URL
✓  format                38s      https://github.com/acme/lakehouse/actions/runs/4471
✓  test                  2m11s    https://github.com/acme/lakehouse/actions/runs/4471"""),
        assistant("All three comments of Lena have an answer:\n\n- `var` → a fold (done)\n- `close()` on failure → `Using.resource`, with a test whose writer throws (done; `RowWriter` had to become `AutoCloseable`)\n- real bucket in the unit test → declined, with the reason: forks have no credentials, and the nightly `S3SinkIT` covers it\n\n`sbt test` 3/3, formatting clean, pushed as e8812fd, both checks on PR 88 are green."),
    ),
)

ask_first = Session(
    name="r3b_ask_before_deleting_buckets",
    about="The user wants a list and to be asked before anything is deleted; the session ends on that question.",
    type="operations",
    steps=(
        user("Disk on the build host is at 94 %. Find out what eats it and tell me what you'd delete. Ask me before you delete anything, that's an order."),
        bash("df -h / /var && sudo du -xh --max-depth=2 /var | sort -rh | head -8", """Filesystem      Size  Used Avail Use% Mounted on
/dev/nvme0n1p2  457G  430G   27G  94% /
/dev/nvme0n1p2  457G  430G   27G  94% /
402G	/var
331G	/var/lib
58G	/var/cache
12G	/var/log
1.1G	/var/tmp"""),
        bash("docker system df && docker volume ls -qf dangling=true | wc -l && docker ps -a --filter status=exited --format '{{.Names}} {{.Status}}' | head -5", """TYPE            TOTAL     ACTIVE    SIZE      RECLAIMABLE
Images          412       19        241.7GB   208.3GB (86%)
Containers      57        11        3.902GB   3.611GB (92%)
Local Volumes   38        14        49.03GB   31.2GB (63%)
Build Cache     1904      0         27.44GB   27.44GB
24
ci-runner-3_run_1f Exited (137) 5 weeks ago
ci-runner-1_run_b8 Exited (0) 2 months ago
pgdump-tmp Exited (0) 7 months ago"""),
        bash("docker volume ls -qf dangling=true | xargs -n1 -I{} sh -c 'printf \"%s \" {}; sudo du -sh /var/lib/docker/volumes/{} | cut -f1' | sort -k2 -rh | head -4; sudo du -sh /var/cache/ccache /var/cache/apt", """pgdump_2025_07 18G
runner3_gradle 6.1G
runner1_gradle 5.8G
test_minio 412M
55G	/var/cache/ccache
2.9G	/var/cache/apt"""),
        assistant("""The root disk holds 430 of 457 GB; nearly all of it is Docker and ccache. I have deleted nothing.

| what | size | can it be made again? |
|---|---|---|
| images no container uses | 208 GB | yes, pulled or built again |
| build cache | 27 GB | yes |
| ccache (limit is unset) | 55 GB | yes, slower builds for a day |
| gradle volumes of runners 1 and 3 | 12 GB | yes |
| apt cache | 2.9 GB | yes |
| volume `pgdump_2025_07` | 18 GB | **no**, looks like a database dump of July |

I would delete the first five rows except ccache, which I would only limit to 20 GB. That frees about 285 GB. The dump I would keep until someone says what it is.

May I delete rows 1, 2, 4 and 5 and limit ccache? And do you know whose `pgdump_2025_07` is?"""),
    ),
)

_CRATES = (
    ("wire", "u16", 9), ("codec", "u32", 14), ("session", "u64", 11), ("router", "u32", 17), ("store", "u64", 22),
    ("metrics", "u32", 5), ("admin", "u16", 8), ("client", "u32", 19), ("bench", "u64", 3), ("cli", "u16", 6),
)


def _port(crate, kind, tests, number):
    """One crate moved to the typed id: what had to change differs."""
    name = {"u16": "ShortId", "u32": "NodeId", "u64": "SessionId"}[kind]
    before = f"pub fn lookup(id: {kind}) -> Option<Entry> {{\n    table().get(&id).cloned()\n}}\n"
    looked = read(f"crates/{crate}/src/lib.rs", f"//! {crate}\n\nuse crate::table::{{table, Entry}};\n\n{before}")
    changed = multi_edit(
        f"crates/{crate}/src/lib.rs",
        ("use crate::table::{table, Entry};\n", f"use crate::table::{{table, Entry}};\nuse ids::{name};\n"),
        (f"pub fn lookup(id: {kind})", f"pub fn lookup(id: {name})"),
        ("get(&id)", "get(&id.get())"),
    )
    passed = f"   Compiling {crate} v0.9.0 (/srv/project/crates/{crate})\n    Finished `test` profile [unoptimized + debuginfo] target(s) in 2.{number}1s\n     Running unittests src/lib.rs (target/debug/deps/{crate}-8f{number}c1d2e30a4b5c)\n\nrunning {tests} tests\n{'.' * tests}\ntest result: ok. {tests} passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.0{number}s\n"
    if crate in ("codec", "client"):
        broken = f"   Compiling {crate} v0.9.0 (/srv/project/crates/{crate})\nerror[E0308]: mismatched types\n  --> crates/{crate}/src/decode.rs:41:12\n   |\n41 |     lookup(raw)\n   |     ------ ^^^ expected `{name}`, found `{kind}`\n   |     |\n   |     arguments to this function are incorrect\n\nFor more information about this error, try `rustc --explain E0308`.\nerror: could not compile `{crate}` (lib) due to 1 previous error"
        return (
            looked, changed, bash(f"cargo test -q -p {crate}", broken, 101),
            edit(f"crates/{crate}/src/decode.rs", "    lookup(raw)", f"    lookup({name}::new(raw))"),
            bash(f"cargo test -p {crate}", passed),
        )
    if crate == "store":
        return (looked, says("store also keeps the ids in its index on disk; the format must not change, so it goes on with `get()` there."), changed, bash(f"cargo test -p {crate}", passed))
    return (looked, changed, bash(f"cargo test -p {crate}", passed))


_NAMES = [crate for crate, _, _ in _CRATES]


def _list(done):
    return todos("x crate ids", *(f"{'x' if n < done else '>' if n == done else '-'} {c}" for n, c in enumerate(_NAMES)), ("x" if done > len(_NAMES) else ">" if done == len(_NAMES) else "-") + " workspace: clippy, fmt, all tests")


rust_long = Session(
    name="r3b_rust_workspace_newtype_long",
    about="A long Rust session: ten crates move from raw integers to typed ids, with a compaction in the middle; everything is run at the end.",
    type="development",
    branch="typed-ids",
    steps=(
        user("Replace the naked integers in the lookup functions of all ten crates with newtypes (ShortId u16, NodeId u32, SessionId u64) in a new crate `ids`. Crate by crate, tests of each before the next, one commit at the end on this branch. On-disk format must not change."),
        bash("ls crates && git branch --show-current && grep -n members -A 12 Cargo.toml", "admin  bench  cli  client  codec  metrics  router  session  store  wire\ntyped-ids\n2:members = [\"crates/*\"]\n3-resolver = \"2\""),
        write("crates/ids/Cargo.toml", '[package]\nname = "ids"\nversion = "0.9.0"\nedition = "2021"\n'),
        write("crates/ids/src/lib.rs", '''//! Ids that cannot be mixed up.

macro_rules! id {
    ($name:ident, $of:ty) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name($of);

        impl $name {
            pub const fn new(value: $of) -> Self {
                Self(value)
            }

            pub const fn get(self) -> $of {
                self.0
            }
        }
    };
}

id!(ShortId, u16);
id!(NodeId, u32);
id!(SessionId, u64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_value() {
        assert_eq!(NodeId::new(7).get(), 7);
    }
}
'''),
        bash("cargo test -q -p ids && for c in admin bench cli client codec metrics router session store wire; do cargo add -q -p $c --path crates/ids ids; done", "running 1 test\n.\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n"),
        _list(0),
        tuple((_port(*_CRATES[n], n), _list(n + 1)) for n in range(5)),
        compacted("1. Request: newtypes (ShortId u16, NodeId u32, SessionId u64, crate `ids`) for the lookup functions of ten crates, tests of each crate before the next, one commit at the end on typed-ids, on-disk format unchanged.\n2. Done with passing tests: ids, wire, codec, session, router, store.\n3. Pending: metrics, admin, client, bench, cli; then clippy, fmt and all tests; then the commit."),
        tuple((_port(*_CRATES[n], n), _list(n + 1)) for n in range(5, 10)),
        bash("cargo fmt --all --check && cargo clippy --workspace --all-targets -q -- -D warnings", "error: redundant clone\n  --> crates/router/src/next.rs:52:38\n   |\n52 |     table().get(&hop.get()).cloned().clone()\n   |                                     ^^^^^^^^ help: remove this\n   |\n   = note: `-D clippy::redundant-clone` implied by `-D warnings`\n\nerror: could not compile `router` (lib) due to 1 previous error", 101),
        bash("sed -i 's/.cloned().clone()/.cloned()/' crates/router/src/next.rs && cargo clippy --workspace --all-targets -q -- -D warnings && cargo fmt --all --check"),
        bash("cargo test --workspace 2>&1 | grep -E '^(test result|error|warning|failures)'; echo \"exit ${PIPESTATUS[0]}\"; cargo test -q -p store --test format", "\n".join(f"test result: ok. {n} passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.{i:02}s" for i, n in enumerate((8, 3, 6, 19, 14, 1, 5, 17, 11, 22, 4, 9))) + "\nexit 0\n\nrunning 4 tests\n....\ntest result: ok. 4 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.02s\n"),
        _list(11),
        bash('git add -A && git commit -qm "Typed ids instead of naked integers in all lookups" && git show --stat --oneline HEAD | tail -1 && git status -sb', " 26 files changed, 118 insertions(+), 42 deletions(-)\n## typed-ids"),
        assistant("All ten crates take `ShortId`, `NodeId` or `SessionId` in their lookups; the types live in the new crate `ids`. Every crate was tested before the next, and at the end the whole workspace: 119 tests pass, clippy with `-D warnings` and rustfmt are clean. The on-disk format is the same: `store` writes the inner number, and its format tests (4) pass unchanged. One commit on `typed-ids`. `codec` and `client` each had one more caller in `decode.rs`."),
    ),
)

SESSIONS = (playwright, scala, ask_first, rust_long)
INTENDED = {s.name: "good" for s in SESSIONS}
