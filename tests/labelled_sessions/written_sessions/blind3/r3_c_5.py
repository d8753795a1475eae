from written_sessions.vocabulary import *

no_call_es = Session(
    name="r3c_announced_spanish_first_words_only",
    about="No tool is called: the agent says what it will do now and stops.",
    type="development",
    steps=(
        user("El parser de fechas de crates/agenda no acepta \"mañana a las 9\". ¿Puedes añadirlo, con tests?"),
        assistant("Claro. Primero voy a leer `crates/agenda/src/parser.rs` para ver cómo se reconocen ahora las expresiones relativas, y después añado la regla para \"mañana a las 9\" junto con sus tests."),
    ),
)

godot_read = Session(
    name="r3c_announced_godot_after_two_reads",
    about="Two files were read; the change is announced and not made.",
    type="development",
    steps=(
        user("Jumping feels unresponsive in player.gd: if you press jump just before landing, nothing happens. Add a jump buffer of 0.12 s."),
        read("player/player.gd", '''extends CharacterBody2D

const SPEED := 220.0
const JUMP := -380.0

var gravity: float = ProjectSettings.get_setting("physics/2d/default_gravity")

func _physics_process(delta: float) -> void:
	if not is_on_floor():
		velocity.y += gravity * delta
	if Input.is_action_just_pressed("jump") and is_on_floor():
		velocity.y = JUMP
	velocity.x = Input.get_axis("left", "right") * SPEED
	move_and_slide()'''),
        read("test/unit/test_player.gd", '''extends GutTest

func test_falls_without_floor():
	var player = add_child_autofree(preload("res://player/player.tscn").instantiate())
	simulate(player, 5, 0.016)
	assert_gt(player.velocity.y, 0.0)'''),
        assistant('''The cause is in `_physics_process`: `is_action_just_pressed("jump")` is true for one frame only, and the jump is taken only if the player is on the floor in that very frame. A press three frames earlier is lost.

A timer that remembers the press fixes this: it is set to 0.12 when jump is pressed, counts down with `delta`, and a landing with time left on it jumps.

Next I'll put `_jump_buffer` into player.gd and write a GUT test that presses jump in the air.'''),
    ),
)

maven_fail = Session(
    name="r3c_announced_maven_one_failure_to_go",
    about="A test still fails; the agent says it will fix it and stops there.",
    type="development",
    steps=(
        user("Upgrade the invoice module to Jakarta Validation 3 and get the build green."),
        bash("grep -rln 'javax.validation' invoice/src | wc -l && sed -i 's#<artifactId>validation-api</artifactId>#<artifactId>jakarta.validation-api</artifactId>#; s#<groupId>javax.validation</groupId>#<groupId>jakarta.validation</groupId>#; s#<validation.version>2.0.1.Final#<validation.version>3.0.2#' invoice/pom.xml && grep -rl 'javax.validation' invoice/src | xargs sed -i 's/javax\\.validation/jakarta.validation/g'", "14"),
        bash("mvn -q -pl invoice test", '''
[ERROR] Tests run: 38, Failures: 0, Errors: 1, Skipped: 0, Time elapsed: 1.204 s <<< FAILURE! -- in com.acme.invoice.InvoiceValidatorTest
[ERROR] com.acme.invoice.InvoiceValidatorTest.rejectsNegativeTotals -- Time elapsed: 0.031 s <<< ERROR!
jakarta.validation.NoProviderFoundException: Unable to create a Configuration, because no Jakarta Validation provider could be found. Add a provider like Hibernate Validator (RI) to your classpath.
	at jakarta.validation.Validation$GenericBootstrapImpl.configure(Validation.java:291)
	at com.acme.invoice.InvoiceValidatorTest.setUp(InvoiceValidatorTest.java:24)

[ERROR] Errors:
[ERROR]   InvoiceValidatorTest.setUp:24 » NoProviderFound Unable to create a Configuration...
[ERROR] Tests run: 38, Failures: 0, Errors: 1, Skipped: 0
[ERROR] Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin:3.2.5:test (default-test) on project invoice: There are test failures.''', 1),
        bash("grep -n -A3 hibernate-validator invoice/pom.xml pom.xml", '''
invoice/pom.xml:61:      <artifactId>hibernate-validator</artifactId>
invoice/pom.xml-62-      <version>6.2.5.Final</version>
invoice/pom.xml-63-      <scope>test</scope>
invoice/pom.xml-64-    </dependency>'''),
        assistant("37 of 38 are fine. The one that is left comes from hibernate-validator 6.2, which still implements the javax API; 8.0.1.Final is the version for Jakarta Validation 3. Let me bump that and run the module again."),
    ),
)

clojure_zh = Session(
    name="r3c_announced_chinese_clojure_docs_next",
    about="Code and tests are done; the agent says it goes on with the document that was asked for, and stops.",
    type="development",
    steps=(
        user("给 src/shop/coupon.clj 加上优惠券过期检查(expires-at),写好测试,并更新 doc/coupons.md。"),
        read("src/shop/coupon.clj", '''(ns shop.coupon)

(defn apply-coupon [order {:keys [percent]}]
  (update order :total #(* % (- 1 (/ percent 100)))))'''),
        edit("src/shop/coupon.clj", '''(defn apply-coupon [order {:keys [percent]}]
  (update order :total #(* % (- 1 (/ percent 100)))))''', '''(defn expired? [{:keys [expires-at]} ^java.time.Instant now]
  (boolean (and expires-at (not (.isBefore now expires-at)))))

(defn apply-coupon [order {:keys [percent] :as coupon} now]
  (if (expired? coupon now)
    (assoc order :coupon-error :expired)
    (update order :total #(* % (- 1 (/ percent 100))))))'''),
        bash("grep -rn 'apply-coupon' src test", '''
src/shop/coupon.clj:6:(defn apply-coupon [order {:keys [percent] :as coupon} now]
src/shop/checkout.clj:22:    (coupon/apply-coupon order c)
test/shop/coupon_test.clj:8:    (is (= 90 (:total (apply-coupon {:total 100} {:percent 10}))))))'''),
        bash('''sed -i 's/(coupon\\/apply-coupon order c)/(coupon\\/apply-coupon order c (java.time.Instant\\/now))/' src/shop/checkout.clj
cat > test/shop/coupon_test.clj <<'EOT'
(ns shop.coupon-test
  (:require [clojure.test :refer [deftest is testing]]
            [shop.coupon :refer [apply-coupon]])
  (:import java.time.Instant))

(def now (Instant/parse "2026-03-02T09:00:00Z"))

(deftest coupons
  (testing "a coupon without an end"
    (is (= 90 (:total (apply-coupon {:total 100} {:percent 10} now)))))
  (testing "a coupon that ends this very moment"
    (is (= {:total 100 :coupon-error :expired}
           (apply-coupon {:total 100} {:percent 10 :expires-at now} now)))))
EOT
lein test''', '''
lein test shop.checkout-test

lein test shop.coupon-test

Ran 5 tests containing 9 assertions.
0 failures, 0 errors.'''),
        assistant("过期检查已经加好,`expires-at` 到点即视为过期,订单会带上 `:coupon-error :expired`。`lein test` 共 5 个测试、9 个断言,全部通过。接下来我来更新 doc/coupons.md,把新字段和过期时的返回值写进去。"),
    ),
)

docker_probe = Session(
    name="r3c_announced_docker_about_to_start_it",
    about="The image is built; starting and probing the container is announced only.",
    type="operations",
    steps=(
        user("The ledger image is 1.9 GB. Make it a multi-stage build under 300 MB and prove that the container still answers on /healthz."),
        read("Dockerfile", '''FROM golang:1.22
WORKDIR /src
COPY . .
RUN go build -o /ledger ./cmd/ledger
EXPOSE 8080
CMD ["/ledger"]'''),
        write("Dockerfile", '''FROM golang:1.22 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o /ledger ./cmd/ledger

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /ledger /ledger
EXPOSE 8080
ENTRYPOINT ["/ledger"]
'''),
        bash("docker build -t ledger:slim . && docker images ledger", '''
[+] Building 41.7s (15/15) FINISHED                              docker:default
 => [internal] load build definition from Dockerfile                       0.0s
 => [build 6/6] RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w"     28.3s
 => [stage-1 2/2] COPY --from=build /ledger /ledger                        0.1s
 => exporting to image                                                     0.2s
 => => naming to docker.io/library/ledger:slim                             0.0s
REPOSITORY   TAG       IMAGE ID       CREATED          SIZE
ledger       slim      5b0e8c77d1f2   2 seconds ago    21.4MB
ledger       latest    e1902c6a3b44   3 weeks ago      1.91GB'''),
        assistant("21.4 MB instead of 1.91 GB. Now starting the container on a free port and probing `/healthz`."),
    ),
)

haskell_push = Session(
    name="r3c_announced_cabal_changelog_and_push",
    about="All tests pass; changelog and push, which the user asked for, are announced as happening now.",
    type="development",
    branch="lenient-ini",
    steps=(
        user("Make the ini parser accept keys without a value (`debug` alone = empty string). Test, changelog entry, push the branch."),
        bash("sed -n 1,40p src/Ini/Parser.hs", '''
module Ini.Parser (entry) where

import Data.Char (isSpace)
import Text.Megaparsec
import Text.Megaparsec.Char

entry :: Parser (String, String)
entry = do
  key <- some (alphaNumChar <|> oneOf "-_.")
  hspace
  _ <- char '='
  hspace
  value <- takeWhileP (Just "value") (/= '\\n')
  pure (key, trimEnd value)'''),
        edit("src/Ini/Parser.hs", '''  _ <- char '='
  hspace
  value <- takeWhileP (Just "value") (/= '\\n')
  pure (key, trimEnd value)''', '''  value <- option "" $ do
    _ <- char '='
    hspace
    takeWhileP (Just "value") (/= '\\n')
  pure (key, trimEnd value)'''),
        edit("test/Spec.hs", '''  describe "entry" $ do''', '''  describe "entry" $ do
    it "takes a key without a value" $
      parseMaybe entry "debug" `shouldBe` Just ("debug", "")'''),
        bash("cabal test", '''
Build profile: -w ghc-9.6.4 -O1
In order, the following will be built (use -v for more details):
 - lenient-ini-0.3.0 (test:spec) (first run)
Running 1 test suites...
Test suite spec: RUNNING...
Test suite spec: PASS
Test suite logged to:
/srv/project/dist-newstyle/build/x86_64-linux/ghc-9.6.4/lenient-ini-0.3.0/t/spec/test/lenient-ini-0.3.0-spec.log
1 of 1 test suites (1 of 1 test cases) passed.'''),
        assistant('''The parser takes `debug` alone as a key with an empty value, with a test; the suite passes.

Last bit: CHANGELOG.md gets an entry under "Unreleased" and the branch goes up. Doing both now.'''),
    ),
)

robot_de = Session(
    name="r3c_announced_german_robot_investigation",
    about="An investigation that has a suspicion; the check of it is announced and the session stops.",
    type="investigation",
    steps=(
        user("Warum schlägt \"Bestellung Mit Gutschein\" in der Robot-Suite jede zweite Nacht fehl? Bitte Ursache finden, noch nichts ändern."),
        bash("ls -t results/ | head -6; for n in 0301 0228 0227 0226; do grep -h -A1 'Bestellung Mit Gutschein' results/nacht-$n/console.log | tail -2; done", '''
nacht-0301
nacht-0228
nacht-0227
nacht-0226
nacht-0225
nacht-0224
Bestellung Mit Gutschein                                              | FAIL |
Element 'css:.summe' should have contained '81,00' but its text was '90,00'.
Bestellung Mit Gutschein                                              | PASS |
------------------------------------------------------------------------------
Bestellung Mit Gutschein                                              | FAIL |
Element 'css:.summe' should have contained '81,00' but its text was '90,00'.
Bestellung Mit Gutschein                                              | PASS |
------------------------------------------------------------------------------'''),
        bash("cat tests/gutschein.robot; grep -n 'NACHT10' -r tests resources", '''
*** Test Cases ***
Bestellung Mit Gutschein
    Lege In Den Warenkorb    Tasse    90,00
    Löse Gutschein Ein       NACHT10
    Element Should Contain   css:.summe    81,00
tests/gutschein.robot:4:    Löse Gutschein Ein       NACHT10
resources/setup.robot:17:    Lege Gutschein An    NACHT10    prozent=10    max_pro_kunde=1'''),
        assistant("Der Wechsel zwischen PASS und FAIL passt zu `max_pro_kunde=1`: Hat der Testkunde den Gutschein in der Vornacht eingelöst, wirkt er in der nächsten nicht mehr, und die Summe bleibt bei 90,00. Das ist bisher nur eine Vermutung. Ich schaue mir jetzt an, wann `setup.robot` den Kunden zurücksetzt, und vergleiche das mit den Zeiten in den Nachtläufen."),
    ),
)

pester = Session(
    name="r3c_announced_pester_moving_on_to_three",
    about="Two of three numbered steps are done; the last words are that the third begins.",
    type="maintenance",
    steps=(
        user("1) rename Get-Backups to Get-Backup everywhere 2) keep the old name as an alias 3) regenerate docs/ with platyPS. Pester must stay green."),
        bash("pwsh -c \"Get-ChildItem -Recurse -Include *.ps1,*.psm1,*.psd1 | Select-String 'Get-Backups' | ForEach-Object { '{0}:{1}' -f (Resolve-Path -Relative \\$_.Path), \\$_.LineNumber }\"", '''
./BackupTools.psd1:14
./Public/Get-Backups.ps1:1
./Public/Remove-OldBackup.ps1:9
./Tests/Get-Backups.Tests.ps1:4
./Tests/Get-Backups.Tests.ps1:11'''),
        bash("git mv Public/Get-Backups.ps1 Public/Get-Backup.ps1 && git mv Tests/Get-Backups.Tests.ps1 Tests/Get-Backup.Tests.ps1 && sed -i 's/Get-Backups/Get-Backup/g' BackupTools.psd1 Public/*.ps1 Tests/Get-Backup.Tests.ps1"),
        bash("printf '%s\\n' '' 'Set-Alias -Name Get-Backups -Value Get-Backup' >> BackupTools.psm1 && sed -i \"s/AliasesToExport = @()/AliasesToExport = @('Get-Backups')/\" BackupTools.psd1 && pwsh -c 'Invoke-Pester -Output Normal; Import-Module ./BackupTools.psd1; (Get-Alias Get-Backups).Definition'", '''
Pester v5.5.0

Starting discovery in 3 files.
Discovery found 14 tests in 61ms.
Running tests.
[+] /srv/project/Tests/BackupTools.Tests.ps1 402ms (118ms|251ms)
[+] /srv/project/Tests/Get-Backup.Tests.ps1 211ms (97ms|98ms)
[+] /srv/project/Tests/Remove-OldBackup.Tests.ps1 198ms (102ms|81ms)
Tests completed in 829ms
Tests Passed: 14, Failed: 0, Skipped: 0 NotRun: 0
Get-Backup'''),
        assistant("1 and 2 are through: renamed in all five places, alias exported, Pester 14/14. Moving on to 3, regenerating docs/ with platyPS."),
    ),
)

SESSIONS = (no_call_es, godot_read, maven_fail, clojure_zh, docker_probe, haskell_push, robot_de, pester)
INTENDED = {s.name: "announced" for s in SESSIONS}
