from written_sessions.vocabulary import *

_SWIFT = '''import Foundation

public struct TokenBucket: Sendable {
    public let capacity: Int
    public let refillPerSecond: Double
    private var tokens: Double
    private var last: Date

    public init(capacity: Int, refillPerSecond: Double, now: Date = Date()) {
        self.capacity = capacity
        self.refillPerSecond = refillPerSecond
        self.tokens = Double(capacity)
        self.last = now
    }

    public mutating func take(_ wanted: Int = 1, now: Date = Date()) -> Bool {
        let elapsed = now.timeIntervalSince(last)
        tokens += elapsed * refillPerSecond
        last = now
        guard tokens >= Double(wanted) else { return false }
        tokens -= Double(wanted)
        return true
    }
}
'''
_SWIFT_TEST = '''import XCTest
@testable import RateKit

final class TokenBucketTests: XCTestCase {
    private let start = Date(timeIntervalSince1970: 1_000)

    func testStartsFull() {
        var bucket = TokenBucket(capacity: 3, refillPerSecond: 1, now: start)
        XCTAssertTrue(bucket.take(3, now: start))
        XCTAssertFalse(bucket.take(now: start))
    }

    func testRefills() {
        var bucket = TokenBucket(capacity: 3, refillPerSecond: 1, now: start)
        _ = bucket.take(3, now: start)
        XCTAssertTrue(bucket.take(2, now: start.addingTimeInterval(2)))
    }
}
'''


def _swift_run(rows, summary, build="3.94"):
    return f"""Building for debugging...
[7/7] Linking RateKitPackageTests
Build complete! ({build}s)
Test Suite 'All tests' started at 2026-03-02 10:02:11.418
Test Suite 'debug.xctest' started at 2026-03-02 10:02:11.420
Test Suite 'TokenBucketTests' started at 2026-03-02 10:02:11.420
{rows}
{summary}"""


_swift_limits = Session(
    name="r4b_swift_bucket_cap",
    about="A token bucket lets a burst through after a long pause; test first, then the fix.",
    type="development",
    steps=(
        user("After the app was idle overnight, RateKit lets ~30k requests through at once. A bucket must never hold more than its capacity. Also: if the clock jumps backwards (NTP), it must not lose tokens. Add tests for both, please."),
        bash("git status --short && ls -R Sources Tests", "Sources:\nRateKit\n\nSources/RateKit:\nTokenBucket.swift\n\nTests:\nRateKitTests\n\nTests/RateKitTests:\nTokenBucketTests.swift"),
        read("Sources/RateKit/TokenBucket.swift", _SWIFT),
        read("Tests/RateKitTests/TokenBucketTests.swift", _SWIFT_TEST),
        says("`take` adds `elapsed * refillPerSecond` with no bound in either direction. Tests first, so that I see both fail."),
        edit("Tests/RateKitTests/TokenBucketTests.swift", "        XCTAssertTrue(bucket.take(2, now: start.addingTimeInterval(2)))\n    }\n", '''        XCTAssertTrue(bucket.take(2, now: start.addingTimeInterval(2)))
    }

    func testIdleTimeNeverExceedsCapacity() {
        var bucket = TokenBucket(capacity: 3, refillPerSecond: 1, now: start)
        let morning = start.addingTimeInterval(9 * 3600)
        XCTAssertTrue(bucket.take(3, now: morning))
        XCTAssertFalse(bucket.take(now: morning))
    }

    func testClockGoingBackwardsTakesNothingAway() {
        var bucket = TokenBucket(capacity: 3, refillPerSecond: 1, now: start)
        XCTAssertTrue(bucket.take(1, now: start.addingTimeInterval(-60)))
        XCTAssertTrue(bucket.take(2, now: start.addingTimeInterval(-60)))
        XCTAssertFalse(bucket.take(now: start.addingTimeInterval(-59.5)))
    }
'''),
        bash("swift test 2>&1", _swift_run("""Test Case 'TokenBucketTests.testClockGoingBackwardsTakesNothingAway' started at 2026-03-02 10:02:11.420
/srv/project/Tests/RateKitTests/TokenBucketTests.swift:28: error: TokenBucketTests.testClockGoingBackwardsTakesNothingAway : XCTAssertTrue failed - 
/srv/project/Tests/RateKitTests/TokenBucketTests.swift:29: error: TokenBucketTests.testClockGoingBackwardsTakesNothingAway : XCTAssertTrue failed - 
Test Case 'TokenBucketTests.testClockGoingBackwardsTakesNothingAway' failed (0.003 seconds)
Test Case 'TokenBucketTests.testIdleTimeNeverExceedsCapacity' started at 2026-03-02 10:02:11.423
/srv/project/Tests/RateKitTests/TokenBucketTests.swift:23: error: TokenBucketTests.testIdleTimeNeverExceedsCapacity : XCTAssertFalse failed - 
Test Case 'TokenBucketTests.testIdleTimeNeverExceedsCapacity' failed (0.0 seconds)
Test Case 'TokenBucketTests.testRefills' started at 2026-03-02 10:02:11.424
Test Case 'TokenBucketTests.testRefills' passed (0.0 seconds)
Test Case 'TokenBucketTests.testStartsFull' started at 2026-03-02 10:02:11.424
Test Case 'TokenBucketTests.testStartsFull' passed (0.0 seconds)
Test Suite 'TokenBucketTests' failed at 2026-03-02 10:02:11.424""", "\t Executed 4 tests, with 3 failures (0 unexpected) in 0.004 (0.004) seconds\nTest Suite 'debug.xctest' failed at 2026-03-02 10:02:11.424\n\t Executed 4 tests, with 3 failures (0 unexpected) in 0.004 (0.004) seconds\nTest Suite 'All tests' failed at 2026-03-02 10:02:11.424\n\t Executed 4 tests, with 3 failures (0 unexpected) in 0.004 (0.004) seconds", "21.07"), 1),
        edit("Sources/RateKit/TokenBucket.swift", "        let elapsed = now.timeIntervalSince(last)\n        tokens += elapsed * refillPerSecond\n", "        let elapsed = max(0, now.timeIntervalSince(last))\n        tokens = min(Double(capacity), tokens + elapsed * refillPerSecond)\n"),
        bash("swift test 2>&1", _swift_run("""Test Case 'TokenBucketTests.testClockGoingBackwardsTakesNothingAway' started at 2026-03-02 10:03:02.116
Test Case 'TokenBucketTests.testClockGoingBackwardsTakesNothingAway' passed (0.001 seconds)
Test Case 'TokenBucketTests.testIdleTimeNeverExceedsCapacity' started at 2026-03-02 10:03:02.117
Test Case 'TokenBucketTests.testIdleTimeNeverExceedsCapacity' passed (0.0 seconds)
Test Case 'TokenBucketTests.testRefills' started at 2026-03-02 10:03:02.117
Test Case 'TokenBucketTests.testRefills' passed (0.0 seconds)
Test Case 'TokenBucketTests.testStartsFull' started at 2026-03-02 10:03:02.117
Test Case 'TokenBucketTests.testStartsFull' passed (0.0 seconds)
Test Suite 'TokenBucketTests' passed at 2026-03-02 10:03:02.117""", "\t Executed 4 tests, with 0 failures (0 unexpected) in 0.002 (0.002) seconds\nTest Suite 'debug.xctest' passed at 2026-03-02 10:03:02.117\n\t Executed 4 tests, with 0 failures (0 unexpected) in 0.002 (0.002) seconds\nTest Suite 'All tests' passed at 2026-03-02 10:03:02.117\n\t Executed 4 tests, with 0 failures (0 unexpected) in 0.002 (0.002) seconds"), 0),
        assistant("The bucket is now capped: `take` clamps the refill to `capacity` and treats a negative elapsed time as zero. When the clock jumps back, `last` follows it, so refilling starts again from the new time instead of stalling until the old time is reached.\n\nBoth cases have a test that failed before the change; all 4 tests pass now."),
    ),
)

_PDB_TEST = '''suite: poddisruptionbudget
templates:
  - pdb.yaml
tests:
  - it: is not rendered by default
    asserts:
      - hasDocuments:
          count: 0
  - it: is rendered with minAvailable
    set:
      podDisruptionBudget.enabled: true
      podDisruptionBudget.minAvailable: 1
    asserts:
      - isKind:
          of: PodDisruptionBudget
      - equal:
          path: spec.minAvailable
          value: 1
  - it: needs more than one replica
    set:
      podDisruptionBudget.enabled: true
      replicaCount: 1
    asserts:
      - failedTemplate:
          errorMessage: podDisruptionBudget.enabled needs replicaCount > 1
'''

_helm = Session(
    name="r4b_helm_pdb",
    about="A chart gets an optional disruption budget, linted, unit-tested and dry-run.",
    type="development",
    branch="ingest-pdb",
    steps=(
        user("Add an optional PodDisruptionBudget to charts/ingest (off by default). It should refuse to render with a single replica. Bump the chart version, and document the values in the chart README like the others are. Commit on this branch, no push."),
        bash("cat charts/ingest/Chart.yaml charts/ingest/values.yaml; ls charts/ingest/templates charts/ingest/tests; cat charts/ingest/templates/_helpers.tpl | head -20", '''apiVersion: v2
name: ingest
version: 1.8.2
appVersion: "4.11"
replicaCount: 2
image:
  repository: registry.example.com/ingest
  tag: ""
resources: {}
charts/ingest/templates:
_helpers.tpl
deployment.yaml
service.yaml

charts/ingest/tests:
deployment_test.yaml
{{- define "ingest.fullname" -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end }}
{{- define "ingest.selectorLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}'''),
        read("charts/ingest/README.md", "# ingest\n\n| Value | Default | Meaning |\n|---|---|---|\n| `replicaCount` | `2` | number of pods |\n| `image.repository` | `registry.example.com/ingest` | image |\n| `image.tag` | appVersion | tag |\n| `resources` | `{}` | requests and limits |\n"),
        write("charts/ingest/templates/pdb.yaml", '''{{- if .Values.podDisruptionBudget.enabled }}
{{- if le (int .Values.replicaCount) 1 }}
{{- fail "podDisruptionBudget.enabled needs replicaCount > 1" }}
{{- end }}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "ingest.fullname" . }}
spec:
  minAvailable: {{ .Values.podDisruptionBudget.minAvailable }}
  selector:
    matchLabels:
      {{- include "ingest.selectorLabels" . | nindent 6 }}
{{- end }}
'''),
        edit("charts/ingest/values.yaml", "resources: {}", "resources: {}\npodDisruptionBudget:\n  enabled: false\n  minAvailable: 1"),
        edit("charts/ingest/Chart.yaml", "version: 1.8.2", "version: 1.9.0"),
        edit("charts/ingest/README.md", "| `resources` | `{}` | requests and limits |\n", "| `resources` | `{}` | requests and limits |\n| `podDisruptionBudget.enabled` | `false` | render a PodDisruptionBudget; needs `replicaCount` > 1 |\n| `podDisruptionBudget.minAvailable` | `1` | pods that stay up during voluntary disruptions |\n"),
        write("charts/ingest/tests/pdb_test.yaml", _PDB_TEST),
        bash("helm lint charts/ingest && helm unittest charts/ingest", '''==> Linting charts/ingest
[INFO] Chart.yaml: icon is recommended

1 chart(s) linted, 0 chart(s) failed

### Chart [ ingest ] charts/ingest

 PASS  deployment	charts/ingest/tests/deployment_test.yaml
 PASS  poddisruptionbudget	charts/ingest/tests/pdb_test.yaml

Charts:      1 passed, 1 total
Test Suites: 2 passed, 2 total
Tests:       7 passed, 7 total
Snapshot:    0 passed, 0 total
Time:        23.518542ms'''),
        bash("helm template demo charts/ingest --set podDisruptionBudget.enabled=true | kubectl apply --dry-run=server -f -", "service/demo-ingest created (server dry run)\ndeployment.apps/demo-ingest created (server dry run)\npoddisruptionbudget.policy/demo-ingest created (server dry run)"),
        bash('git add charts/ingest && git commit -m "ingest: optional PodDisruptionBudget" && git status -sb', "[ingest-pdb 5b0d9e1] ingest: optional PodDisruptionBudget\n 5 files changed, 48 insertions(+), 1 deletion(-)\n create mode 100644 charts/ingest/templates/pdb.yaml\n create mode 100644 charts/ingest/tests/pdb_test.yaml\n## ingest-pdb"),
        assistant("The chart renders a PodDisruptionBudget when `podDisruptionBudget.enabled` is true, and stops with a clear message at one replica. Version is 1.9.0, both values are in the README table. Lint is clean, 7 unit tests pass, and the API server accepted the rendered manifests in a dry run. Committed as 5b0d9e1 on `ingest-pdb`, not pushed."),
    ),
)

_haskell = Session(
    name="r4b_haskell_ini_quotes",
    about="A pretty printer forgets to escape quotes; property test found it.",
    type="development",
    steps=(
        user("cabal test is red on master, the roundtrip property. Can you find out what's wrong and fix the library, not the property?"),
        bash("cabal test --test-show-details=direct", '''Build profile: -w ghc-9.6.6 -O1
In order, the following will be built (use -v for more details):
 - ini-roundtrip-0.3.1 (test:spec) (first run)
Preprocessing test suite 'spec' for ini-roundtrip-0.3.1...
Building test suite 'spec' for ini-roundtrip-0.3.1...
Running 1 test suites...
Test suite spec: RUNNING...

Data.Ini
  parse
    reads sections [✔]
    reads quoted values [✔]
    rejects a key without a value [✔]
  render
    quotes values with spaces [✔]
    roundtrips [✘]

Failures:

  test/Spec.hs:41:5: 
  1) Data.Ini, render, roundtrips
       Falsified (after 14 tests and 6 shrinks):
         Ini [("a",[("k"," \\"")])]
       Right (Ini [("a",[("k"," \\"")])]) /= Left "a:2: unexpected end of quoted value"

  To rerun use: --match "/Data.Ini/render/roundtrips/" --seed 1207743021

Randomized with seed 1207743021

Finished in 0.0193 seconds
5 examples, 1 failure
Test suite spec: FAIL
Test suite logged to: /srv/project/dist-newstyle/build/x86_64-linux/ghc-9.6.6/ini-roundtrip-0.3.1/t/spec/test/ini-roundtrip-0.3.1-spec.log
0 of 1 test suites (0 of 1 test cases) passed.
Error: [Cabal-7125]
Tests failed for test:spec from ini-roundtrip-0.3.1.''', 1),
        read("src/Data/Ini/Render.hs", '''module Data.Ini.Render (render) where

import Data.Char (isSpace)
import Data.Ini.Types

render :: Ini -> String
render (Ini sections) = concatMap section sections
  where
    section (name, pairs) = "[" ++ name ++ "]\\n" ++ concatMap pair pairs
    pair (key, value) = key ++ " = " ++ quoted value ++ "\\n"

quoted :: String -> String
quoted value
  | any isSpace value = '"' : value ++ "\\""
  | otherwise = value
'''),
        grep("escaped|'\\\\\\\\'", "src/Data/Ini/Parse.hs:33:quotedValue = char '\"' *> many escaped <* char '\"'", "src/Data/Ini/Parse.hs:36:escaped = (char '\\\\' *> anyChar) <|> noneOf \"\\\"\\\\\""),
        says("The parser understands `\\\"` and `\\\\` inside quotes; the renderer never writes them. A value that starts with a quote or is empty is also written bare, which the parser would read as the start of a quoted value."),
        edit("src/Data/Ini/Render.hs", '''  | any isSpace value = '"' : value ++ "\\""
  | otherwise = value
''', '''  | null value || any needsQuotes value = '"' : concatMap escape value ++ "\\""
  | otherwise = value
  where
    needsQuotes c = isSpace c || c `elem` "\\"\\\\"
    escape c
      | c `elem` "\\"\\\\" = ['\\\\', c]
      | otherwise = [c]
'''),
        bash("cabal test --test-show-details=direct --test-options='--qc-max-success=5000' && cabal test --test-show-details=direct --test-options='--seed 1207743021'", '''Build profile: -w ghc-9.6.6 -O1
In order, the following will be built (use -v for more details):
 - ini-roundtrip-0.3.1 (lib) (file src/Data/Ini/Render.hs changed)
 - ini-roundtrip-0.3.1 (test:spec) (dependency rebuilt)
Preprocessing library for ini-roundtrip-0.3.1...
Building library for ini-roundtrip-0.3.1...
[3 of 4] Compiling Data.Ini.Render  ( src/Data/Ini/Render.hs, /srv/project/dist-newstyle/build/x86_64-linux/ghc-9.6.6/ini-roundtrip-0.3.1/build/Data/Ini/Render.o ) [Source file changed]
Preprocessing test suite 'spec' for ini-roundtrip-0.3.1...
Building test suite 'spec' for ini-roundtrip-0.3.1...
Running 1 test suites...
Test suite spec: RUNNING...

Data.Ini
  parse
    reads sections [✔]
    reads quoted values [✔]
    rejects a key without a value [✔]
  render
    quotes values with spaces [✔]
    roundtrips [✔]
      +++ OK, passed 5000 tests.

Finished in 0.4120 seconds
5 examples, 0 failures
Test suite spec: PASS
Test suite logged to: /srv/project/dist-newstyle/build/x86_64-linux/ghc-9.6.6/ini-roundtrip-0.3.1/t/spec/test/ini-roundtrip-0.3.1-spec.log
1 of 1 test suites (1 of 1 test cases) passed.
Build profile: -w ghc-9.6.6 -O1
In order, the following will be built (use -v for more details):
 - ini-roundtrip-0.3.1 (test:spec) (additional components to build)
Running 1 test suites...
Test suite spec: RUNNING...

Data.Ini
  parse
    reads sections [✔]
    reads quoted values [✔]
    rejects a key without a value [✔]
  render
    quotes values with spaces [✔]
    roundtrips [✔]
      +++ OK, passed 100 tests.

Finished in 0.0110 seconds
5 examples, 0 failures
Test suite spec: PASS
1 of 1 test suites (1 of 1 test cases) passed.'''),
        assistant("`quoted` in `Data.Ini.Render` put quotes around a value but did not escape `\"` and `\\` inside it, so the parser ran past the end. It now escapes both, and also quotes empty values and values containing either character.\n\nThe property is untouched. It holds for 5000 cases and for the seed that failed (1207743021); 5 examples, 0 failures."),
    ),
)

_KT = '''package shop.shipping

class ShippingCalculator(private val rates: RateTable) {
    fun cost(parcel: Parcel, country: String): Money {
        val rate = rates.find(country) ?: throw UnknownCountry(country)
        return rate.base + rate.perKilo * parcel.kilos
    }
}
'''

_kotlin = Session(
    name="r4b_kotlin_todo_by_name",
    about="The user asks for a marked place by name; everything else is finished.",
    type="development",
    branch="feature/SHOP-88-islands",
    steps=(
        user("SHOP-88: islands (parcel.isIsland) pay a surcharge of 7.50 on top. Only for DE and GR for now. Next to the country set leave a comment `// TODO(SHOP-412): read the countries from the rate table`, that is another ticket and the rate team wants to grep for it. ./gradlew check must be green, then commit."),
        read("shipping/src/main/kotlin/shop/shipping/ShippingCalculator.kt", _KT),
        read("shipping/src/test/kotlin/shop/shipping/ShippingCalculatorTest.kt", '''package shop.shipping

import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith

class ShippingCalculatorTest {
    private val calculator = ShippingCalculator(RateTable.of("DE" to Rate(Money("4.00"), Money("0.50")), "SE" to Rate(Money("9.00"), Money("0.90"))))

    @Test
    fun `adds weight to the base`() {
        assertEquals(Money("5.00"), calculator.cost(Parcel(kilos = 2), "DE"))
    }

    @Test
    fun `unknown country`() {
        assertFailsWith<UnknownCountry> { calculator.cost(Parcel(kilos = 1), "XX") }
    }
}
'''),
        grep("isIsland", "shipping/src/main/kotlin/shop/shipping/Parcel.kt:5:    val isIsland: Boolean = false,"),
        multi_edit("shipping/src/main/kotlin/shop/shipping/ShippingCalculator.kt",
            ("        return rate.base + rate.perKilo * parcel.kilos\n    }\n", '''        val plain = rate.base + rate.perKilo * parcel.kilos
        return if (parcel.isIsland && country in ISLAND_COUNTRIES) plain + ISLAND_SURCHARGE else plain
    }

    private companion object {
        // TODO(SHOP-412): read the countries from the rate table
        val ISLAND_COUNTRIES = setOf("DE", "GR")
        val ISLAND_SURCHARGE = Money("7.50")

    }
'''),),
        edit("shipping/src/test/kotlin/shop/shipping/ShippingCalculatorTest.kt", "    @Test\n    fun `unknown country`", '''    @Test
    fun `an island in Germany pays the surcharge`() {
        assertEquals(Money("12.50"), calculator.cost(Parcel(kilos = 2, isIsland = true), "DE"))
    }

    @Test
    fun `an island in Sweden does not`() {
        assertEquals(Money("10.80"), calculator.cost(Parcel(kilos = 2, isIsland = true), "SE"))
    }

    @Test
    fun `unknown country`'''),
        bash("./gradlew check", """> Task :shipping:compileKotlin
> Task :shipping:compileTestKotlin
> Task :shipping:test
> Task :shipping:ktlintMainSourceSetCheck FAILED
/srv/project/shipping/src/main/kotlin/shop/shipping/ShippingCalculator.kt:13:1 Unexpected blank line(s) before "}" (standard:no-blank-line-before-rbrace)

FAILURE: Build failed with an exception.

* What went wrong:
Execution failed for task ':shipping:ktlintMainSourceSetCheck'.
> A failure occurred while executing org.jlleitschuh.gradle.ktlint.worker.ConsoleReportWorkAction
   > KtLint found code style violations. Please see the following reports:
     - /srv/project/shipping/build/reports/ktlint/ktlintMainSourceSetCheck/ktlintMainSourceSetCheck.txt

BUILD FAILED in 22s
9 actionable tasks: 5 executed, 4 up-to-date""", 1),
        edit("shipping/src/main/kotlin/shop/shipping/ShippingCalculator.kt", 'Money("7.50")\n\n    }', 'Money("7.50")\n    }'),
        bash("./gradlew check && git diff --stat", """> Task :shipping:compileKotlin
> Task :shipping:compileTestKotlin
> Task :shipping:test
> Task :shipping:ktlintMainSourceSetCheck
> Task :shipping:ktlintTestSourceSetCheck
> Task :shipping:check

BUILD SUCCESSFUL in 19s
11 actionable tasks: 6 executed, 5 up-to-date
 .../src/main/kotlin/shop/shipping/ShippingCalculator.kt  |  9 ++++++++-
 .../test/kotlin/shop/shipping/ShippingCalculatorTest.kt  | 10 ++++++++++
 2 files changed, 18 insertions(+), 1 deletion(-)"""),
        bash("git commit -qam 'SHOP-88: island surcharge for DE and GR' && git log --oneline -1 && git status -sb", "e20f5ab SHOP-88: island surcharge for DE and GR\n## feature/SHOP-88-islands"),
        assistant("Island parcels to DE and GR now cost 7.50 more; elsewhere nothing changes. Tests cover an island in Germany (12.50) and one in Sweden (no surcharge). The comment `TODO(SHOP-412): read the countries from the rate table` stands above the country set, as you asked.\n\n`./gradlew check` is green (ktlint first disliked a blank line of mine). Committed as e20f5ab on `feature/SHOP-88-islands`."),
    ),
)

_latex = Session(
    name="r4b_latex_masterarbeit_de",
    about="German: references and an overfull table in a thesis, built until the log is clean.",
    type="simple",
    steps=(
        user("In meiner Masterarbeit stehen überall [?] statt der Quellen, und Tabelle 3.2 ragt über den Rand. Bitte beides richten, Inhalt nicht ändern."),
        bash("latexmk -pdf -interaction=nonstopmode arbeit.tex > /tmp/build.log; grep -nE 'Warning|Overfull|^!' arbeit.log arbeit.blg", '''arbeit.log:812:LaTeX Warning: Citation 'kuhn2019' on page 14 undefined on input line 41.
arbeit.log:815:LaTeX Warning: Citation 'weber21' on page 15 undefined on input line 58.
arbeit.log:902:Overfull \\hbox (47.31602pt too wide) in paragraph at lines 120--133
arbeit.log:977:LaTeX Warning: There were undefined references.
arbeit.blg:3:I couldn't open database file quellen.bib'''),
        bash("ls *.bib lit/*.bib; grep -n 'bibliography' arbeit.tex; grep -nE '^@' lit/quellen.bib; sed -n 118,134p kapitel/messung.tex", '''ls: cannot access '*.bib': No such file or directory
lit/quellen.bib
88:\\bibliographystyle{alphadin}
89:\\bibliography{quellen}
1:@book{kuhn2019,
9:@article{weber2021,
\\begin{table}
  \\centering
  \\begin{tabular}{lllll}
    Messreihe & Aufbau & Temperatur in \\textdegree C & Druck in hPa & Bemerkung \\\\
    A1 & offen & 21,4 & 1013 & Fenster zeitweise geöffnet, Werte ab 14 Uhr verworfen \\\\
    A2 & geschlossen & 22,0 & 1012 & -- \\\\
  \\end{tabular}
  \\caption{Messreihen im Überblick}
\\end{table}''', 0),
        says("Die Datenbank liegt in `lit/`, und ein Schlüssel heißt dort `weber2021` statt `weber21`. Die Tabelle bekommt eine umbrechende letzte Spalte."),
        edit("arbeit.tex", "\\bibliography{quellen}", "\\bibliography{lit/quellen}"),
        bash("grep -rn 'weber21}' kapitel; grep -n 'tabularx' arbeit.tex", "kapitel/stand.tex:58:Dem widerspricht \\cite{weber21}.\narbeit.tex:14:\\usepackage{tabularx}"),
        edit("kapitel/stand.tex", "\\cite{weber21}", "\\cite{weber2021}"),
        multi_edit("kapitel/messung.tex", ("\\begin{tabular}{lllll}", "\\begin{tabularx}{\\textwidth}{llllX}"), ("\\end{tabular}", "\\end{tabularx}")),
        bash("latexmk -pdf -interaction=nonstopmode arbeit.tex > /tmp/build.log; echo \"latexmk: $?\"; grep -cE 'undefined|Overfull' arbeit.log; pdfinfo arbeit.pdf | grep Pages; pdftotext -f 14 -l 15 arbeit.pdf - | grep -nE '\\[(\\?|Kuh|Web)'", "latexmk: 0\n0\nPages:           71\n12:[Kuh19]\n40:[Web21]"),
        assistant("Beides ist behoben. Die Quellen: `\\bibliography` zeigte auf `quellen` statt auf `lit/quellen`, und in `kapitel/stand.tex` stand der Schlüssel `weber21`, die Datenbank kennt ihn als `weber2021`. Tabelle 3.2 ist jetzt so breit wie der Satzspiegel, die Bemerkungen brechen um.\n\nDas Dokument baut ohne undefinierte Verweise und ohne übervolle Zeilen; auf den Seiten 14 und 15 stehen [Kuh19] und [Web21]. Am Text habe ich nichts geändert."),
    ),
)

_esp = Session(
    name="r4b_esp32_brownout",
    about="Firmware without tests: a config option and a retry, built for the board and sized.",
    type="development",
    steps=(
        user("esp32-c3 sensor node: if the BME280 does not answer at boot we abort() and reboot forever. Retry 5 times with 200 ms between, then go on without the sensor and log one warning. Build it, I'll flash it myself tonight."),
        read("main/sensor.c", '''#include "sensor.h"
#include "bme280.h"
#include "esp_log.h"

static const char *TAG = "sensor";
static bme280_t dev;

void sensor_init(void)
{
    ESP_ERROR_CHECK(bme280_init(&dev, CONFIG_NODE_I2C_SDA, CONFIG_NODE_I2C_SCL));
    ESP_LOGI(TAG, "bme280 ready");
}

esp_err_t sensor_read(float *celsius, float *hpa)
{
    return bme280_read(&dev, celsius, hpa);
}
'''),
        grep("sensor_read|sensor_init", "main/sensor.h:5:void sensor_init(void);", "main/sensor.h:6:esp_err_t sensor_read(float *celsius, float *hpa);", "main/main.c:31:    sensor_init();", "main/main.c:44:        if (sensor_read(&celsius, &hpa) == ESP_OK) {"),
        bash("sed -n 38,56p main/main.c", '''    for (;;) {
        float celsius, hpa;
        payload_t out = {0};
        out.uptime = esp_timer_get_time() / 1000000;
        out.vbat = battery_millivolts();

        if (sensor_read(&celsius, &hpa) == ESP_OK) {
            out.has_climate = true;
            out.celsius = celsius;
            out.hpa = hpa;
        }
        radio_send(&out);
        vTaskDelay(pdMS_TO_TICKS(CONFIG_NODE_PERIOD_MS));
    }'''),
        says("The loop already copes with a failing read; `sensor_read` only has to say so when there is no device, instead of talking to an uninitialised handle."),
        edit("main/sensor.c", '''    ESP_ERROR_CHECK(bme280_init(&dev, CONFIG_NODE_I2C_SDA, CONFIG_NODE_I2C_SCL));
    ESP_LOGI(TAG, "bme280 ready");
}
''', '''    esp_err_t err = ESP_FAIL;
    for (int attempt = 0; attempt < INIT_ATTEMPTS; attempt++) {
        if (attempt > 0) {
            vTaskDelay(pdMS_TO_TICKS(INIT_PAUSE_MS));
        }
        err = bme280_init(&dev, CONFIG_NODE_I2C_SDA, CONFIG_NODE_I2C_SCL);
        if (err == ESP_OK) {
            present = true;
            ESP_LOGI(TAG, "bme280 ready");
            return;
        }
    }
    ESP_LOGW(TAG, "no bme280 (%s), going on without it", esp_err_to_name(err));
}
'''),
        edit("main/sensor.c", "    return bme280_read(&dev, celsius, hpa);", "    if (!present) {\n        return ESP_ERR_INVALID_STATE;\n    }\n    return bme280_read(&dev, celsius, hpa);"),
        edit("main/sensor.c", "static bme280_t dev;\n", "static bme280_t dev;\nstatic bool present;\n\n#define INIT_ATTEMPTS 6 /* the first one and 5 retries */\n#define INIT_PAUSE_MS 200\n"),
        bash(". $IDF_PATH/export.sh >/dev/null && idf.py build", '''Executing action: all (aliases: build)
Running ninja in directory /srv/project/build
[1/9] Building C object esp-idf/main/CMakeFiles/__idf_main.dir/sensor.c.obj
FAILED: esp-idf/main/CMakeFiles/__idf_main.dir/sensor.c.obj
/srv/project/main/sensor.c: In function 'sensor_init':
/srv/project/main/sensor.c:18:13: error: implicit declaration of function 'vTaskDelay' [-Werror=implicit-function-declaration]
   18 |             vTaskDelay(pdMS_TO_TICKS(INIT_PAUSE_MS));
      |             ^~~~~~~~~~
cc1: some warnings being treated as errors
ninja: build stopped: subcommand failed.
ninja failed with exit code 1''', 2),
        edit("main/sensor.c", '#include "esp_log.h"\n', '#include "esp_log.h"\n#include "freertos/FreeRTOS.h"\n#include "freertos/task.h"\n'),
        bash(". $IDF_PATH/export.sh >/dev/null && idf.py build", '''Executing action: all (aliases: build)
Running ninja in directory /srv/project/build
[1/7] Building C object esp-idf/main/CMakeFiles/__idf_main.dir/sensor.c.obj
[2/7] Linking C static library esp-idf/main/libmain.a
[3/7] Generating ld/sections.ld
[4/7] Linking CXX executable node.elf
[5/7] Generating binary image from built executable
esptool.py v4.8.1
Creating esp32c3 image...
Merged 1 ELF section
Successfully created esp32c3 image.
Generated /srv/project/build/node.bin
[6/7] cd /srv/project/build/esp-idf/esptool_py && python check_sizes.py --offset 0x8000 partition --type app partition-table.bin node.bin
node.bin binary size 0x3c1f0 bytes. Smallest app partition is 0x100000 bytes. 0xc3e10 bytes (77%) free.

Project build complete. To flash, run:
 idf.py flash'''),
        assistant("A missing BME280 no longer reboots the node. `sensor_init` tries once and then 5 more times, 200 ms apart; after that it logs a single warning with the error name and returns. `sensor_read` answers `ESP_ERR_INVALID_STATE` without a device, which the send loop already handles by leaving the climate fields out.\n\nIt builds for the esp32-c3 without warnings (node.bin 0x3c1f0 bytes, 77 % of the partition free). The image for tonight is `build/node.bin`."),
    ),
)

_dbt = Session(
    name="r4b_dbt_refunds",
    about="A fact table gets refunds; built with its tests and compared with the ledger.",
    type="development",
    branch="fct-orders-net",
    steps=(
        user("fct_orders has only gross. I need net_amount = gross − refunds (stg_refunds, several refunds per order possible, currency is always the order's), tests for not null and >= 0. Prove to me that the sum fits the ledger for February."),
        todos("> Look at the models", "- Add net_amount and its tests", "- dbt build", "- Compare February with the ledger"),
        read("models/marts/fct_orders.sql", "select\n    o.order_id,\n    o.ordered_at,\n    o.currency,\n    o.gross_amount\nfrom {{ ref('stg_orders') }} o\n"),
        read("models/marts/_marts.yml", "version: 2\nmodels:\n  - name: fct_orders\n    description: One row per order.\n    columns:\n      - name: order_id\n        tests: [unique, not_null]\n      - name: gross_amount\n        description: What the customer paid.\n"),
        bash("dbt show --inline \"select count(*) n, count(distinct order_id) orders, sum((refund_amount is null)::int) nulls from {{ ref('stg_refunds') }}\" | tail -8; ls tests packages.yml; cat packages.yml", '''Previewing inline node:
|     n | orders | nulls |
| ----- | ------ | ----- |
| 4,118 |  3,902 |     0 |
ls: cannot access 'tests': No such file or directory
packages.yml
packages:
  - package: dbt-labs/dbt_utils
    version: 1.3.0'''),
        says("216 orders' worth of extra rows: a plain join would double gross. Aggregate first."),
        todos("x Look at the models", "> Add net_amount and its tests", "- dbt build", "- Compare February with the ledger"),
        write("models/marts/fct_orders.sql", '''with refunds as (

    select
        order_id,
        sum(refund_amount) as refunded_amount
    from {{ ref('stg_refunds') }}
    group by order_id

)

select
    o.order_id,
    o.ordered_at,
    o.currency,
    o.gross_amount,
    o.gross_amount - coalesce(r.refunded_amount, 0) as net_amount
from {{ ref('stg_orders') }} o
left join refunds r using (order_id)
'''),
        edit("models/marts/_marts.yml", "        description: What the customer paid.\n", "        description: What the customer paid.\n      - name: net_amount\n        description: gross_amount less all refunds of the order, in the order's currency.\n        tests:\n          - not_null\n          - dbt_utils.accepted_range:\n              min_value: 0\n"),
        bash("dbt build --select fct_orders", '''09:14:02  Running with dbt=1.8.7
09:14:03  Registered adapter: postgres=1.8.2
09:14:03  Found 14 models, 31 data tests, 6 sources, 541 macros
09:14:03  
09:14:04  Concurrency: 4 threads (target='dev')
09:14:04  
09:14:04  1 of 5 START sql table model dbt_mara.fct_orders ............................... [RUN]
09:14:07  1 of 5 OK created sql table model dbt_mara.fct_orders .......................... [SELECT 218440 in 2.91s]
09:14:07  2 of 5 START test dbt_utils_accepted_range_fct_orders_net_amount__0 ............ [RUN]
09:14:07  3 of 5 START test not_null_fct_orders_net_amount ............................... [RUN]
09:14:07  4 of 5 START test not_null_fct_orders_order_id ................................. [RUN]
09:14:07  5 of 5 START test unique_fct_orders_order_id ................................... [RUN]
09:14:07  3 of 5 PASS not_null_fct_orders_net_amount ..................................... [PASS in 0.21s]
09:14:07  2 of 5 PASS dbt_utils_accepted_range_fct_orders_net_amount__0 .................. [PASS in 0.23s]
09:14:07  4 of 5 PASS not_null_fct_orders_order_id ....................................... [PASS in 0.24s]
09:14:08  5 of 5 PASS unique_fct_orders_order_id ......................................... [PASS in 0.38s]
09:14:08  
09:14:08  Finished running 1 table model, 4 data tests in 0 hours 0 minutes and 4.71 seconds (4.71s).
09:14:08  
09:14:08  Completed successfully
09:14:08  
09:14:08  Done. PASS=5 WARN=0 ERROR=0 SKIP=0 TOTAL=5'''),
        todos("x Look at the models", "x Add net_amount and its tests", "x dbt build", "> Compare February with the ledger"),
        bash('''psql "$DEV_URL" -c "select f.currency, sum(f.net_amount) as fct, l.net as ledger, sum(f.net_amount) - l.net as diff from dbt_mara.fct_orders f join (select currency, sum(amount) net from finance.ledger where booked_for = '2026-02' and account in ('4000','4090') group by 1) l using (currency) where date_trunc('month', f.ordered_at) = '2026-02-01' group by 1, 3 order by 1"''', ''' currency |    fct     |   ledger   | diff 
----------+------------+------------+------
 CHF      |   91204.10 |   91204.10 | 0.00
 EUR      | 1408771.55 | 1408771.55 | 0.00
 SEK      |  733019.00 |  733019.00 | 0.00
(3 rows)
'''),
        todos("x Look at the models", "x Add net_amount and its tests", "x dbt build", "x Compare February with the ledger"),
        assistant("`fct_orders.net_amount` is there. Refunds are summed per order before the join (3,902 orders have 4,118 refunds, a plain join would have counted gross twice). `dbt build`: table and 4 tests, PASS=5.\n\nFebruary against the ledger (accounts 4000 and 4090):\n\n| currency | fct_orders | ledger | difference |\n|---|---|---|---|\n| CHF | 91,204.10 | 91,204.10 | 0 |\n| EUR | 1,408,771.55 | 1,408,771.55 | 0 |\n| SEK | 733,019.00 | 733,019.00 | 0 |"),
    ),
)

_protocol = Session(
    name="r4b_hatch_protocol_backends",
    about="Storage behind a protocol and an abstract base; two backends implement all of it.",
    type="development",
    steps=(
        user("Pull the storage out of `vault/cache.py`: a `Backend` ABC with get/put/drop, a `Clock` Protocol for now(), and two backends, memory and sqlite. Cache should take both in its constructor. `hatch run check` is what CI runs."),
        read("vault/cache.py", '''import time


class Cache:
    def __init__(self, ttl: float) -> None:
        self._ttl = ttl
        self._data: dict[str, tuple[float, bytes]] = {}

    def get(self, key: str) -> bytes | None:
        found = self._data.get(key)
        if found is None:
            return None
        until, value = found
        if until < time.time():
            del self._data[key]
            return None
        return value

    def put(self, key: str, value: bytes) -> None:
        self._data[key] = (time.time() + self._ttl, value)
'''),
        bash("cat pyproject.toml | sed -n '/tool.hatch/,$p'; ls tests; grep -rn 'Cache(' --include=*.py . ", '''[tool.hatch.envs.default.scripts]
check = ["ruff check vault tests", "mypy --strict vault", "pytest -q"]
test_cache.py
./tests/test_cache.py:6:    cache = Cache(ttl=10)
./vault/cli.py:18:    cache = Cache(ttl=args.ttl)'''),
        write("vault/backend.py", '''"""Where a cache keeps its entries."""

import sqlite3
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Protocol

Entry = tuple[float, bytes]


class Clock(Protocol):
    def now(self) -> float: ...


class Backend(ABC):
    @abstractmethod
    def get(self, key: str) -> Entry | None: ...

    @abstractmethod
    def put(self, key: str, entry: Entry) -> None:
        """Keep an entry, in place of an older one."""
        raise NotImplementedError

    @abstractmethod
    def drop(self, key: str) -> None:
        pass


class Memory(Backend):
    def __init__(self) -> None:
        self._data: dict[str, Entry] = {}

    def get(self, key: str) -> Entry | None:
        return self._data.get(key)

    def put(self, key: str, entry: Entry) -> None:
        self._data[key] = entry

    def drop(self, key: str) -> None:
        self._data.pop(key, None)


class Sqlite(Backend):
    def __init__(self, path: Path | str) -> None:
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("create table if not exists entry (key text primary key, until real, value blob)")

    def get(self, key: str) -> Entry | None:
        row: Entry | None = self._db.execute("select until, value from entry where key = ?", (key,)).fetchone()
        return row

    def put(self, key: str, entry: Entry) -> None:
        self._db.execute("insert or replace into entry values (?, ?, ?)", (key, *entry))

    def drop(self, key: str) -> None:
        self._db.execute("delete from entry where key = ?", (key,))
'''),
        write("vault/cache.py", '''import time

from vault.backend import Backend, Clock


class SystemClock:
    def now(self) -> float:
        return time.time()


class Cache:
    def __init__(self, ttl: float, backend: Backend, clock: Clock) -> None:
        self._ttl = ttl
        self._backend = backend
        self._clock = clock

    def get(self, key: str) -> bytes | None:
        found = self._backend.get(key)
        if found is None:
            return None
        until, value = found
        if until < self._clock.now():
            self._backend.drop(key)
            return None
        return value

    def put(self, key: str, value: bytes) -> None:
        self._backend.put(key, (self._clock.now() + self._ttl, value))
'''),
        bash("sed -n 1,24p vault/cli.py", '''import argparse
import sys

from vault.cache import Cache
from vault.fetch import fetch


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("--ttl", type=float, default=300)
    args = parser.parse_args()
    return run(args)


def run(args: argparse.Namespace) -> int:
    # one process, so memory is enough
    cache = Cache(ttl=args.ttl)
    sys.stdout.buffer.write(fetch(args.url, cache))
    return 0'''),
        multi_edit("vault/cli.py", ("from vault.cache import Cache\n", "from vault.backend import Memory\nfrom vault.cache import Cache, SystemClock\n"), ("Cache(ttl=args.ttl)", "Cache(ttl=args.ttl, backend=Memory(), clock=SystemClock())")),
        write("tests/test_cache.py", '''import pytest

from vault.backend import Backend, Memory, Sqlite
from vault.cache import Cache


class Hand:
    def __init__(self):
        self.time = 0.0

    def now(self):
        return self.time


@pytest.fixture(params=["memory", "sqlite"])
def backend(request, tmp_path) -> Backend:
    return Memory() if request.param == "memory" else Sqlite(tmp_path / "cache.db")


def test_keeps_until_the_ttl(backend):
    clock = Hand()
    cache = Cache(ttl=10, backend=backend, clock=clock)
    cache.put("a", b"1")
    clock.time = 9
    assert cache.get("a") == b"1"
    clock.time = 11
    assert cache.get("a") is None
    assert backend.get("a") is None


def test_put_replaces(backend):
    cache = Cache(ttl=10, backend=backend, clock=Hand())
    cache.put("a", b"1")
    cache.put("a", b"2")
    assert cache.get("a") == b"2"


def test_unknown_key(backend):
    assert Cache(ttl=10, backend=backend, clock=Hand()).get("b") is None


def test_sqlite_outlives_the_cache(tmp_path):
    Cache(ttl=10, backend=Sqlite(tmp_path / "c.db"), clock=Hand()).put("a", b"1")
    assert Cache(ttl=10, backend=Sqlite(tmp_path / "c.db"), clock=Hand()).get("a") == b"1"
'''),
        bash("hatch run check && hatch run vault https://example.com | head -c 60", '''cmd [1] | ruff check vault tests
All checks passed!
cmd [2] | mypy --strict vault
Success: no issues found in 5 source files
cmd [3] | pytest -q
.......                                                                  [100%]
7 passed in 0.31s
<!doctype html><html lang="en"><head><title>Example Domain</'''),
        assistant("`vault/backend.py` now holds the `Backend` ABC (get/put/drop), the `Clock` protocol and both backends, `Memory` and `Sqlite`. `Cache` takes backend and clock in its constructor; the CLI passes `Memory()` and `SystemClock()`, so it behaves as before. The cache tests run against both backends, with a clock moved by hand.\n\n`hatch run check` passes: ruff, mypy --strict, 7 tests. A fetch through the CLI works too."),
    ),
)

PART = (_swift_limits, _helm, _haskell, _kotlin, _latex, _esp, _dbt, _protocol)
INTENT = {s.name: "good" for s in PART}

SESSIONS = PART
