from written_sessions.vocabulary import *

# --- a long one: mocha and chai go, node:test comes -------------------------------------------------------------
_FILES = (
    ("slug", "../src/slug.js", "slugify", [("lowers", "expect(slugify('Über Uns')).to.equal('ueber-uns');", "assert.equal(slugify('Über Uns'), 'ueber-uns');"), ("trims dashes", "expect(slugify('--a--')).to.equal('a');", "assert.equal(slugify('--a--'), 'a');")]),
    ("money", "../src/money.js", "parseCents", [("reads a comma", "expect(parseCents('12,50')).to.equal(1250);", "assert.equal(parseCents('12,50'), 1250);"), ("refuses words", "expect(() => parseCents('ten')).to.throw(RangeError);", "assert.throws(() => parseCents('ten'), RangeError);")]),
    ("range", "../src/range.js", "range", [("is half open", "expect(range(0, 3)).to.deep.equal([0, 1, 2]);", "assert.deepEqual(range(0, 3), [0, 1, 2]);")]),
    ("headers", "../src/headers.js", "parseHeaders", [("keeps the last", "expect(parseHeaders('A: 1\\nA: 2')).to.deep.equal({ a: '2' });", "assert.deepEqual(parseHeaders('A: 1\\nA: 2'), { a: '2' });"), ("skips blanks", "expect(parseHeaders('\\n\\n')).to.be.empty;", "assert.deepEqual(parseHeaders('\\n\\n'), {});")]),
    ("retry", "../src/retry.js", "retry", [("gives up", "await expect(retry(async () => { throw new Error('no'); }, 2)).to.be.rejectedWith('no');", "await assert.rejects(retry(async () => { throw new Error('no'); }, 2), /no/);")]),
    ("lru", "../src/lru.js", "Lru", [("forgets the oldest", "const c = new Lru(1); c.set('a', 1); c.set('b', 2); expect(c.has('a')).to.be.false;", "const c = new Lru(1); c.set('a', 1); c.set('b', 2); assert.equal(c.has('a'), false);"), ("counts", "const c = new Lru(2); c.set('a', 1); expect(c).to.have.property('size', 1);", "const c = new Lru(2); c.set('a', 1); assert.equal(c.size, 1);")]),
    ("glob", "../src/glob.js", "toRegExp", [("knows **", "expect(toRegExp('a/**/b').test('a/x/y/b')).to.be.true;", "assert.ok(toRegExp('a/**/b').test('a/x/y/b'));")]),
    ("csv", "../src/csv.js", "parseCsv", [("unquotes", "expect(parseCsv('\"a,b\",c')).to.eql([['a,b', 'c']]);", "assert.deepEqual(parseCsv('\"a,b\",c'), [['a,b', 'c']]);")]),
    ("clock", "../src/clock.js", "formatClock", [("pads", "expect(formatClock(65)).to.equal('1:05');", "assert.equal(formatClock(65), '1:05');")]),
    ("diff", "../src/diff.js", "diffKeys", [("finds what was added", "expect(diffKeys({}, { a: 1 }).added).to.include('a');", "assert.ok(diffKeys({}, { a: 1 }).added.includes('a'));")]),
    ("template", "../src/template.js", "fill", [("escapes", "expect(fill('{x}', { x: '<' })).to.match(/&lt;/);", "assert.match(fill('{x}', { x: '<' }), /&lt;/);")]),
)


def _old(name, source, what, cases):
    is_async = any("await " in old for _, old, _ in cases)
    body = "".join(f"  it('{title}', {'async ' if 'await ' in old else ''}() => {{\n    {old}\n  }});\n" for title, old, _ in cases)
    chai = "import { expect, use } from 'chai';\nimport promised from 'chai-as-promised';\n" if is_async else "import { expect } from 'chai';\n"
    use = "use(promised);\n\n" if is_async else ""
    return f"{chai}import {{ {what} }} from '{source}';\n\n{use}describe('{name}', () => {{\n{body}}});\n"


def _new(name, source, what, cases):
    body = "".join(f"  it('{title}', {'async ' if 'await ' in old else ''}() => {{\n    {new}\n  }});\n" for title, old, new in cases)
    return (
        "import assert from 'node:assert/strict';\nimport { describe, it } from 'node:test';\n"
        f"import {{ {what} }} from '{source}';\n\ndescribe('{name}', () => {{\n{body}}});\n"
    )


def _moved(number):
    name, source, what, cases = _FILES[number]
    path = f"test/{name}.test.js"
    steps = [read(path, _old(*_FILES[number]))]
    if number % 3 == 1 or name == "retry":
        return [*steps, write(path, _new(*_FILES[number]))]
    pairs = [
        ("import { expect } from 'chai';\n", "import assert from 'node:assert/strict';\nimport { describe, it } from 'node:test';\n"),
        *((old, new) for _, old, new in cases),
    ]
    if number % 3 == 2:
        return [*steps, multi_edit(path, *pairs)]
    return [*steps, *(edit(path, old, new) for old, new in pairs)]


def _ran(names, total):
    out = []
    for name in names:
        cases = next(f for f in _FILES if f[0] == name)[3]
        rows = "\n".join(f"  ✔ {title} (0.{len(title) * 7 % 90 + 10}{len(name)}ms)" for title, _, _ in cases)
        out.append(f"▶ {name}\n{rows}\n▶ {name} ({len(cases) + 1}.2{len(name)}1ms)\n")
    return "\n".join(out) + f"\nℹ tests {total}\nℹ suites {len(names)}\nℹ pass {total}\nℹ fail 0\nℹ cancelled 0\nℹ skipped 0\nℹ todo 0\nℹ duration_ms {141.2 + total * 3.07:.3f}\n"


def _count(names):
    return sum(len(f[3]) for f in _FILES if f[0] in names)


_ALL = [f[0] for f in _FILES]
_PACKAGE = """{
  "name": "smallparts",
  "version": "4.2.0",
  "type": "module",
  "scripts": {
    "lint": "eslint .",
    "test": "mocha 'test/**/*.test.js'"
  },
  "devDependencies": {
    "@eslint/js": "^9.9.0",
    "chai": "^5.1.1",
    "chai-as-promised": "^8.0.0",
    "eslint": "^9.9.0",
    "globals": "^15.9.0",
    "mocha": "^10.7.3"
  }
}
"""

long_one = Session(
    name="r2b_smallparts_mocha_to_node_test",
    about="A long move of eleven test files from mocha and chai to node:test.",
    type="development",
    branch="node-test",
    steps=(
        user(
            "Get rid of mocha + chai + chai-as-promised in this package, use node:test and node:assert/strict instead. Same tests, none lost "
            "(mocha reports 15 today I think). npm test and npm run lint must pass, drop the three dev dependencies. CONTRIBUTING mentions mocha too. Commit at the end, on this branch."
        ),
        bash("npm test 2>&1 | tail -4; ls test; git branch --show-current", "\n  15 passing (38ms)\n\nclock.test.js\ncsv.test.js\ndiff.test.js\nglob.test.js\nheaders.test.js\nlru.test.js\nmoney.test.js\nrange.test.js\nretry.test.js\nslug.test.js\ntemplate.test.js\nnode-test"),
        read("package.json", _PACKAGE),
        bash("ls -A | grep -v node_modules; git grep -nE 'mocha|chai' -- ':!package-lock.json' ':!CHANGELOG.md' ':!test'", ".git\n.gitignore\n.mocharc.json\nCHANGELOG.md\nCONTRIBUTING.md\nREADME.md\neslint.config.js\npackage-lock.json\npackage.json\nsrc\ntest\nCONTRIBUTING.md:9:Run `npx mocha test/lru.test.js` for a single file.\neslint.config.js:6:  { languageOptions: { globals: { ...globals.node, ...globals.mocha } } },\npackage.json:7:    \"test\": \"mocha 'test/**/*.test.js'\"\npackage.json:11:    \"chai\": \"^5.1.1\",\npackage.json:12:    \"chai-as-promised\": \"^8.0.0\",\npackage.json:15:    \"mocha\": \"^10.7.3\""),
        todos("> slug, money, range", "- headers, retry, lru", "- glob, csv, clock", "- diff, template", "- package.json, .mocharc.json, CONTRIBUTING", "- lint, whole suite, commit"),
        [_moved(n) for n in range(0, 3)],
        bash("node --test test/slug.test.js test/money.test.js test/range.test.js", _ran(_ALL[:3], _count(_ALL[:3]))),
        todos("x slug, money, range", "> headers, retry, lru", "- glob, csv, clock", "- diff, template", "- package.json, .mocharc.json, CONTRIBUTING", "- lint, whole suite, commit"),
        [_moved(n) for n in range(3, 6)],
        bash("node --test test/headers.test.js test/retry.test.js test/lru.test.js", """▶ headers
  ✖ keeps the last (1.403ms)
    AssertionError [ERR_ASSERTION]: Expected values to be strictly deep-equal:
    + actual - expected

    + [Object: null prototype] {
    - {
        a: '2'
      }
        at TestContext.<anonymous> (file:///srv/project/test/headers.test.js:7:12)
  ✖ skips blanks (0.212ms)
    AssertionError [ERR_ASSERTION]: Expected values to be strictly deep-equal:
    + actual - expected

    + [Object: null prototype] {}
    - {}
        at TestContext.<anonymous> (file:///srv/project/test/headers.test.js:10:12)
▶ headers (2.911ms)
▶ retry
  ✔ gives up (4.120ms)
▶ retry (4.871ms)
▶ lru
  ✔ forgets the oldest (0.801ms)
  ✔ counts (0.102ms)
▶ lru (1.330ms)
ℹ tests 5
ℹ suites 3
ℹ pass 3
ℹ fail 2
ℹ cancelled 0
ℹ skipped 0
ℹ todo 0
ℹ duration_ms 160.114
""", 1),
        read("src/headers.js", "export function parseHeaders(text) {\n  const headers = Object.create(null);\n  for (const line of text.split('\\n')) {\n    const at = line.indexOf(':');\n    if (at > 0) headers[line.slice(0, at).trim().toLowerCase()] = line.slice(at + 1).trim();\n  }\n  return headers;\n}\n"),
        says("The null prototype is on purpose there (no `__proto__` from outside), and chai's deep equal did not look at prototypes. The expectation has to say it, the source stays as it is."),
        edit("test/headers.test.js", "assert.deepEqual(parseHeaders('A: 1\\nA: 2'), { a: '2' });", "assert.deepEqual(parseHeaders('A: 1\\nA: 2'), { __proto__: null, a: '2' });"),
        edit("test/headers.test.js", "assert.deepEqual(parseHeaders('\\n\\n'), {});", "assert.deepEqual(parseHeaders('\\n\\n'), { __proto__: null });"),
        bash("node --test test/headers.test.js", _ran(["headers"], 2)),
        todos("x slug, money, range", "x headers, retry, lru", "> glob, csv, clock", "- diff, template", "- package.json, .mocharc.json, CONTRIBUTING", "- lint, whole suite, commit"),
        [_moved(n) for n in range(6, 9)],
        todos("x slug, money, range", "x headers, retry, lru", "x glob, csv, clock", "> diff, template", "- package.json, .mocharc.json, CONTRIBUTING", "- lint, whole suite, commit"),
        [_moved(n) for n in range(9, 11)],
        bash("node --test", _ran(sorted(_ALL), _count(_ALL))),
        todos("x slug, money, range", "x headers, retry, lru", "x glob, csv, clock", "x diff, template", "> package.json, .mocharc.json, CONTRIBUTING", "- lint, whole suite, commit"),
        edit("package.json", "mocha 'test/**/*.test.js'", "node --test"),
        bash("npm uninstall mocha chai chai-as-promised && git rm -q .mocharc.json && cat package.json", "\nremoved 84 packages, and audited 91 packages in 2s\n\n24 packages are looking for funding\n  run `npm fund` for details\n\nfound 0 vulnerabilities\n" + _PACKAGE.replace("mocha 'test/**/*.test.js'", "node --test").replace('    "chai": "^5.1.1",\n    "chai-as-promised": "^8.0.0",\n', "").replace('"^15.9.0",\n    "mocha": "^10.7.3"\n', '"^15.9.0"\n')),
        read("CONTRIBUTING.md", "# Contributing\n\n- Node 20 or newer\n- `npm ci`\n\n## Tests\n\n`npm test` runs everything.\nRun `npx mocha test/lru.test.js` for a single file.\n"),
        edit("CONTRIBUTING.md", "npx mocha test/lru.test.js", "node --test test/lru.test.js"),
        read("eslint.config.js", "import js from '@eslint/js';\nimport globals from 'globals';\n\nexport default [\n  js.configs.recommended,\n  { languageOptions: { globals: { ...globals.node, ...globals.mocha } } },\n];\n"),
        edit("eslint.config.js", "{ ...globals.node, ...globals.mocha }", "globals.node"),
        bash("npm run lint && npm test", "\n> smallparts@4.2.0 lint\n> eslint .\n\n\n> smallparts@4.2.0 test\n> node --test\n\n" + _ran(sorted(_ALL), _count(_ALL))),
        bash("git grep -inE 'mocha|chai' -- ':!package-lock.json' ':!CHANGELOG.md'", "", 1),
        bash("git add -A && git commit -m 'test: node:test instead of mocha and chai'", "[node-test 4e01d77] test: node:test instead of mocha and chai\n 16 files changed, 88 insertions(+), 1029 deletions(-)\n delete mode 100644 .mocharc.json"),
        todos("x slug, money, range", "x headers, retry, lru", "x glob, csv, clock", "x diff, template", "x package.json, .mocharc.json, CONTRIBUTING", "x lint, whole suite, commit"),
        assistant(
            f"All eleven files run under node:test now, with the same {_count(_ALL)} tests as before. `npm run lint` and `npm test` pass, and it is committed on `node-test` as 4e01d77.\n\n"
            "- mocha, chai and chai-as-promised are out of package.json, `.mocharc.json` is deleted, `eslint.config.js` no longer allows mocha's globals.\n"
            "- CONTRIBUTING names `node --test` for a single file.\n- Two expectations of `headers.test.js` got stricter: node's deepEqual looks at prototypes, and `parseHeaders` returns an object without one.\n\n"
            "Remaining mentions of mocha: only old entries of CHANGELOG.md, which I left as history."
        ),
    ),
)

clojure = Session(
    name="r2b_clojure_no_runs_please",
    about="A small change in Clojure, the user forbids running anything.",
    type="simple",
    steps=(
        user("in src/feed/rss.clj the items come out in the order of the db. newest first please (by :published). Don't start anything, no repl and no lein test, I have a REPL open on it and reload myself"),
        read("src/feed/rss.clj", """(ns feed.rss
  (:require [clojure.data.xml :as xml]
            [feed.db :as db]))

(defn- item [{:keys [title url published]}]
  [:item [:title title] [:link url] [:pubDate (str published)]])

(defn channel [site]
  (xml/sexp-as-element
   [:rss {:version "2.0"}
    (into [:channel [:title (:name site)]]
          (map item)
          (db/articles (:id site)))]))
"""),
        grep(":published", "src/feed/db.clj:18:   :published (.toInstant (:published_at row))", "test/feed/rss_test.clj:9:(def articles [{:title \"a\" :url \"/a\" :published #inst \"2024-01-02\"}"),
        edit("src/feed/rss.clj", "          (db/articles (:id site)))]))", "          (sort-by :published #(compare %2 %1) (db/articles (:id site))))]))"),
        assistant("`channel` sorts the articles by `:published`, newest first, before they become items. `:published` is an Instant from the db, so `compare` works on it. As you asked I ran nothing; reloading `feed.rss` is enough."),
    ),
)

dbt = Session(
    name="r2b_dbt_orders_late_fees",
    about="A dbt model gets a column, the build runs in the background and is looked at.",
    type="development",
    steps=(
        user("models/marts/fct_orders.sql needs late_fee_cents: 2% of amount_cents (rounded) if paid_at is more than 14 days after due_at or still null and due_at is over 14 days ago. not_null test + description in the yml. dbt build takes ~5 min on dev"),
        read("models/marts/fct_orders.sql", """select
    o.order_id,
    o.customer_id,
    o.amount_cents,
    o.due_at,
    p.paid_at
from {{ ref('stg_orders') }} as o
left join {{ ref('stg_payments') }} as p using (order_id)
"""),
        read("models/marts/marts.yml", """version: 2
models:
  - name: fct_orders
    columns:
      - name: order_id
        description: Key of the order.
        tests: [unique, not_null]
"""),
        edit("models/marts/fct_orders.sql", "    p.paid_at\n", "    p.paid_at,\n    case\n        when coalesce(p.paid_at, current_timestamp) > o.due_at + interval '14 days'\n            then round(o.amount_cents * 0.02)::integer\n        else 0\n    end as late_fee_cents\n"),
        edit("models/marts/marts.yml", "        tests: [unique, not_null]\n", "        tests: [unique, not_null]\n      - name: late_fee_cents\n        description: 2 % of the amount once an order is paid, or open, more than 14 days after it was due; else 0.\n        tests: [not_null]\n"),
        bash("sqlfluff lint models/marts/fct_orders.sql && dbt parse -q", "All Finished 📜 🎉!"),
        background("bk3f01", "dbt build --select +fct_orders+ --target dev > /tmp/dbt_build.log 2>&1"),
        assistant("The column and its test are written, sqlfluff is clean. `dbt build` of the model with its neighbours is running in the background; I'll be notified when it's through and report then."),
        background_ended("bk3f01", "dbt build --select +fct_orders+ --target dev > /tmp/dbt_build.log 2>&1", 0),
        bash("cat /tmp/dbt_build.log", """10:14:02  Running with dbt=1.8.3
10:14:03  Registered adapter: postgres=1.8.2
10:14:03  Found 41 models, 1 seed, 88 data tests, 12 sources, 527 macros
10:14:03  
10:14:05  Concurrency: 4 threads (target='dev')
10:14:05  
10:14:05  1 of 9 START sql view model dev.stg_orders ..................................... [RUN]
10:14:05  2 of 9 START sql view model dev.stg_payments ................................... [RUN]
10:14:06  1 of 9 OK created sql view model dev.stg_orders ................................ [CREATE VIEW in 0.61s]
10:14:06  2 of 9 OK created sql view model dev.stg_payments .............................. [CREATE VIEW in 0.64s]
10:14:06  3 of 9 START test unique_stg_orders_order_id ................................... [RUN]
10:14:07  3 of 9 PASS unique_stg_orders_order_id ......................................... [PASS in 0.92s]
10:14:07  4 of 9 START sql table model dev.fct_orders .................................... [RUN]
10:18:12  4 of 9 OK created sql table model dev.fct_orders ............................... [SELECT 2418833 in 245.11s]
10:18:12  5 of 9 START test not_null_fct_orders_late_fee_cents ........................... [RUN]
10:18:12  6 of 9 START test not_null_fct_orders_order_id ................................. [RUN]
10:18:12  7 of 9 START test unique_fct_orders_order_id ................................... [RUN]
10:18:14  6 of 9 PASS not_null_fct_orders_order_id ....................................... [PASS in 1.71s]
10:18:14  5 of 9 PASS not_null_fct_orders_late_fee_cents ................................. [PASS in 1.80s]
10:18:15  7 of 9 PASS unique_fct_orders_order_id ......................................... [PASS in 2.60s]
10:18:15  8 of 9 START sql table model dev.rpt_monthly_revenue ........................... [RUN]
10:18:31  8 of 9 OK created sql table model dev.rpt_monthly_revenue ...................... [SELECT 62 in 15.80s]
10:18:31  9 of 9 START test not_null_rpt_monthly_revenue_month ........................... [RUN]
10:18:31  9 of 9 PASS not_null_rpt_monthly_revenue_month ................................. [PASS in 0.21s]
10:18:31  
10:18:31  Finished running 2 view models, 2 table models, 5 data tests in 0 hours 4 minutes and 28.10 seconds (268.10s).
10:18:31  
10:18:31  Completed successfully
10:18:31  
10:18:31  Done. PASS=9 WARN=0 ERROR=0 SKIP=0 TOTAL=9
"""),
        bash("psql -X dev -c \"select paid_at is null as open, count(*) filter (where late_fee_cents > 0) as with_fee, count(*) from dev.fct_orders group by 1\"", " open | with_fee |  count  \n------+----------+---------\n f    |    31207 | 2390114\n t    |    11876 |   28719\n(2 rows)"),
        assistant("`dbt build` is through: PASS=9, no warnings or errors, including the new not_null test. 31,207 paid and 11,876 open orders carry a late fee on dev. The downstream report was rebuilt with it and did not change its row count."),
    ),
)

scala = Session(
    name="r2b_sbt_flaky_pool_spec",
    about="Why a Scala suite is flaky in CI; found out with a subagent that read logs.",
    type="investigation",
    steps=(
        user("PoolSpec in modules/db fails maybe one run in ten in CI, never for me. Find out why, please don't change anything yet."),
        subagent(
            "a41c09", "Read the failed CI logs",
            "Read the logs of the failed runs under ci-logs/ and list, for each, the failing example, its message and what ran beside it.",
            bash("grep -l 'FAILED' ci-logs/*.txt; grep -h -A1 'FAILED \\*\\*\\*' ci-logs/*.txt", "ci-logs/run-2211.txt\nci-logs/run-2230.txt\nci-logs/run-2248.txt\n[info] - should hand out a returned connection again *** FAILED ***\n[info]   remaining was 3, but expected 4 (PoolSpec.scala:41)\n[info] - should hand out a returned connection again *** FAILED ***\n[info]   remaining was 3, but expected 4 (PoolSpec.scala:41)\n[info] - should hand out a returned connection again *** FAILED ***\n[info]   remaining was 2, but expected 4 (PoolSpec.scala:41)"),
            bash("for f in 2211 2230 2248; do grep -n 'MigrationSpec:\\|PoolSpec:' ci-logs/run-$f.txt; done", "118:[info] MigrationSpec:\n121:[info] PoolSpec:\n97:[info] MigrationSpec:\n99:[info] PoolSpec:\n140:[info] MigrationSpec:\n141:[info] PoolSpec:"),
            report="All three failures are the same example (PoolSpec.scala:41, remaining 3, 3 and 2 instead of 4). In each, MigrationSpec started directly before PoolSpec.",
        ),
        read("modules/db/src/test/scala/db/PoolSpec.scala", """package db

import org.scalatest.flatspec.AnyFlatSpec
import org.scalatest.matchers.should.Matchers

class PoolSpec extends AnyFlatSpec with Matchers {
  "A pool" should "hand out a returned connection again" in {
    val connection = TestDatabase.pool.borrow()
    connection.close()
    TestDatabase.pool.remaining shouldBe 4
  }
}
"""),
        read("modules/db/src/test/scala/db/TestDatabase.scala", """package db

object TestDatabase {
  lazy val pool: Pool = Pool.open(sys.env("TEST_DATABASE_URL"), size = 4)
}
"""),
        bash("grep -rn 'TestDatabase.pool' modules/db/src/test; grep -n 'parallelExecution\\|concurrentRestrictions' build.sbt .github/workflows/ci.yml", "modules/db/src/test/scala/db/MigrationSpec.scala:14:    Using.resource(TestDatabase.pool.borrow())(Migrations.run)\nmodules/db/src/test/scala/db/PoolSpec.scala:8:    val connection = TestDatabase.pool.borrow()\nmodules/db/src/test/scala/db/PoolSpec.scala:10:    TestDatabase.pool.remaining shouldBe 4\nbuild.sbt:22:  Test / parallelExecution := !sys.env.get(\"LOCAL\").contains(\"1\"),"),
        bash("for i in $(seq 20); do sbt -Dsbt.supershell=false 'db/testOnly db.PoolSpec db.MigrationSpec' > /tmp/run$i.log 2>&1 || echo \"$i: $(grep -h 'remaining was' /tmp/run$i.log)\"; done; for i in $(seq 20); do LOCAL=1 sbt 'db/testOnly db.PoolSpec db.MigrationSpec' > /tmp/l$i.log 2>&1 || echo \"LOCAL $i failed\"; done; echo done", "4: [info]   remaining was 3, but expected 4 (PoolSpec.scala:41)\n11: [info]   remaining was 3, but expected 4 (PoolSpec.scala:41)\n17: [info]   remaining was 3, but expected 4 (PoolSpec.scala:41)\ndone"),
        bash("grep -n LOCAL .envrc", ".envrc:3:export LOCAL=1"),
        assistant(
            "**Cause:** PoolSpec and MigrationSpec share one pool (`TestDatabase.pool`, a lazy val of an object). In CI sbt runs suites in parallel, so MigrationSpec may hold a connection while PoolSpec counts the remaining ones: 3 instead of 4.\n\n"
            "**Why never for you:** `build.sbt:22` switches parallel execution off if LOCAL=1, and your `.envrc` sets that.\n\n"
            "**Evidence:** all three failed CI logs show this very example, each time with MigrationSpec just started. Here, 3 of 20 runs failed without LOCAL and 0 of 20 with it.\n\n"
            "**Ways out** (nothing changed, as you asked): a pool of its own for PoolSpec is the smallest one and keeps the suites parallel. Switching parallelExecution off for modules/db would work as well, and costs about 40 s per run going by the CI logs. I would take the first."
        ),
    ),
)
_VAULT = """// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

contract Vault {
    mapping(address => uint256) public balanceOf;

    function deposit() external payable {
        balanceOf[msg.sender] += msg.value;
    }

    function withdraw() external {
        uint256 amount = balanceOf[msg.sender];
        require(amount > 0, "balance");
        (bool ok,) = msg.sender.call{value: amount}("");
        require(ok, "transfer");
        balanceOf[msg.sender] = 0;
    }
}
"""
foundry = Session(
    name="r2b_vault_reentrancy",
    about="A reentrancy hole in a Solidity contract: attack test, fix, then custom errors in a second turn.",
    type="development",
    steps=(
        user("src/Vault.sol is reentrant, audit finding H-1. Write an attacker test that drains it, then fix it."),
        read("src/Vault.sol", _VAULT),
        todos("> Attacker test", "- Fix withdraw", "- forge test"),
        write("test/VaultReentrancy.t.sol", """// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {Test} from "forge-std/Test.sol";
import {Vault} from "../src/Vault.sol";

contract Attacker {
    Vault private immutable VAULT;

    constructor(Vault vault) {
        VAULT = vault;
    }

    function attack() external payable {
        VAULT.deposit{value: msg.value}();
        VAULT.withdraw();
    }

    receive() external payable {
        if (address(VAULT).balance >= msg.value) {
            VAULT.withdraw();
        }
    }
}

contract VaultReentrancyTest is Test {
    Vault private vault;
    Attacker private attacker;

    function setUp() public {
        vault = new Vault();
        attacker = new Attacker(vault);
        vault.deposit{value: 5 ether}();
    }

    function test_AttackerCannotDrain() public {
        vm.deal(address(this), 1 ether);
        vm.expectRevert();
        attacker.attack{value: 1 ether}();
        assertEq(address(vault).balance, 5 ether);
    }
}
"""),
        bash("forge test --match-contract VaultReentrancy", """[⠊] Compiling...
[⠒] Compiling 2 files with Solc 0.8.24
[⠢] Solc 0.8.24 finished in 1.09s
Compiler run successful!

Ran 1 test for test/VaultReentrancy.t.sol:VaultReentrancyTest
[FAIL: next call did not revert as expected] test_AttackerCannotDrain() (gas: 118804)
Suite result: FAILED. 0 passed; 1 failed; 0 skipped; finished in 1.12ms (301.21µs CPU time)

Ran 1 test suite in 6.90ms (1.12ms CPU time): 0 tests passed, 1 failed, 0 skipped (1 total tests)

Failing tests:
Encountered 1 failing test in test/VaultReentrancy.t.sol:VaultReentrancyTest
[FAIL: next call did not revert as expected] test_AttackerCannotDrain() (gas: 118804)

Encountered a total of 1 failing tests, 0 tests succeeded
""", 1),
        todos("x Attacker test", "> Fix withdraw", "- forge test"),
        edit("src/Vault.sol", """        (bool ok,) = msg.sender.call{value: amount}("");
        require(ok, "transfer");
        balanceOf[msg.sender] = 0;
""", """        balanceOf[msg.sender] = 0;
        (bool ok,) = msg.sender.call{value: amount}("");
        require(ok, "transfer");
"""),
        todos("x Attacker test", "x Fix withdraw", "> forge test"),
        bash("forge test", """[⠊] Compiling...
[⠒] Compiling 3 files with Solc 0.8.24
[⠢] Solc 0.8.24 finished in 1.21s
Compiler run successful!

Ran 1 test for test/VaultReentrancy.t.sol:VaultReentrancyTest
[PASS] test_AttackerCannotDrain() (gas: 96117)
Suite result: ok. 1 passed; 0 failed; 0 skipped; finished in 1.30ms (402.11µs CPU time)

Ran 3 tests for test/Vault.t.sol:VaultTest
[PASS] testFuzz_DepositThenWithdraw(uint96) (runs: 256, μ: 41207, ~: 41534)
[PASS] test_Deposit() (gas: 33812)
[PASS] test_WithdrawWithoutBalance() (gas: 14022)
Suite result: ok. 3 passed; 0 failed; 0 skipped; finished in 14.70ms (14.01ms CPU time)

Ran 2 test suites in 19.44ms (16.00ms CPU time): 4 tests passed, 0 failed, 0 skipped (4 total tests)
"""),
        todos("x Attacker test", "x Fix withdraw", "x forge test"),
        assistant("H-1 is closed: `withdraw` sets the balance to 0 before it sends, so a second entry fails its balance check and the whole call reverts. The attacker test failed before and passes now; 4 of 4 tests pass."),
        user("nice. while you're in there: custom errors instead of the two require strings, tests adapted"),
        read("test/Vault.t.sol", """// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {Test} from "forge-std/Test.sol";
import {Vault} from "../src/Vault.sol";

contract VaultTest is Test {
    Vault private vault = new Vault();

    receive() external payable {}

    function test_Deposit() public {
        vault.deposit{value: 1 ether}();
        assertEq(vault.balanceOf(address(this)), 1 ether);
    }

    function test_WithdrawWithoutBalance() public {
        vm.expectRevert("balance");
        vault.withdraw();
    }

    function testFuzz_DepositThenWithdraw(uint96 amount) public {
        vm.assume(amount > 0);
        vm.deal(address(this), amount);
        vault.deposit{value: amount}();
        vault.withdraw();
        assertEq(address(this).balance, amount);
    }
}
"""),
        multi_edit("src/Vault.sol",
            ("    mapping(address => uint256) public balanceOf;\n", "    error NothingToWithdraw();\n    error TransferFailed();\n\n    mapping(address => uint256) public balanceOf;\n"),
            ('        require(amount > 0, "balance");\n', "        if (amount == 0) revert NothingToWithdraw();\n"),
            ('        require(ok, "transfer");\n', "        if (!ok) revert TransferFailed();\n")),
        edit("test/Vault.t.sol", 'vm.expectRevert("balance");', "vm.expectRevert(Vault.NothingToWithdraw.selector);"),
        edit("test/VaultReentrancy.t.sol", "vm.expectRevert();", "vm.expectRevert(Vault.TransferFailed.selector);"),
        bash("forge fmt && forge test", """[⠊] Compiling...
[⠒] Compiling 3 files with Solc 0.8.24
[⠢] Solc 0.8.24 finished in 1.18s
Compiler run successful!

Ran 1 test for test/VaultReentrancy.t.sol:VaultReentrancyTest
[PASS] test_AttackerCannotDrain() (gas: 95870)
Suite result: ok. 1 passed; 0 failed; 0 skipped; finished in 1.02ms (390.80µs CPU time)

Ran 3 tests for test/Vault.t.sol:VaultTest
[PASS] testFuzz_DepositThenWithdraw(uint96) (runs: 256, μ: 41119, ~: 41440)
[PASS] test_Deposit() (gas: 33812)
[PASS] test_WithdrawWithoutBalance() (gas: 13731)
Suite result: ok. 3 passed; 0 failed; 0 skipped; finished in 13.98ms (13.40ms CPU time)

Ran 2 test suites in 17.71ms (15.00ms CPU time): 4 tests passed, 0 failed, 0 skipped (4 total tests)
"""),
        assistant("`NothingToWithdraw()` and `TransferFailed()` replace the two strings, and both tests now expect the exact error. forge test: 4 passed, 0 failed."),
    ),
)

rails_plan = Session(
    name="r2b_rails_uuid_plan_only",
    about="The user wants only a plan for a migration to UUIDs and gets it.",
    type="investigation",
    steps=(
        user("We want to move invoices.id from bigint to uuid on a live Rails app, 30M rows, Postgres 15. Look at the code and give me a step by step plan. Plan only, we'll do it next sprint."),
        bash("grep -rn 'invoice_id\\|belongs_to :invoice' app db/structure.sql | grep -v '^db/structure.sql.*COMMENT'", """app/models/line_item.rb:2:  belongs_to :invoice
app/models/payment.rb:4:  belongs_to :invoice, optional: true
app/jobs/send_reminder_job.rb:7:  def perform(invoice_id)
db/structure.sql:812:    invoice_id bigint NOT NULL,
db/structure.sql:1044:    invoice_id bigint,
"""),
        bash("grep -rn 'Invoice.find\\|order(:id)\\|Invoice.last\\|Invoice.maximum' app lib", "app/controllers/invoices_controller.rb:31:    @invoice = Invoice.find(params[:id])\napp/services/numbering.rb:5:    (Invoice.maximum(:id) || 0) + 1\nlib/tasks/export.rake:12:  Invoice.order(:id).find_each do |invoice|"),
        read("app/services/numbering.rb", "class Numbering\n  # number of the next invoice\n  def self.next\n    (Invoice.maximum(:id) || 0) + 1\n  end\nend\n"),
        bash("grep -n 'sidekiq\\|strong_migrations\\|^    rails ' Gemfile.lock", "    rails (7.1.3.4)\n    sidekiq (7.2.4)\n    strong_migrations (1.8.0)"),
        assistant("""Here is the plan. Two tables refer to invoices (`line_items`, `payments`), one job takes the id as its argument, and three places rely on ids growing.

**Release 1: add, write both**
1. `add_column :invoices, :uuid, :uuid, default: -> { "gen_random_uuid()" }`. On Postgres 15 a volatile default rewrites the table, so add the column without it, then set the default.
2. Add `invoice_uuid` to line_items and payments; a `before_validation` fills it from the invoice.
3. Give `Numbering` a sequence of its own. Today it is `maximum(:id) + 1`, which breaks with UUIDs and already races.

**Release 2: backfill**
4. Backfill in batches of 10,000 with a pause, about 30M / 10k = 3,000 batches.
5. Unique index on `invoices.uuid`, indexes on both `invoice_uuid`, all CONCURRENTLY; then NOT NULL through a validated check constraint (payments stays nullable).

**Release 3: read the new one**
6. `find` accepts both forms in InvoicesController; links are made with the uuid.
7. `export.rake` orders by `created_at, uuid`, and `find_each` gets `in_batches` with a cursor on it.
8. `SendReminderJob` accepts both for as long as old jobs may be queued (retries: 21 days).

**Release 4: swap**
9. In one transaction with `lock_timeout = '2s'`: rename id to legacy_id and uuid to id, swap the primary key using the prepared index, same for the foreign keys.
10. Drop `legacy_id` after a month.

Point of no return is step 9; up to there each release can be rolled back alone. Next steps on your side: decide whether old numeric URLs must keep working (6), and book a quiet hour for 9."""),
    ),
)

kotlin = Session(
    name="r2b_kotlin_todo_by_name_ja",
    about="日本語の依頼。頼まれたTODOコメントを残し、テストは通る。",
    type="development",
    steps=(
        user("PriceFormatter.kt で円の表示に3桁区切りを入れてください。外貨対応は来期なので、その場所に「TODO(FX-310): 外貨対応」というコメントだけ残しておいてください。テストもお願いします。"),
        read("app/src/main/kotlin/shop/PriceFormatter.kt", """package shop

object PriceFormatter {
    fun format(yen: Long): String = "¥$yen"
}
"""),
        read("app/src/test/kotlin/shop/PriceFormatterTest.kt", """package shop

import kotlin.test.Test
import kotlin.test.assertEquals

class PriceFormatterTest {
    @Test
    fun `small amounts`() = assertEquals("¥980", PriceFormatter.format(980))
}
"""),
        edit("app/src/main/kotlin/shop/PriceFormatter.kt", '    fun format(yen: Long): String = "¥$yen"\n', '    // TODO(FX-310): 外貨対応\n    fun format(yen: Long): String = (if (yen < 0) "-" else "") + "¥" + "%,d".format(Locale.JAPAN, abs(yen))\n'),
        edit("app/src/main/kotlin/shop/PriceFormatter.kt", "package shop\n", "package shop\n\nimport java.util.Locale\nimport kotlin.math.abs\n"),
        edit("app/src/test/kotlin/shop/PriceFormatterTest.kt", "PriceFormatter.format(980))\n", 'PriceFormatter.format(980))\n\n    @Test\n    fun `groups of three digits`() = assertEquals("¥1,234,567", PriceFormatter.format(1_234_567))\n\n    @Test\n    fun `negative amounts`() = assertEquals("-¥1,200", PriceFormatter.format(-1200))\n'),
        bash("./gradlew :app:test", """> Task :app:compileKotlin
> Task :app:processResources NO-SOURCE
> Task :app:classes
> Task :app:compileTestKotlin
> Task :app:testClasses

> Task :app:test

PriceFormatterTest > small amounts() PASSED

PriceFormatterTest > groups of three digits() PASSED

PriceFormatterTest > negative amounts() PASSED

BUILD SUCCESSFUL in 9s
4 actionable tasks: 3 executed, 1 up-to-date
"""),
        assistant("3桁区切りを実装しました(例: ¥1,234,567、マイナスは -¥1,200)。ご指定のコメント「TODO(FX-310): 外貨対応」も該当箇所に入れてあります。`./gradlew :app:test` は3件すべて成功しています。\n\nマイナスの表記は「-¥1,200」にしましたが、社内の帳票に合わせて「▲1,200」の方がよろしいでしょうか。"),
    ),
)

swift = Session(
    name="r2b_swift_package_after_compaction",
    about="A compacted session: the CLI's retry option is finished, then a typo in the README is fixed.",
    type="development",
    steps=(
        user("fetchkit: add --retries N (default 0) to the CLI, with exponential backoff, tests for the backoff, and a line in the README. I'd like the backoff capped at 30 seconds."),
        read("Sources/FetchKit/Backoff.swift", "public struct Backoff {\n    public let base: Double\n\n    public init(base: Double = 0.5) {\n        self.base = base\n    }\n}\n"),
        edit("Sources/FetchKit/Backoff.swift", "        self.base = base\n    }\n", "        self.base = base\n    }\n\n    /// Seconds to wait before retry `number`, which counts from 1.\n    public func delay(before number: Int) -> Double {\n        min(30, base * pow(2, Double(number - 1)))\n    }\n"),
        bash("swift build", "Building for debugging...\n/srv/project/Sources/FetchKit/Backoff.swift:10:24: error: cannot find 'pow' in scope\n        min(30, base * pow(2, Double(number - 1)))\n                       ^~~\nerror: fatalError", 1),
        compacted("The user wants fetchkit --retries N (default 0), exponential backoff capped at 30 s, tests for the backoff and a README line.\n\nDone: Backoff.delay(before:) in Sources/FetchKit/Backoff.swift, not compiling yet because Foundation is not imported.\nOpen: import, the option in Sources/cli/Fetch.swift, tests in Tests/FetchKitTests/BackoffTests.swift, README."),
        read("Sources/FetchKit/Backoff.swift", "public struct Backoff {\n    public let base: Double\n\n    public init(base: Double = 0.5) {\n        self.base = base\n    }\n\n    /// Seconds to wait before retry `number`, which counts from 1.\n    public func delay(before number: Int) -> Double {\n        min(30, base * pow(2, Double(number - 1)))\n    }\n}\n"),
        edit("Sources/FetchKit/Backoff.swift", "public struct Backoff {", "import Foundation\n\npublic struct Backoff {"),
        read("Sources/cli/Fetch.swift", """import ArgumentParser
import FetchKit

@main
struct Fetch: AsyncParsableCommand {
    @Argument(help: "What to fetch.")
    var url: String

    func run() async throws {
        print(try await Client().text(of: url))
    }
}
"""),
        multi_edit("Sources/cli/Fetch.swift",
            ("    func run() async throws {\n        print(try await Client().text(of: url))\n    }\n", """    @Option(help: "How often to try again after a failure.")
    var retries = 0

    func validate() throws {
        guard retries >= 0 else { throw ValidationError("--retries must not be negative.") }
    }

    func run() async throws {
        var failures = 0
        while true {
            do {
                print(try await Client().text(of: url))
                return
            } catch where failures < retries {
                failures += 1
                try await Task.sleep(for: .seconds(Backoff().delay(before: failures)))
            }
        }
    }
""")),
        write("Tests/FetchKitTests/BackoffTests.swift", """import XCTest
@testable import FetchKit

final class BackoffTests: XCTestCase {
    func testDoubles() {
        XCTAssertEqual((1...4).map { Backoff().delay(before: $0) }, [0.5, 1, 2, 4])
    }

    func testIsCapped() {
        XCTAssertEqual(Backoff().delay(before: 7), 30)
        XCTAssertEqual(Backoff().delay(before: 60), 30)
    }
}
"""),
        edit("README.md", "fetchkit URL\n", "fetchkit URL\nfetchkit --retries 3 URL   # try again up to three time, waiting 0.5 s, 1 s, 2 s (30 s at most)\n"),
        bash("swift test", """Building for debugging...
[8/8] Compiling FetchKitTests BackoffTests.swift
Build complete! (6.11s)
Test Suite 'All tests' started at 2026-03-02 09:14:02.112
Test Suite 'debug.xctest' started at 2026-03-02 09:14:02.113
Test Suite 'BackoffTests' started at 2026-03-02 09:14:02.113
Test Case 'BackoffTests.testDoubles' started at 2026-03-02 09:14:02.113
Test Case 'BackoffTests.testDoubles' passed (0.001 seconds)
Test Case 'BackoffTests.testIsCapped' started at 2026-03-02 09:14:02.114
Test Case 'BackoffTests.testIsCapped' passed (0.0 seconds)
Test Suite 'BackoffTests' passed at 2026-03-02 09:14:02.114
	 Executed 2 tests, with 0 failures (0 unexpected) in 0.001 (0.001) seconds
Test Suite 'ClientTests' started at 2026-03-02 09:14:02.114
Test Case 'ClientTests.testDecodesLatin1' started at 2026-03-02 09:14:02.114
Test Case 'ClientTests.testDecodesLatin1' passed (0.002 seconds)
Test Suite 'ClientTests' passed at 2026-03-02 09:14:02.116
	 Executed 1 test, with 0 failures (0 unexpected) in 0.002 (0.002) seconds
Test Suite 'All tests' passed at 2026-03-02 09:14:02.116
	 Executed 3 tests, with 0 failures (0 unexpected) in 0.003 (0.004) seconds
"""),
        bash("time swift run fetchkit --retries 2 http://127.0.0.1:9/ ; swift run fetchkit --retries=-1 http://127.0.0.1:9/", "Build complete! (0.12s)\nError: Could not connect to the server.\n\nreal\t0m1.871s\nuser\t0m0.210s\nsys\t0m0.081s\nBuild complete! (0.11s)\nError: --retries must not be negative.\nUsage: fetch <url> [--retries <retries>]\n  See 'fetch --help' for more information.", 64),
        says("Works: two retries wait 0.5 s + 1 s. One typo in my README line."),
        edit("README.md", "up to three time,", "up to three times,"),
        assistant("`--retries N` is in, default 0: 0.5 s before the first retry, doubled each time, never over 30 s. Negative numbers are refused. `swift test` passes (3 tests, two of them for the backoff), a real run against a closed port waited as expected, and the README shows the option."),
    ),
)

SESSIONS = (long_one, clojure, dbt, scala, foundry, rails_plan, kotlin, swift)
INTENDED = {s.name: "good" for s in SESSIONS}
