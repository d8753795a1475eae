from written_sessions.vocabulary import *

INTERVAL = """type t = int * int

let compare_start (a, _) (b, _) = Int.compare a b

let merge intervals =
  let rec go acc = function
    | [] -> List.rev acc
    | (lo, hi) :: rest ->
      (match acc with
       | (plo, phi) :: tl when lo < phi -> go ((plo, max phi hi) :: tl) rest
       | _ -> go ((lo, hi) :: acc) rest)
  in
  go [] (List.sort compare_start intervals)
"""
TEST_INTERVAL = """let check = Alcotest.(check (list (pair int int)))

let empty () = check "empty" [] (Interval.merge [])
let disjoint () = check "disjoint" [ (1, 2); (5, 6) ] (Interval.merge [ (5, 6); (1, 2) ])
let overlapping () = check "overlapping" [ (1, 6) ] (Interval.merge [ (1, 4); (3, 6) ])

let () =
  Alcotest.run "interval"
    [ ( "merge"
      , [ Alcotest.test_case "empty" `Quick empty
        ; Alcotest.test_case "disjoint" `Quick disjoint
        ; Alcotest.test_case "overlapping" `Quick overlapping
        ] )
    ]
"""

ocaml = Session(
    name="r3d_ocaml_touching_intervals",
    about="A boundary bug in an OCaml library is shown by a failing Alcotest case, fixed and run again.",
    type="development",
    steps=(
        user("Interval.merge leaves [1,3] and [3,5] as two. They touch, so they should become [1,5]. Please fix it and add a test that would have caught it."),
        bash("ls && ls lib test", "dune-project\ninterval.opam\nlib\nREADME.md\ntest\n\nlib:\ndune\ninterval.ml\ninterval.mli\n\ntest:\ndune\ntest_interval.ml"),
        read("lib/interval.ml", INTERVAL),
        read("test/test_interval.ml", TEST_INTERVAL),
        says("The guard is `lo < phi`, so an equal bound falls through. Test first."),
        multi_edit(
            "test/test_interval.ml",
            ('let overlapping () =', 'let touching () = check "touching" [ (1, 5) ] (Interval.merge [ (1, 3); (3, 5) ])\nlet overlapping () ='),
            ('        ; Alcotest.test_case "overlapping" `Quick overlapping\n', '        ; Alcotest.test_case "overlapping" `Quick overlapping\n        ; Alcotest.test_case "touching" `Quick touching\n'),
        ),
        bash("dune test", """File "test/dune", line 2, characters 7-20:
2 |  (name test_interval)
           ^^^^^^^^^^^^^
Testing `interval'.
This run has ID `M4K2XW9B'.

  [OK]          merge          0   empty.
  [OK]          merge          1   disjoint.
  [OK]          merge          2   overlapping.
> [FAIL]        merge          3   touching.

┌──────────────────────────────────────────────────────────────────────────────┐
│ [FAIL]        merge          3   touching.                                   │
└──────────────────────────────────────────────────────────────────────────────┘
ASSERT touching
FAIL touching

   Expected: `[(1, 5)]'
   Received: `[(1, 3); (3, 5)]'

Raised at Alcotest_engine__Test.check in file "src/alcotest-engine/test.ml", lines 216-226

Full test results in `/srv/project/_build/default/test/_build/_tests/interval'.
1 failure! in 0.001s. 4 tests run.""", 1),
        edit("lib/interval.ml", "when lo < phi ->", "when lo <= phi ->"),
        bash("dune build @all && dune test", """Testing `interval'.
This run has ID `P0S7RT3C'.

  [OK]          merge          0   empty.
  [OK]          merge          1   disjoint.
  [OK]          merge          2   overlapping.
  [OK]          merge          3   touching.

Full test results in `/srv/project/_build/default/test/_build/_tests/interval'.
Test Successful in 0.001s. 4 tests run."""),
        assistant("`Interval.merge` now joins touching intervals: the guard in `lib/interval.ml` was `<` and is `<=`. The new case `touching` failed before the change and passes after it; all four cases pass."),
    ),
)

SHOP_CONF = """server {
    listen 443 ssl http2;
    server_name shop.brennholz-maier.example;

    ssl_certificate     /etc/letsencrypt/live/shop.brennholz-maier.example/fullchain.pem;
    ssl_certificate_key /etc/letsencrypt/live/shop.brennholz-maier.example/privkey.pem;

    location / {
        proxy_pass http://127.0.0.1:8080;
        proxy_set_header Host $host;
    }
}
"""

nginx = Session(
    name="r3d_nginx_catalogue_redirects",
    about="Redirects are added to a host's nginx, checked, reloaded and tried; a DNS change is another team's.",
    type="operations",
    steps=(
        user("On this box: /katalog/* has to go permanently to /produkte/* (keep path and query), and /agb.pdf to /rechtliches. Reload nginx when it's valid. Petra's team moves the DNS record on Thursday, don't bother with that."),
        bash("ls -l /etc/nginx/sites-enabled && nginx -v", "total 0\nlrwxrwxrwx 1 root root 32 Jan  8 11:20 shop.conf -> /etc/nginx/sites-available/shop.conf\nnginx version: nginx/1.24.0 (Ubuntu)"),
        read("/etc/nginx/sites-available/shop.conf", SHOP_CONF),
        bash("""sudo cp -a /etc/nginx/sites-available/shop.conf /var/backups/shop.conf.2026-03-02 && sudo tee /etc/nginx/sites-available/shop.conf >/dev/null <<'CONF'
server {
    listen 443 ssl http2;
    server_name shop.brennholz-maier.example;

    ssl_certificate     /etc/letsencrypt/live/shop.brennholz-maier.example/fullchain.pem;
    ssl_certificate_key /etc/letsencrypt/live/shop.brennholz-maier.example/privkey.pem;

    location = /agb.pdf { return 301 /rechtliches; }
    location ~ ^/katalog/(?<rest>.*)$ { return 301 /produkte/$rest$is_args$args; }

    location / {
        proxy_pass http://127.0.0.1:8080;
        proxy_set_header Host $host;
    }
}
CONF
sudo nginx -t""", "nginx: the configuration file /etc/nginx/nginx.conf syntax is ok\nnginx: configuration file /etc/nginx/nginx.conf test is successful"),
        bash("sudo systemctl reload nginx && systemctl is-active nginx", "active"),
        bash("""for u in '/katalog/buche?menge=4' /katalog/ /agb.pdf /produkte/buche; do printf '%s -> ' "$u"; curl -sk -o /dev/null -w '%{http_code} %{redirect_url}\\n' --resolve shop.brennholz-maier.example:443:127.0.0.1 "https://shop.brennholz-maier.example$u"; done""",
             "/katalog/buche?menge=4 -> 301 https://shop.brennholz-maier.example/produkte/buche?menge=4\n/katalog/ -> 301 https://shop.brennholz-maier.example/produkte/\n/agb.pdf -> 301 https://shop.brennholz-maier.example/rechtliches\n/produkte/buche -> 200 "),
        assistant("""Both redirects are live.

| request | answer |
|---|---|
| `/katalog/buche?menge=4` | 301 → `/produkte/buche?menge=4` |
| `/agb.pdf` | 301 → `/rechtliches` |
| `/produkte/buche` | 200, unchanged |

The former file is kept in `/var/backups/shop.conf.2026-03-02`. On Thursday Petra's team will switch the DNS record; the configuration does not depend on it."""),
    ),
)

KAP3 = r"""\chapter{Messung}
\label{chap:messung}

Der Wiederstand der Probe wurde mit der Vierleitermethode bestimmt \cite{schroder2006}.
Abbildung~\ref{fig:aufbau} zeigt den Aufbau.

\begin{figure}[ht]
  \centering
  \includegraphics[width=0.5\textwidth]{bilder/aufbau.pdf}
  \caption{Messaufbau}
  \label{fig:aufbau}
\end{figure}

Die Auswertung folgt \cite{vdpauw58}.
"""

latex = Session(
    name="r3d_latex_zitate_kapitel_drei",
    about="Unresolved citations in a thesis are mended and built; a typo is corrected after the last build.",
    type="maintenance",
    steps=(
        user("In Kapitel 3 meiner Arbeit stehen im PDF nur Fragezeichen statt der Zitate. Kannst du das reparieren? Und die Abbildung 3.1 bitte auf 80 % der Textbreite."),
        read("kapitel/03_messung.tex", KAP3),
        grep("^@", "literatur.bib:1:@book{schroeder2006,", "literatur.bib:9:@article{vanderpauw1958,", "literatur.bib:18:@phdthesis{keller2019,"),
        says("Die Schlüssel im Text heißen anders als in `literatur.bib`."),
        multi_edit(
            "kapitel/03_messung.tex",
            (r"\cite{schroder2006}", r"\cite{schroeder2006}"),
            (r"\cite{vdpauw58}", r"\cite{vanderpauw1958}"),
            (r"width=0.5\textwidth", r"width=0.8\textwidth"),
        ),
        bash("latexmk -pdf -interaction=nonstopmode arbeit.tex > /tmp/latexmk.log; echo rc=$?; grep -cE 'undefined|Citation' arbeit.log; grep -E '^Output written|Latexmk: All' arbeit.log /tmp/latexmk.log",
             "rc=0\n0\narbeit.log:Output written on arbeit.pdf (64 pages, 1184023 bytes).\n/tmp/latexmk.log:Latexmk: All targets (arbeit.pdf) are up-to-date"),
        bash("pdftotext -f 31 -l 32 -layout arbeit.pdf - | grep -n '\\[[0-9?]'", "4:Der Wiederstand der Probe wurde mit der Vierleitermethode bestimmt [7]. Abbil-\n29:Die Auswertung folgt [12]."),
        assistant("Die Zitate in Kapitel 3 erscheinen jetzt als [7] und [12]; im Text standen Schlüssel, die es in `literatur.bib` nicht gibt (`schroder2006`, `vdpauw58`). Abbildung 3.1 ist 0,8 Textbreiten breit. Der Bau läuft ohne undefinierte Verweise durch, 64 Seiten.\n\nMir fiel noch „Wiederstand“ im ersten Satz auf; soll ich das auch ändern?"),
        user("ja klar, peinlich. bauen tu ich dann selbst"),
        edit("kapitel/03_messung.tex", "Der Wiederstand der Probe", "Der Widerstand der Probe"),
        grep("[Ww]iederstand"),
        assistant("Ist korrigiert: „Widerstand“. In keinem anderen Kapitel kommt der Fehler noch vor."),
    ),
)

DEBOUNCE_C = """#include "debounce.h"

void debounce_init(debounce_t *d, uint32_t now) {
    d->stable = false;
    d->since = now;
}

bool debounce_update(debounce_t *d, bool raw, uint32_t now) {
    if (raw != d->stable && now > d->since + DEBOUNCE_MS) {
        d->stable = raw;
        d->since = now;
    }
    return d->stable;
}
"""
TEST_DEBOUNCE = """#include <unity.h>
#include "debounce.h"

static debounce_t d;

void setUp(void) { debounce_init(&d, 0); }
void tearDown(void) {}

static void test_ignores_bounce(void) { TEST_ASSERT_FALSE(debounce_update(&d, true, 3)); }
static void test_accepts_press(void) { TEST_ASSERT_TRUE(debounce_update(&d, true, DEBOUNCE_MS + 1)); }

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(test_ignores_bounce);
    RUN_TEST(test_accepts_press);
    return UNITY_END();
}
"""

firmware = Session(
    name="r3d_platformio_tick_wraparound",
    about="A millis() overflow in firmware is mended, tested natively and built for the board, which is not at hand.",
    type="development",
    branch="fix/tick-wrap",
    steps=(
        user("Customer units stop reacting to the button after ~49.7 days. Surely millis() wrapping in debounce.c. Fix please + native test. I have no board here, so a build for esp32dev is enough instead of flashing. Commit on this branch."),
        read("lib/debounce/debounce.c", DEBOUNCE_C),
        read("test/test_debounce/test_main.c", TEST_DEBOUNCE),
        read("platformio.ini", "[env:esp32dev]\nplatform = espressif32\nboard = esp32dev\nframework = arduino\n\n[env:native]\nplatform = native\ntest_framework = unity\n"),
        says("`d->since + DEBOUNCE_MS` overflows near 2^32, and then `now` can lie below it for good. The difference of unsigned values is right on both sides of the wrap."),
        edit("lib/debounce/debounce.c", "now > d->since + DEBOUNCE_MS", "(uint32_t)(now - d->since) > DEBOUNCE_MS"),
        multi_edit(
            "test/test_debounce/test_main.c",
            ("\nint main(void) {", "\nstatic void test_press_across_wrap(void) {\n    debounce_init(&d, UINT32_MAX - 5);\n    TEST_ASSERT_FALSE(debounce_update(&d, true, UINT32_MAX - 2));\n    TEST_ASSERT_TRUE(debounce_update(&d, true, DEBOUNCE_MS));\n}\n\nint main(void) {"),
            ("    RUN_TEST(test_accepts_press);\n", "    RUN_TEST(test_accepts_press);\n    RUN_TEST(test_press_across_wrap);\n"),
        ),
        bash("git stash push lib -q && pio test -e native; git stash pop -q", """Verbosity level can be increased via `-v, -vv, or -vvv` option
Collected 1 tests

Processing test_debounce in native environment
--------------------------------------------------------------------------------
Building...
Testing...
test/test_debounce/test_main.c:20: test_ignores_bounce	[PASSED]
test/test_debounce/test_main.c:21: test_accepts_press	[PASSED]
test/test_debounce/test_main.c:14: test_press_across_wrap: Expected FALSE Was TRUE	[FAILED]
---------------- native:test_debounce [FAILED] Took 1.08 seconds ----------------

=================================== SUMMARY ===================================
Environment    Test           Status    Duration
-------------  -------------  --------  ------------
native         test_debounce  FAILED    00:00:01.080

============ 3 test cases: 1 failed, 2 succeeded in 00:00:01.080 ============"""),
        says("Without the fix the new case fails, as it should. Now with it, and the firmware build."),
        bash("pio test -e native && pio run -e esp32dev", """Verbosity level can be increased via `-v, -vv, or -vvv` option
Collected 1 tests

Processing test_debounce in native environment
--------------------------------------------------------------------------------
Building...
Testing...
test/test_debounce/test_main.c:20: test_ignores_bounce	[PASSED]
test/test_debounce/test_main.c:21: test_accepts_press	[PASSED]
test/test_debounce/test_main.c:22: test_press_across_wrap	[PASSED]
---------------- native:test_debounce [PASSED] Took 1.12 seconds ----------------

=================================== SUMMARY ===================================
Environment    Test           Status    Duration
-------------  -------------  --------  ------------
native         test_debounce  PASSED    00:00:01.120

================== 3 test cases: 3 succeeded in 00:00:01.120 ==================
Processing esp32dev (platform: espressif32; board: esp32dev; framework: arduino)
--------------------------------------------------------------------------------
Compiling .pio/build/esp32dev/lib3f1/debounce/debounce.c.o
Archiving .pio/build/esp32dev/lib3f1/libdebounce.a
Linking .pio/build/esp32dev/firmware.elf
Checking size .pio/build/esp32dev/firmware.elf
RAM:   [=         ]   6.6% (used 21752 bytes from 327680 bytes)
Flash: [==        ]  20.6% (used 270021 bytes from 1310720 bytes)
Building .pio/build/esp32dev/firmware.bin
========================= [SUCCESS] Took 11.37 seconds ========================="""),
        bash("git add lib test && git commit -m 'debounce: compare elapsed ticks so that millis() may wrap'", "[fix/tick-wrap 4b1c9e2] debounce: compare elapsed ticks so that millis() may wrap\n 2 files changed, 9 insertions(+), 1 deletion(-)"),
        assistant("Fixed and committed as 4b1c9e2 on `fix/tick-wrap`.\n\n- `debounce_update` compares `now - since` instead of `now > since + DEBOUNCE_MS`; the sum overflowed near 2^32.\n- `test_press_across_wrap` fails on the old code and passes now (3 of 3).\n- The esp32dev firmware builds. It was not flashed, as you said."),
    ),
)

BUCKET = """import Foundation

public protocol RateLimiter {
    func take(_ tokens: Int) -> Bool
}

public final class TokenBucket: RateLimiter {
    private let capacity: Int
    private var tokens: Int

    public init(capacity: Int) {
        self.capacity = capacity
        self.tokens = capacity
    }

    public func take(_ wanted: Int) -> Bool {
        guard wanted <= tokens else { return false }
        tokens -= wanted
        return true
    }
}

public final class Unlimited: RateLimiter {
    public init() {}
    public func take(_ tokens: Int) -> Bool { true }
}
"""

swift = Session(
    name="r3d_swift_remaining_requirement",
    about="A protocol gets a requirement `remaining` that both conforming types implement; swift test passes.",
    type="development",
    steps=(
        user("Add `remaining` to the RateLimiter protocol (Int, read only; Int.max for Unlimited) so that the UI can show how many requests remain. Tests too."),
        read("Sources/Limiter/RateLimiter.swift", BUCKET),
        bash("grep -rn 'RateLimiter' --include=*.swift . | grep -v .build", "./Sources/Limiter/RateLimiter.swift:3:public protocol RateLimiter {\n./Sources/Limiter/RateLimiter.swift:7:public final class TokenBucket: RateLimiter {\n./Sources/Limiter/RateLimiter.swift:25:public final class Unlimited: RateLimiter {\n./Sources/Client/Client.swift:11:    let limiter: any RateLimiter"),
        multi_edit(
            "Sources/Limiter/RateLimiter.swift",
            ("public protocol RateLimiter {\n", "public protocol RateLimiter {\n    /// How many tokens can still be taken.\n    var remaining: Int { get }\n"),
            ("    public init(capacity: Int) {", "    public var remaining: Int { tokens }\n\n    public init(capacity: Int) {"),
            ("    public init() {}\n", "    public var remaining: Int { .max }\n    public init() {}\n"),
        ),
        write("Tests/LimiterTests/RemainingTests.swift", """import XCTest
@testable import Limiter

final class RemainingTests: XCTestCase {
    func testFullBucketHasItsCapacityRemaining() {
        XCTAssertEqual(TokenBucket(capacity: 5).remaining, 5)
    }

    func testTakingLowersRemaining() {
        let bucket = TokenBucket(capacity: 5)
        XCTAssertTrue(bucket.take(3))
        XCTAssertEqual(bucket.remaining, 2)
    }

    func testRefusedTakeLeavesRemainingAsItWas() {
        let bucket = TokenBucket(capacity: 1)
        XCTAssertFalse(bucket.take(2))
        XCTAssertEqual(bucket.remaining, 1)
    }

    func testUnlimitedRemainsAtMax() {
        XCTAssertEqual(Unlimited().remaining, .max)
    }
}
"""),
        bash("swift test 2>&1", """[1/1] Planning build
Building for debugging...
[9/9] Linking LimiterPackageTests.xctest
Build complete! (4.87s)
Test Suite 'All tests' started at 2026-03-02 09:00:31.114
Test Suite 'debug.xctest' started at 2026-03-02 09:00:31.115
Test Suite 'RemainingTests' started at 2026-03-02 09:00:31.115
Test Case 'RemainingTests.testFullBucketHasItsCapacityRemaining' started at 2026-03-02 09:00:31.115
Test Case 'RemainingTests.testFullBucketHasItsCapacityRemaining' passed (0.001 seconds)
Test Case 'RemainingTests.testRefusedTakeLeavesRemainingAsItWas' passed (0.0 seconds)
Test Case 'RemainingTests.testTakingLowersRemaining' passed (0.0 seconds)
Test Case 'RemainingTests.testUnlimitedRemainsAtMax' passed (0.0 seconds)
Test Suite 'RemainingTests' passed at 2026-03-02 09:00:31.117
	 Executed 4 tests, with 0 failures (0 unexpected) in 0.001 (0.001) seconds
Test Suite 'TokenBucketTests' passed at 2026-03-02 09:00:31.118
	 Executed 3 tests, with 0 failures (0 unexpected) in 0.001 (0.001) seconds
Test Suite 'debug.xctest' passed at 2026-03-02 09:00:31.118
	 Executed 7 tests, with 0 failures (0 unexpected) in 0.002 (0.002) seconds
Test Suite 'All tests' passed at 2026-03-02 09:00:31.118
	 Executed 7 tests, with 0 failures (0 unexpected) in 0.002 (0.003) seconds"""),
        assistant("`RateLimiter` now requires `remaining`. `TokenBucket` gives the tokens it has left, `Unlimited` gives `Int.max`; `Client` only holds an `any RateLimiter` and needed no change. Seven tests pass, four of them new.\n\nIf you like, I can also publish the value with `@Observable`, so that SwiftUI redraws by itself."),
    ),
)

types = Session(
    name="r3d_dts_for_duration_library",
    about="Type declarations for a plain JavaScript library, with tsd tests; declarations have no bodies.",
    type="development",
    steps=(
        user("We ship plain JS but people keep asking for types. Write index.d.ts for index.js, hook it up in package.json, and type tests with tsd (already a devDependency). npm test has to run both."),
        read("index.js", """'use strict'

const UNITS = { ms: 1, s: 1000, m: 60000, h: 3600000, d: 86400000 }

function parse (text, opts = {}) {
  const found = /^\\s*(-?\\d+(?:\\.\\d+)?)\\s*(ms|s|m|h|d)\\s*$/.exec(text)
  if (!found) {
    if (opts.strict) throw new TypeError(`not a duration: ${text}`)
    return undefined
  }
  return Number(found[1]) * UNITS[found[2]]
}

function format (ms, opts = {}) {
  const unit = opts.unit || Object.keys(UNITS).reverse().find((u) => Math.abs(ms) >= UNITS[u]) || 'ms'
  return `${ms / UNITS[unit]}${unit}`
}

module.exports = { parse, format, UNITS }
"""),
        read("package.json", """{
  "name": "tiny-duration",
  "version": "2.3.0",
  "main": "index.js",
  "files": ["index.js"],
  "scripts": {
    "test": "node --test"
  },
  "devDependencies": {
    "tsd": "^0.31.0"
  }
}
"""),
        write("index.d.ts", """export type Unit = 'ms' | 's' | 'm' | 'h' | 'd'

export interface ParseOptions {
  /** Throw a TypeError instead of returning undefined. */
  strict?: boolean
}

export interface FormatOptions {
  /** The unit to format in; by default the largest that fits. */
  unit?: Unit
}

export function parse(text: string, opts: ParseOptions & { strict: true }): number
export function parse(text: string, opts?: ParseOptions): number | undefined
export function format(ms: number, opts?: FormatOptions): string
export const UNITS: Record<Unit, number>
"""),
        write("index.test-d.ts", """import { expectType, expectError } from 'tsd'
import { parse, format, UNITS } from '.'

expectType<number | undefined>(parse('3h'))
expectType<number>(parse('3h', { strict: true }))
expectType<string>(format(1500, { unit: 's' }))
expectType<number>(UNITS.ms)
expectError(format(1, { unit: 'w' }))
expectError(parse(3))
"""),
        multi_edit(
            "package.json",
            ('  "main": "index.js",\n  "files": ["index.js"],', '  "main": "index.js",\n  "types": "index.d.ts",\n  "files": ["index.js", "index.d.ts"],'),
            ('"test": "node --test"', '"test": "node --test && tsd"'),
        ),
        bash("npm test", """
> tiny-duration@2.3.0 test
> node --test && tsd

✔ parses every unit (0.803791ms)
✔ returns undefined for nonsense (0.101042ms)
✔ throws when strict (0.214625ms)
✔ formats in the largest unit (0.119458ms)
ℹ tests 4
ℹ suites 0
ℹ pass 4
ℹ fail 0
ℹ cancelled 0
ℹ skipped 0
ℹ todo 0
ℹ duration_ms 58.331959"""),
        bash("npm pack --dry-run 2>&1 | grep -E 'npm notice [0-9.]+ ?k?B'; npx tsd && echo tsd rc=$?", "npm notice 412B index.d.ts\nnpm notice 689B index.js\nnpm notice 318B package.json\ntsd rc=0"),
        read("README.md", "# tiny-duration\n\nParse and format durations.\n\n## Usage\n\n```js\nconst { parse } = require('tiny-duration')\nparse('3h') // 10800000\n```\n"),
        edit("README.md", "## Usage\n", "## Usage\n\nTypes are included (`index.d.ts`).\n"),
        assistant("The package has types now. `index.d.ts` describes `parse`, `format` and `UNITS`; with `strict: true` the result of `parse` is `number`, otherwise `number | undefined`. `package.json` names the file under `types` and ships it, and `npm test` runs node's tests and then tsd. Both pass. I added a line to the README."),
    ),
)

CLIENT_RB = """# frozen_string_literal: true

module Payfast
  class Client
    MAX_TRIES = 4

    def initialize(http:, sleeper: Kernel)
      @http = http
      @sleeper = sleeper
    end

    def charge(params)
      response = @http.post('/v2/charges', params)
      raise Error, response.body unless response.success?

      response.json
    end
  end
end
"""

ruby = Session(
    name="r3d_rspec_todo_asked_for",
    about="A retry for 429 in Ruby with a TODO comment that the user asked for by its ticket.",
    type="development",
    branch="pay-790-retry",
    steps=(
        user("Payfast::Client#charge should retry on 429, waiting Retry-After seconds, max MAX_TRIES tries altogether. Put a comment `TODO(PAY-812): use Faraday's retry middleware once we are on 2.x` above the loop so we find the place later. rspec + rubocop must be green."),
        read("lib/payfast/client.rb", CLIENT_RB),
        read("spec/payfast/client_spec.rb", """# frozen_string_literal: true

RSpec.describe Payfast::Client do
  subject(:client) { described_class.new(http: http, sleeper: sleeper) }

  let(:http) { instance_double(Payfast::Http) }
  let(:sleeper) { class_double(Kernel, sleep: nil) }
  let(:paid) { instance_double(Payfast::Response, status: 200, success?: true, json: { 'id' => 'ch_1' }) }

  it 'returns the charge' do
    allow(http).to receive(:post).and_return(paid)
    expect(client.charge(amount: 5)).to eq('id' => 'ch_1')
  end
end
"""),
        edit("lib/payfast/client.rb", """      response = @http.post('/v2/charges', params)
      raise Error, response.body unless response.success?

      response.json
    end
""", """      response = post_with_retries('/v2/charges', params)
      raise Error, response.body unless response.success?

      response.json
    end

    private

    def post_with_retries(path, params)
      # TODO(PAY-812): use Faraday's retry middleware once we are on 2.x
      (1..MAX_TRIES).each do |try|
        response = @http.post(path, params)
        return response if response.status != 429 || try == MAX_TRIES

        @sleeper.sleep(Float(response.headers.fetch('Retry-After', 1), exception: false) || 1)
      end
    end
"""),
        edit("spec/payfast/client_spec.rb", "    expect(client.charge(amount: 5)).to eq('id' => 'ch_1')\n  end\n", """    expect(client.charge(amount: 5)).to eq('id' => 'ch_1')
  end

  context 'when the service answers 429' do
    let(:busy) do
      instance_double(Payfast::Response, status: 429, success?: false, body: 'busy', headers: { 'Retry-After' => '3' })
    end

    it 'waits as told and tries again' do
      allow(http).to receive(:post).and_return(busy, paid)
      expect(client.charge(amount: 5)).to eq('id' => 'ch_1')
      expect(sleeper).to have_received(:sleep).with(3.0).once
    end

    it 'gives up after MAX_TRIES' do
      allow(http).to receive(:post).and_return(busy)
      expect { client.charge(amount: 5) }.to raise_error(Payfast::Error, 'busy')
      expect(http).to have_received(:post).exactly(4).times
    end
  end
"""),
        bash("bundle exec rspec && bundle exec rubocop", """.....................

Finished in 0.04127 seconds (files took 0.31 seconds to load)
21 examples, 0 failures

Inspecting 14 files
..............

14 files inspected, no offenses detected"""),
        assistant("`charge` retries on 429, four tries altogether, and waits as long as `Retry-After` says (1 s if the header is missing or is not a number). Your `TODO(PAY-812)` comment stands above the loop. 21 examples, 0 failures; rubocop finds nothing."),
    ),
)

plan = Session(
    name="r3d_gradle_upgrade_plan_only",
    about="The user wants a plan for an upgrade and no change; the plan with its steps is the answer.",
    type="investigation",
    steps=(
        user("We want to go from Spring Boot 2.7 to 3.3 in this repo in April. Look at what it would take and give me a plan with rough effort per step. Don't change anything."),
        bash("cat build.gradle settings.gradle gradle/wrapper/gradle-wrapper.properties | head -60", "plugins {\n    id 'java'\n    id 'org.springframework.boot' version '2.7.18'\n    id 'io.spring.dependency-management' version '1.0.15.RELEASE'\n}\n\njava { sourceCompatibility = JavaVersion.VERSION_11 }\n\ndependencies {\n    implementation 'org.springframework.boot:spring-boot-starter-web'\n    implementation 'org.springframework.boot:spring-boot-starter-security'\n    implementation 'org.springframework.boot:spring-boot-starter-data-jpa'\n    implementation 'org.springdoc:springdoc-openapi-ui:1.6.15'\n    implementation 'com.querydsl:querydsl-jpa:5.0.0'\n    testImplementation 'org.springframework.boot:spring-boot-starter-test'\n}\nrootProject.name = 'tariff-service'\ndistributionUrl=https\\://services.gradle.org/distributions/gradle-7.4-bin.zip"),
        bash("grep -rlE 'import javax\\.(persistence|servlet|validation|annotation)' src | wc -l; grep -rn 'WebSecurityConfigurerAdapter\\|antMatchers\\|@TypeDef' src --include=*.java", "63\nsrc/main/java/eu/tariff/config/SecurityConfig.java:18:public class SecurityConfig extends WebSecurityConfigurerAdapter {\nsrc/main/java/eu/tariff/config/SecurityConfig.java:27:                .antMatchers(\"/actuator/health\").permitAll()\nsrc/main/java/eu/tariff/model/Tariff.java:22:@TypeDef(name = \"jsonb\", typeClass = JsonBinaryType.class)"),
        bash("./gradlew -q dependencies --configuration runtimeClasspath | grep -E 'hibernate-(core|types)|flyway|springfox|jaxb' | sort -u", "|    +--- org.hibernate:hibernate-core:5.6.15.Final\n+--- com.vladmihalcea:hibernate-types-52:2.20.0\n+--- org.flywaydb:flyway-core -> 8.5.13"),
        read("Dockerfile", "FROM eclipse-temurin:11-jre\nCOPY build/libs/tariff-service.jar /app.jar\nENTRYPOINT [\"java\", \"-jar\", \"/app.jar\"]\n"),
        assistant("""## Spring Boot 2.7 → 3.3 in tariff-service

**What stands in the way**
- Java 11 (3.x needs 17) in `build.gradle` and in the Dockerfile; Gradle 7.4 (3.3 needs 7.6.4 or 8.x)
- 63 files import `javax.*`
- `SecurityConfig` extends `WebSecurityConfigurerAdapter`, which is gone
- `@TypeDef` in `Tariff` and `hibernate-types-52` do not exist for Hibernate 6
- springdoc 1.x, querydsl without the `jakarta` classifier, Flyway 8

**Plan**
1. Java 17 and Gradle 8.7, still on 2.7; release that alone. ½ day
2. Security to a `SecurityFilterChain` bean; works on 2.7 already. ½ day
3. OpenRewrite recipe `UpgradeSpringBoot_3_3`: `javax` → `jakarta`. 1 day with review
4. Hibernate 6: `@JdbcTypeCode(SqlTypes.JSON)` instead of `@TypeDef`, check the native queries. 1–2 days, the riskiest step
5. springdoc 2, querydsl `:jakarta`, Flyway 10 with `flyway-database-postgresql`. ½ day
6. Run the staging load test, then release. ½ day

About 4–5 days. Steps 1 and 2 can go out in March. Next steps on your side: decide whether the base image may be Temurin 17 or has to be 21, and book the staging window for step 6. Nothing in the repo was changed."""),
    ),
)

SESSIONS = (ocaml, nginx, latex, firmware, swift, types, ruby, plan)
INTENDED = {s.name: "good" for s in SESSIONS}
