from written_sessions.vocabulary import *

ansible = Session(
    name="r3d_molecule_idempotence",
    about="An Ansible role that was not idempotent is mended; molecule passes; a README typo follows.",
    type="development",
    steps=(
        user("molecule test on roles/node_exporter fails at the idempotence step since yesterday. Find out why and fix it."),
        bash("cd roles/node_exporter && git log --oneline -3 && ls tasks templates molecule/default", "a81f0d3 node_exporter: textfile collector\n5c0be71 node_exporter: pin 1.8.2\n2f9a6c4 node_exporter: systemd hardening\nmolecule/default:\nconverge.yml\nmolecule.yml\nverify.yml\n\ntasks:\nmain.yml\n\ntemplates:\nnode_exporter.service.j2"),
        read("roles/node_exporter/tasks/main.yml", """---
- name: Install binary
  ansible.builtin.unarchive:
    src: "{{ node_exporter_url }}"
    dest: /usr/local/bin
    remote_src: true
    extra_opts: [--strip-components=1]
    creates: /usr/local/bin/node_exporter

- name: Create textfile directory
  ansible.builtin.command: install -d -o node-exp -g node-exp -m 0755 {{ node_exporter_textfile_dir }}
  when: node_exporter_textfile_dir | length > 0

- name: Install unit
  ansible.builtin.template:
    src: node_exporter.service.j2
    dest: /etc/systemd/system/node_exporter.service
    mode: "0644"
  notify: Restart node_exporter
"""),
        says("`command` reports changed on each run. The file module does the same and knows the state."),
        edit("roles/node_exporter/tasks/main.yml", "  ansible.builtin.command: install -d -o node-exp -g node-exp -m 0755 {{ node_exporter_textfile_dir }}\n", "  ansible.builtin.file:\n    path: \"{{ node_exporter_textfile_dir }}\"\n    state: directory\n    owner: node-exp\n    group: node-exp\n    mode: \"0755\"\n"),
        bash("cd roles/node_exporter && ansible-lint . && molecule test", """
Passed: 0 failure(s), 0 warning(s) on 9 files. Last profile that met the validation criteria was 'production'.
INFO     default scenario test matrix: dependency, cleanup, destroy, syntax, create, prepare, converge, idempotence, side_effect, verify, cleanup, destroy
INFO     Performing prerun with role_name_check=0...
INFO     Running default > syntax

playbook: /srv/project/roles/node_exporter/molecule/default/converge.yml
INFO     Running default > converge

PLAY RECAP *********************************************************************
instance                   : ok=5    changed=4    unreachable=0    failed=0    skipped=0    rescued=0    ignored=0

INFO     Running default > idempotence

PLAY RECAP *********************************************************************
instance                   : ok=4    changed=0    unreachable=0    failed=0    skipped=0    rescued=0    ignored=0

INFO     Idempotence completed successfully.
INFO     Running default > verify
INFO     Running Ansible Verifier

PLAY RECAP *********************************************************************
instance                   : ok=4    changed=0    unreachable=0    failed=0    skipped=0    rescued=0    ignored=0

INFO     Verifier completed successfully.
INFO     Running default > destroy

PLAY RECAP *********************************************************************
localhost                  : ok=3    changed=2    unreachable=0    failed=0    skipped=0    rescued=0    ignored=0

INFO     Pruning extra files from scenario ephemeral directory"""),
        read("roles/node_exporter/README.md", "# node_exporter\n\n`node_exporter_textfile_dir`: direcotry for the textfile collector, created when set.\n"),
        edit("roles/node_exporter/README.md", "direcotry", "directory"),
        assistant("The cause was a81f0d3: it makes the textfile directory with `command: install -d`, which counts as changed every time. The task uses `ansible.builtin.file` now. `molecule test` runs through: the idempotence run has changed=0 and verify succeeds, and ansible-lint finds nothing. While reading the README I corrected one typo in it."),
    ),
)

notebook = Session(
    name="r3d_cuaderno_ventas_febrero",
    about="A notebook is executed with new data and the user's question answered, in Spanish.",
    type="simple",
    steps=(
        user("ejecuta analisis/ventas.ipynb con los datos de febrero (datos/2026-02.csv), guarda el resultado como analisis/ventas_2026-02.ipynb y dime qué tres tiendas cayeron más respecto a enero"),
        bash("""python - <<'PY'
import json
nb = json.load(open('analisis/ventas.ipynb'))
for n, c in enumerate(nb['cells']):
    print(n, c['cell_type'], c['metadata'].get('tags', ''), ''.join(c['source'])[:150].replace('\\n', ' / '))
PY""", "0 markdown  # Ventas por tienda\n1 code ['parameters'] MES = '2026-01' / ANTERIOR = '2025-12'\n2 code  import pandas as pd / actual = pd.read_csv(f'../datos/{MES}.csv', sep=';', decimal=',') / previo = pd.read_csv(f'../datos/{ANTERIOR}.csv', sep='\n3 code  var = (actual.groupby('tienda').importe.sum() / previo.groupby('tienda').importe.sum() - 1).sort_values() / var.to_csv(f'../salida/variacion_{MES}.cs\n4 code  var.head(10).plot.barh()"),
        bash("papermill --cwd analisis analisis/ventas.ipynb analisis/ventas_2026-02.ipynb -p MES 2026-02 -p ANTERIOR 2026-01", """Input Notebook:  analisis/ventas.ipynb
Output Notebook: analisis/ventas_2026-02.ipynb
Working directory: analisis
Executing:   0%|          | 0/5 [00:00<?, ?cell/s]Executing notebook with kernel: python3
Executing: 100%|██████████| 5/5 [00:04<00:00,  1.14cell/s]"""),
        bash("head -5 salida/variacion_2026-02.csv; cut -d';' -f1 datos/2026-01.csv | sort -u | wc -l; cut -d';' -f1 datos/2026-02.csv | sort -u | wc -l", "tienda,importe\nGijón Centro,-0.2314\nLugo,-0.1875\nVigo Puerto,-0.1522\nAvilés,-0.0408\n42\n42"),
        assistant("El cuaderno se ejecutó sin errores y está en `analisis/ventas_2026-02.ipynb`. Las tres tiendas que más cayeron de enero a febrero:\n\n1. Gijón Centro: −23,1 %\n2. Lugo: −18,8 %\n3. Vigo Puerto: −15,2 %\n\nLa siguiente, Avilés, cae solo un 4,1 %. Las mismas 41 tiendas aparecen en los dos meses, así que ninguna caída se debe a que falte una tienda. El cuaderno escribe además, como siempre, `salida/variacion_2026-02.csv`."),
    ),
)

postgres = Session(
    name="r3d_psql_unused_tables_question",
    about="A drop script is written and tried with rollback; whether to run it for real is the user's to say.",
    type="operations",
    steps=(
        user("Which tables in schema legacy has nobody read or written since the stats reset in November? Give me sizes, and write ops/drop_unused.sql that drops them in one transaction. Try it with ROLLBACK. Don't drop for real until I say so."),
        bash("""psql "$DB" -c "select stats_reset from pg_stat_database where datname = current_database()" -c "select relname, seq_scan + coalesce(idx_scan,0) as scans, n_tup_ins + n_tup_upd + n_tup_del as writes, pg_size_pretty(pg_total_relation_size(relid)) from pg_stat_user_tables where schemaname = 'legacy' order by 2, 1" """, """         stats_reset          
------------------------------
 2025-11-04 02:11:37.51+00
(1 row)

     relname      | scans | writes | pg_size_pretty 
------------------+-------+--------+----------------
 coupon_2019      |     0 |      0 | 812 MB
 export_queue     |     0 |      0 | 64 kB
 newsletter_log   |     0 |      0 | 9120 MB
 customer_map     |   188 |      0 | 41 MB
 invoice_archive  |  2204 |     31 | 18 GB
(5 rows)
"""),
        bash("""psql "$DB" -c "select conrelid::regclass, confrelid::regclass from pg_constraint where contype='f' and confrelid in ('legacy.coupon_2019'::regclass,'legacy.export_queue'::regclass,'legacy.newsletter_log'::regclass)" -c "select viewname from pg_views where definition ~ 'coupon_2019|export_queue|newsletter_log'" """, " conrelid | confrelid \n----------+-----------\n(0 rows)\n\n viewname \n----------\n(0 rows)\n"),
        write("ops/drop_unused.sql", "-- Tables of schema legacy without a scan or a write since 2025-11-04.\n-- psql -v ON_ERROR_STOP=1 -v finish=COMMIT -f ops/drop_unused.sql   (ROLLBACK to try)\nBEGIN;\nSET LOCAL lock_timeout = '5s';\nDROP TABLE legacy.coupon_2019;\nDROP TABLE legacy.export_queue;\nDROP TABLE legacy.newsletter_log;\n:finish;\n"),
        bash("""psql "$DB" -v ON_ERROR_STOP=1 -v finish=ROLLBACK -f ops/drop_unused.sql && psql "$DB" -Atc "select count(*) from pg_tables where schemaname='legacy'" """, "BEGIN\nSET\nDROP TABLE\nDROP TABLE\nDROP TABLE\nROLLBACK\n5"),
        assistant("""Three tables have had neither a scan nor a write since 2025-11-04:

| table | size |
|---|---|
| `legacy.newsletter_log` | 9120 MB |
| `legacy.coupon_2019` | 812 MB |
| `legacy.export_queue` | 64 kB |

No foreign key and no view refers to them. `ops/drop_unused.sql` drops the three in one transaction; with `finish=ROLLBACK` it went through and all five tables are still there.

Shall I run it with `finish=COMMIT` now?"""),
    ),
)

PRETTY = """module Query.Pretty (pretty) where

import Query.Syntax

pretty :: Expr -> String
pretty (Col c) = c
pretty (Lit n) = show n
pretty (And a b) = pretty a ++ " AND " ++ pretty b
pretty (Or a b) = pretty a ++ " OR " ++ pretty b
pretty (Not e) = "NOT " ++ pretty e
"""

haskell = Session(
    name="r3d_cabal_parentheses_compacted",
    about="After a compaction the rest of a Haskell task is done: parentheses in the printer and a round trip property.",
    type="development",
    branch="pretty-precedence",
    steps=(
        user("The pretty printer forgets parentheses, so `parse . pretty` is not the identity. Fix that, prove it with a QuickCheck property, note it in CHANGELOG.md and commit on this branch."),
        todos("> Reproduce", "- Fix pretty", "- Round trip property", "- CHANGELOG and commit"),
        read("src/Query/Pretty.hs", PRETTY),
        bash("cabal repl -v0 <<< 'either error pretty (parseExpr \"(a OR b) AND c\")'", '"a OR b AND c"'),
        todos("x Reproduce", "> Fix pretty", "- Round trip property", "- CHANGELOG and commit"),
        compacted("""1. Request: parentheses in `Query.Pretty.pretty` so that `parse . pretty` is the identity; a QuickCheck property; CHANGELOG.md; commit on branch pretty-precedence.
2. Found: `(a OR b) AND c` is printed as `a OR b AND c`. Parser: NOT > AND > OR, binary operators right associative (`makeExprParser` with InfixR).
3. Nothing is changed yet. Todo list: Reproduce done, Fix pretty in progress, the other two pending.
4. Tests: `cabal test`, tasty, test/Main.hs; `Arbitrary Expr` is already in test/Gen.hs."""),
        read("src/Query/Pretty.hs", PRETTY),
        write("src/Query/Pretty.hs", """module Query.Pretty (pretty) where

import Query.Syntax

-- | Prints with as few parentheses as the parser allows: NOT binds closest, then AND, then OR,
-- and the binary operators associate to the right.
pretty :: Expr -> String
pretty = go 0

go :: Int -> Expr -> String
go _ (Col c) = c
go _ (Lit n) = show n
go p (Or a b) = parens (p > 0) (go 1 a ++ " OR " ++ go 0 b)
go p (And a b) = parens (p > 1) (go 2 a ++ " AND " ++ go 1 b)
go _ (Not e) = "NOT " ++ go 2 e

parens :: Bool -> String -> String
parens True s = "(" ++ s ++ ")"
parens False s = s
"""),
        todos("x Reproduce", "x Fix pretty", "> Round trip property", "- CHANGELOG and commit"),
        read("test/Main.hs", """module Main (main) where

import Gen ()
import Query.Parser (parseExpr)
import Query.Pretty (pretty)
import Test.Tasty
import Test.Tasty.HUnit
import Test.Tasty.QuickCheck

main :: IO ()
main = defaultMain $ testGroup "query"
  [ testCase "column" $ fmap pretty (parseExpr "a") @?= Right "a"
  , testCase "and" $ fmap pretty (parseExpr "a AND b") @?= Right "a AND b"
  ]
"""),
        edit("test/Main.hs", '@?= Right "a AND b"\n', '@?= Right "a AND b"\n  , testCase "or below and" $ fmap pretty (parseExpr "(a OR b) AND c") @?= Right "(a OR b) AND c"\n  , testCase "no needless parentheses" $ fmap pretty (parseExpr "(a AND b) OR (c)") @?= Right "a AND b OR c"\n  , testProperty "parse . pretty = id" $ withMaxSuccess 2000 $ \\e -> parseExpr (pretty e) === Right e\n'),
        bash("cabal test --test-show-details=direct", """Build profile: -w ghc-9.6.6 -O1
In order, the following will be built (use -v for more details):
 - query-0.4.1 (lib) (file src/Query/Pretty.hs changed)
 - query-0.4.1 (test:spec) (first run)
Preprocessing library for query-0.4.1...
Building library for query-0.4.1...
[3 of 3] Compiling Query.Pretty     ( src/Query/Pretty.hs, dist-newstyle/build/Query/Pretty.o )
Preprocessing test suite 'spec' for query-0.4.1...
Building test suite 'spec' for query-0.4.1...
Running 1 test suites...
Test suite spec: RUNNING...
query
  column:                  OK
  and:                     OK
  or below and:            OK
  no needless parentheses: OK
  parse . pretty = id:     FAIL
    *** Failed! Falsified (after 4 tests and 1 shrink):
    Lit (-1)
    Left "1:1: unexpected '-'" /= Right (Lit (-1))
    Use --quickcheck-replay=(SMGen 9170384122207315613 11278319254216382051,3) to reproduce.

1 out of 5 tests failed (0.03s)
Test suite spec: FAIL
Test suite logged to: dist-newstyle/build/x86_64-linux/ghc-9.6.6/query-0.4.1/t/spec/test/query-0.4.1-spec.log
0 of 1 test suites (0 of 1 test cases) passed.
Error: [Cabal-7125]
Tests failed for test:spec from query-0.4.1.""", 1),
        says("That is another matter: the generator makes negative literals. Does the language have them?"),
        bash("grep -n -i 'literal\\|negative' docs/grammar.md src/Query/Syntax.hs src/Query/Parser.hs; cat test/Gen.hs", """docs/grammar.md:9:literal = digit , { digit } ;   (* there are no negative literals *)
src/Query/Syntax.hs:7:  | Lit Integer  -- ^ never negative
module Gen () where

import Query.Syntax
import Test.QuickCheck

instance Arbitrary Expr where
  arbitrary = sized expr
    where
      expr 0 = oneof [Col <$> elements ["a", "b", "c"], Lit <$> arbitrary]
      expr n = oneof [And <$> half <*> half, Or <$> half <*> half, Not <$> expr (n - 1), expr 0]
        where half = expr (n `div` 2)"""),
        says("Grammar and syntax tree both say that literals are never negative, so the generator makes trees that do not exist."),
        edit("test/Gen.hs", "Lit <$> arbitrary]", "Lit . getNonNegative <$> arbitrary]"),
        bash("cabal test --test-show-details=direct", """Build profile: -w ghc-9.6.6 -O1
Preprocessing test suite 'spec' for query-0.4.1...
Building test suite 'spec' for query-0.4.1...
[1 of 2] Compiling Gen              ( test/Gen.hs, dist-newstyle/build/Gen.o ) [Source file changed]
Running 1 test suites...
Test suite spec: RUNNING...
query
  column:                  OK
  and:                     OK
  or below and:            OK
  no needless parentheses: OK
  parse . pretty = id:     OK (0.09s)
    +++ OK, passed 2000 tests.

All 5 tests passed (0.09s)
Test suite spec: PASS
Test suite logged to: dist-newstyle/build/x86_64-linux/ghc-9.6.6/query-0.4.1/t/spec/test/query-0.4.1-spec.log
1 of 1 test suites (1 of 1 test cases) passed."""),
        todos("x Reproduce", "x Fix pretty", "x Round trip property", "> CHANGELOG and commit"),
        read("CHANGELOG.md", "# Changelog\n\n## Unreleased\n\n- `parseExpr` reports the column of an error.\n"),
        edit("CHANGELOG.md", "## Unreleased\n\n", "## Unreleased\n\n- `pretty` prints the parentheses that the parser needs.\n"),
        bash("git add -A && git commit -m 'pretty: print parentheses where precedence asks for them' && git status --short | wc -l", "[pretty-precedence 7d20c55] pretty: print parentheses where precedence asks for them\n 4 files changed, 22 insertions(+), 8 deletions(-)\n0"),
        todos("x Reproduce", "x Fix pretty", "x Round trip property", "x CHANGELOG and commit"),
        assistant("Done, commit 7d20c55 on `pretty-precedence`.\n\n- `pretty` knows the precedence of the operators and prints parentheses only where the parser needs them.\n- The property `parse . pretty = id` holds for 2000 expressions; two cases pin `(a OR b) AND c` and the absence of needless parentheses. All 5 tests pass.\n- The property first failed on `Lit (-1)`. The grammar has no negative literals, so I corrected the generator in `test/Gen.hs`, not the printer.\n- CHANGELOG.md has an entry."),
    ),
)

fortran = Session(
    name="r3d_fortran_user_forbids_running",
    about="A Fortran loop order is changed; the user compiles and runs on the cluster himself and forbade it here.",
    type="development",
    steps=(
        user("src/stencil.f90: inner loop runs over the slow index. Swap the loops so that memory access is contiguous. Do NOT compile or run anything, this is the login node and they kill processes here; I submit the job myself afterwards."),
        read("src/stencil.f90", """module stencil
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
contains
  subroutine smooth(a, b, n, m)
    integer, intent(in) :: n, m
    real(real64), intent(in) :: a(n, m)
    real(real64), intent(inout) :: b(n, m)
    integer :: i, j
    do i = 2, n - 1
      do j = 2, m - 1
        b(i, j) = 0.25_real64 * (a(i-1, j) + a(i+1, j) + a(i, j-1) + a(i, j+1))
      end do
    end do
  end subroutine smooth
end module stencil
"""),
        edit("src/stencil.f90", "    do i = 2, n - 1\n      do j = 2, m - 1\n", "    do j = 2, m - 1\n      do i = 2, n - 1\n"),
        assistant("In `smooth` the inner loop now runs over `i`, the first index, which lies contiguous in Fortran's column-major arrays. `b(i, j)` depends on `a` alone, so the order of the iterations does not change the result, not even in the last bit. I compiled and ran nothing, as you asked."),
    ),
)

kotlin = Session(
    name="r3d_kotlin_interrupted_scope_reduced",
    about="The user stops the agent and takes one of two wishes back; the other is finished.",
    type="development",
    steps=(
        user("In the cart module: 1) prices as BigDecimal instead of Double, 2) and move the whole module to kotlinx.serialization."),
        todos("> BigDecimal for prices", "- kotlinx.serialization"),
        read("cart/src/main/kotlin/cart/Line.kt", """package cart

import com.fasterxml.jackson.annotation.JsonProperty

data class Line(
    @JsonProperty("sku") val sku: String,
    @JsonProperty("qty") val quantity: Int,
    @JsonProperty("price") val price: Double,
) {
    val total: Double get() = quantity * price
}
"""),
        bash("grep -rn 'price\\|\\.total' cart/src --include=*.kt | grep -v Line.kt", "cart/src/main/kotlin/cart/Cart.kt:8:    val total get() = lines.sumOf { it.total }\ncart/src/test/kotlin/cart/CartTest.kt:12:        val cart = Cart(listOf(Line(\"a\", 3, 0.1)))\ncart/src/test/kotlin/cart/CartTest.kt:13:        assertEquals(0.30000000000000004, cart.total)"),
        says("First the prices; then I'll add the serialization plugin to the build."),
        interrupted_bash("./gradlew :cart:dependencies --configuration runtimeClasspath"),
        user("stop. leave jackson alone after all, the gateway team still needs the mixins. just the BigDecimal thing"),
        todos("> BigDecimal for prices"),
        multi_edit(
            "cart/src/main/kotlin/cart/Line.kt",
            ("import com.fasterxml.jackson.annotation.JsonProperty\n", "import com.fasterxml.jackson.annotation.JsonProperty\nimport java.math.BigDecimal\n"),
            ("val price: Double,", "val price: BigDecimal,"),
            ("val total: Double get() = quantity * price", "val total: BigDecimal get() = price * quantity.toBigDecimal()"),
        ),
        read("cart/src/test/kotlin/cart/CartTest.kt", """package cart

import com.fasterxml.jackson.module.kotlin.jacksonObjectMapper
import com.fasterxml.jackson.module.kotlin.readValue
import org.junit.jupiter.api.Test
import kotlin.test.assertEquals

class CartTest {
    @Test
    fun `adds up its lines`() {
        // Double, hence the odd sum
        val cart = Cart(listOf(Line("a", 3, 0.1)))
        assertEquals(0.30000000000000004, cart.total)
    }
}
"""),
        edit("cart/src/test/kotlin/cart/CartTest.kt", """        // Double, hence the odd sum
        val cart = Cart(listOf(Line("a", 3, 0.1)))
        assertEquals(0.30000000000000004, cart.total)
    }
""", """        val cart = Cart(listOf(Line("a", 3, "0.10".toBigDecimal()), Line("b", 1, "2.05".toBigDecimal())))
        assertEquals("2.35".toBigDecimal(), cart.total)
    }

    @Test
    fun `reads a price without rounding`() {
        val line = jacksonObjectMapper().readValue<Line>(\"\"\"{"sku":"a","qty":3,"price":0.10}\"\"\")
        assertEquals("0.10".toBigDecimal(), line.price)
    }
"""),
        bash("./gradlew :cart:test :cart:ktlintCheck", """> Task :cart:compileKotlin
> Task :cart:compileTestKotlin
> Task :cart:test

CartTest > adds up its lines() PASSED

CartTest > reads a price without rounding() PASSED

LineTest > refuses a negative quantity() PASSED

> Task :cart:ktlintCheck

BUILD SUCCESSFUL in 14s
9 actionable tasks: 7 executed, 2 up-to-date"""),
        bash("grep -rln 'cart\\.Line\\|project(\":cart\")' --include=*.kt --include=*.kts . | grep -v '^./cart/'", "./gateway/build.gradle.kts"),
        bash("./gradlew :gateway:test", "> Task :gateway:compileKotlin\n> Task :gateway:test\n\nBUILD SUCCESSFUL in 9s\n14 actionable tasks: 5 executed, 9 up-to-date"),
        todos("x BigDecimal for prices"),
        assistant("Prices in `cart` are `BigDecimal` now, in `Line` and in the totals; 3 × 0.10 + 2.05 is exactly 2.35. Jackson reads `0.10` without a detour over Double, which a new test pins. The tests of cart and of gateway, its only user, pass, and ktlint too. Jackson stays as it was; nothing of the serialization change was begun."),
    ),
)

godot = Session(
    name="r3d_godot_sprite_sheet_import",
    about="Game assets: frames are packed into a sheet and imported headless.",
    type="simple",
    steps=(
        user("Pack art/slime/frame_*.png into one sheet assets/slime.png, 4 columns, 32x32 each, nearest neighbour if anything has to be scaled, and make sure Godot imports it without filtering. Remaining space stays transparent."),
        bash("identify -format '%f %wx%h %[channels]\\n' art/slime/*.png", "frame_00.png 32x32 srgba\nframe_01.png 32x32 srgba\nframe_02.png 32x32 srgba\nframe_03.png 32x32 srgba\nframe_04.png 64x64 srgba\nframe_05.png 32x32 srgba"),
        bash("montage art/slime/frame_*.png -filter point -resize 32x32 -tile 4x -geometry 32x32+0+0 -background none PNG32:assets/slime.png && identify assets/slime.png && convert assets/slime.png -crop 64x32+64+32 +repage -format '%[fx:maxima.a]\\n' info:", "assets/slime.png PNG 128x64 128x64+0+0 8-bit sRGB 2301B 0.000u 0:00.000\n0"),
        bash("godot --headless --path . --import 2>&1 | grep -v '^$'; ls assets/slime.png.import; grep -n 'textures/canvas_textures/default_texture_filter' project.godot", "Godot Engine v4.3.stable.official.77dcf97d8 - https://godotengine.org\n[   0% ] first_scan_filesystem | Started Project initialization (5 steps)\n[   0% ] reimport | Started (Re)Importing Assets (1 steps)\n[   0% ] reimport | slime.png\n[ DONE ] reimport\nassets/slime.png.import", 1),
        says("In Godot 4 the filter belongs to the project or the node, not to the import, and the project does not set it."),
        bash("grep -n -A4 '^\\[rendering\\]' project.godot; grep -rn texture_filter scenes | head", "31:[rendering]\n32-renderer/rendering_method=\"gl_compatibility\"\nscenes/player.tscn:9:texture_filter = 1"),
        bash("sed -i '/^\\[rendering\\]$/a textures/canvas_textures/default_texture_filter=0' project.godot && sed -n 31,33p project.godot && godot --headless --path . --quit 2>&1 | grep -ciE 'error|warning'", "[rendering]\ntextures/canvas_textures/default_texture_filter=0\nrenderer/rendering_method=\"gl_compatibility\"\n0", 1),
        assistant("`assets/slime.png` is there: 128×64, six frames in four columns, the two remaining cells transparent. `frame_04.png` was 64×64 and has been scaled to 32×32 without smoothing.\n\nGodot imported the sheet. Version 4 keeps the filter out of the import settings, so I set the project's default to nearest (`default_texture_filter=0` in `project.godot`); the project opens without errors or warnings. Until now only the player set it on its node."),
    ),
)

pest = Session(
    name="r3d_pest_commentaires_de_revue",
    about="Two review comments of a pull request are answered in code, tested, pushed; the checks pass. In French.",
    type="development",
    branch="feat/remises",
    steps=(
        user("traite les commentaires de Camille sur la PR 212 et réponds-lui"),
        bash("gh api repos/{owner}/{repo}/pulls/212/comments --jq '.[] | \"\\(.id) \\(.path):\\(.line) \\(.user.login): \\(.body)\"'", "1903351 src/Remise.php:14 camille-r: Une remise de plus de 100 % donne un total négatif, non ?\n1903360 src/Remise.php:9 camille-r: Pourquoi un float ici ? On stocke des centimes partout ailleurs."),
        read("src/Remise.php", """<?php

declare(strict_types=1);

namespace Boutique;

final class Remise
{
    public function __construct(private float $pourcent) {}

    /** @return int centimes */
    public function appliquer(int $centimes): int
    {
        return (int) round($centimes * (1 - $this->pourcent / 100));
    }
}
"""),
        bash("grep -rn 'new Remise' src tests", "src/Panier.php:41:            $remise = new Remise((float) $code->pourcent);\ntests/RemiseTest.php:6:    expect((new Remise(10.0))->appliquer(1990))->toBe(1791);\n"),
        bash("grep -n 'pourcent' src/Code.php migrations/*.sql", "src/Code.php:11:        public readonly int $pourcent,\nmigrations/0007_codes.sql:4:    pourcent SMALLINT NOT NULL,"),
        multi_edit(
            "src/Remise.php",
            ("    public function __construct(private float $pourcent) {}\n", "    public function __construct(private int $pourcent)\n    {\n        if ($pourcent < 0 || $pourcent > 100) {\n            throw new \\DomainException(\"remise de $pourcent % : attendu entre 0 et 100\");\n        }\n    }\n"),
            ("(int) round($centimes * (1 - $this->pourcent / 100))", "$centimes - intdiv($centimes * $this->pourcent + 50, 100)"),
        ),
        edit("src/Panier.php", "new Remise((float) $code->pourcent)", "new Remise($code->pourcent)"),
        read("tests/RemiseTest.php", """<?php

use Boutique\\Remise;

it('retire le pourcentage', function () {
    expect((new Remise(10.0))->appliquer(1990))->toBe(1791);
});
"""),
        edit("tests/RemiseTest.php", """    expect((new Remise(10.0))->appliquer(1990))->toBe(1791);
});
""", """    expect((new Remise(10))->appliquer(1990))->toBe(1791);
});

it('rend gratuit à 100 %', function () {
    expect((new Remise(100))->appliquer(1990))->toBe(0);
});

it('refuse un pourcentage hors limites', function (int $pourcent) {
    new Remise($pourcent);
})->with([-1, 101])->throws(DomainException::class);
"""),
        bash("vendor/bin/pest && vendor/bin/phpstan analyse --no-progress", """
   PASS  Tests\\PanierTest
  ✓ it applique un code                                                   0.03s  
  ✓ it ignore un code expiré                                              0.01s  

   PASS  Tests\\RemiseTest
  ✓ it retire le pourcentage                                              0.01s  
  ✓ it rend gratuit à 100 %                                               0.01s  
  ✓ it refuse un pourcentage hors limites with (-1)                       0.01s  
  ✓ it refuse un pourcentage hors limites with (101)                      0.01s  

  Tests:    6 passed (8 assertions)
  Duration: 0.14s


 [OK] No errors                                                                 
"""),
        bash("git commit -qam 'Remise : pourcentage entier entre 0 et 100' && git push 2>&1 | tail -1 && for c in '1903351:Oui. Le constructeur refuse maintenant tout ce qui sort de 0..100, avec un test pour -1 et 101.' '1903360:Aucune raison : la colonne est un SMALLINT. C’est un int, et le calcul reste en centimes entiers.'; do gh api -X POST repos/{owner}/{repo}/pulls/212/comments/${c%%:*}/replies -f body=\"${c#*:}\" --jq .id; done", "   91cc0de..e04b7f1  feat/remises -> feat/remises\n1903512\n1903513"),
        bash("gh pr checks 212 --watch", "All checks were successful\n0 cancelled, 0 failing, 3 successful, 0 skipped, and 0 pending checks\n\n   NAME            DESCRIPTION  ELAPSED  URL\n✓  pest (8.3)                   41s      https://github.com/atelier/boutique/actions/runs/881/job/1\n✓  pest (8.4)                   44s      https://github.com/atelier/boutique/actions/runs/881/job/2\n✓  phpstan                      29s      https://github.com/atelier/boutique/actions/runs/881/job/3"),
        assistant("Les deux commentaires sont traités, poussés (e04b7f1) et ont leur réponse :\n\n- **Plus de 100 %** : le constructeur lève `DomainException` hors de 0..100.\n- **float** : le pourcentage est un `int` et le calcul se fait en centimes entiers.\n\nSix tests passent ici, et les trois contrôles de la PR 212 sont verts. Camille doit encore donner son approbation pour la fusion."),
    ),
)

SESSIONS = (ansible, notebook, postgres, haskell, fortran, kotlin, godot, pest)
INTENDED = {s.name: "good" for s in SESSIONS}
