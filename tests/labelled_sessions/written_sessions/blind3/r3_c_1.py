from written_sessions.vocabulary import *

scala_refund = Session(
    name="r3c_scala_partial_refund_cents",
    about="A partial refund lost a cent; the split is made exact and the suite passes.",
    type="development",
    branch="fix/refund-cent",
    steps=(
        user("Order 88213 was refunded in three parts (33.33 each on 100.00) and the last cent never went back to the customer. Look at RefundCalculator and fix it so that the parts always add up to the total. Please add a test for it."),
        grep("class RefundCalculator|object RefundCalculator", "modules/payments/src/main/scala/shop/payments/RefundCalculator.scala:5:object RefundCalculator {"),
        read("modules/payments/src/main/scala/shop/payments/RefundCalculator.scala", '''package shop.payments

import scala.math.BigDecimal.RoundingMode

object RefundCalculator {

  /** Splits `total` into `parts` instalments with two decimals. */
  def split(total: BigDecimal, parts: Int): List[BigDecimal] = {
    require(parts > 0, s"parts must be positive, was $parts")
    val share = (total / parts).setScale(2, RoundingMode.HALF_UP)
    List.fill(parts)(share)
  }
}'''),
        read("modules/payments/src/test/scala/shop/payments/RefundCalculatorSpec.scala", '''package shop.payments

import org.scalatest.flatspec.AnyFlatSpec
import org.scalatest.matchers.should.Matchers

class RefundCalculatorSpec extends AnyFlatSpec with Matchers {

  "RefundCalculator" should "split evenly where that is possible" in {
    RefundCalculator.split(BigDecimal("90.00"), 3) shouldBe List.fill(3)(BigDecimal("30.00"))
  }

  it should "reject a count that is not positive" in {
    an[IllegalArgumentException] should be thrownBy RefundCalculator.split(BigDecimal(1), 0)
  }
}'''),
        says("HALF_UP applied to each share separately: 3 × 33.33 = 99.99, and with 2 parts of 0.01 it would even pay out too much. I write the failing test first."),
        edit("modules/payments/src/test/scala/shop/payments/RefundCalculatorSpec.scala", '''  it should "reject a count''', '''  it should "hand out every cent of the total" in {
    RefundCalculator.split(BigDecimal("100.00"), 3) shouldBe
      List("33.34", "33.33", "33.33").map(BigDecimal(_))
    RefundCalculator.split(BigDecimal("0.01"), 2) shouldBe List("0.01", "0.00").map(BigDecimal(_))
    for (parts <- 1 to 12)
      RefundCalculator.split(BigDecimal("71.47"), parts).sum shouldBe BigDecimal("71.47")
  }

  it should "reject a count'''),
        bash('sbt "payments/testOnly *RefundCalculatorSpec"', '''
[info] welcome to sbt 1.9.9 (Eclipse Adoptium Java 17.0.10)
[info] loading project definition from /srv/project/project
[info] loading settings for project root from build.sbt ...
[info] set current project to shop (in build file:/srv/project/)
[info] compiling 1 Scala source to /srv/project/modules/payments/target/scala-2.13/test-classes ...
[info] RefundCalculatorSpec:
[info] RefundCalculator
[info] - should split evenly where that is possible
[info] - should hand out every cent of the total *** FAILED ***
[info]   List(33.33, 33.33, 33.33) was not equal to List(33.34, 33.33, 33.33) (RefundCalculatorSpec.scala:13)
[info] - should reject a count that is not positive
[info] Run completed in 388 milliseconds.
[info] Total number of tests run: 3
[info] Suites: completed 1, aborted 0
[info] Tests: succeeded 2, failed 1, canceled 0, ignored 0, pending 0
[info] *** 1 TEST FAILED ***
[error] Failed tests:
[error] 	shop.payments.RefundCalculatorSpec
[error] (payments / Test / testOnly) sbt.TestsFailedException: Tests unsuccessful
[error] Total time: 9 s, completed Mar 2, 2026, 10:01:22 AM''', 1),
        edit("modules/payments/src/main/scala/shop/payments/RefundCalculator.scala", '''  /** Splits `total` into `parts` instalments with two decimals. */
  def split(total: BigDecimal, parts: Int): List[BigDecimal] = {
    require(parts > 0, s"parts must be positive, was $parts")
    val share = (total / parts).setScale(2, RoundingMode.HALF_UP)
    List.fill(parts)(share)
  }''', '''  /** Splits `total` into `parts` instalments with two decimals whose sum is `total`.
    *
    * Cents that cannot be shared evenly go to the first instalments.
    */
  def split(total: BigDecimal, parts: Int): List[BigDecimal] = {
    require(parts > 0, s"parts must be positive, was $parts")
    val cents = (total * 100).setScale(0, RoundingMode.UNNECESSARY).toBigInt
    val (share, left) = cents /% parts
    List.tabulate(parts)(i => BigDecimal(if (i < left) share + 1 else share, 2))
  }'''),
        bash("sbt payments/test", '''
[info] welcome to sbt 1.9.9 (Eclipse Adoptium Java 17.0.10)
[info] loading project definition from /srv/project/project
[info] loading settings for project root from build.sbt ...
[info] set current project to shop (in build file:/srv/project/)
[info] compiling 1 Scala source to /srv/project/modules/payments/target/scala-2.13/classes ...
[info] LedgerSpec:
[info] Ledger
[info] - should book a refund once
[info] - should refuse a refund above the captured amount
[info] RefundCalculatorSpec:
[info] RefundCalculator
[info] - should split evenly where that is possible
[info] - should hand out every cent of the total
[info] - should reject a count that is not positive
[info] Run completed in 641 milliseconds.
[info] Total number of tests run: 5
[info] Suites: completed 2, aborted 0
[info] Tests: succeeded 5, failed 0, canceled 0, ignored 0, pending 0
[info] All tests passed.
[success] Total time: 11 s, completed Mar 2, 2026, 10:02:47 AM'''),
        assistant('''The missing cent came from rounding each instalment on its own. `split` now works in whole cents and gives the cents that do not divide evenly to the first instalments, so 100.00 / 3 becomes 33.34 + 33.33 + 33.33.

The new test also checks 0.01 in two parts and that 1 to 12 parts of 71.47 add up. All 5 tests of `payments` pass.

A total with more than two decimals now throws an ArithmeticException instead of being rounded silently; callers pass amounts with two decimals only.'''),
    ),
)

elixir_review = Session(
    name="r3c_elixir_handle_changeset_review",
    about="Two review comments on an open pull request are handled, answered, and the checks are green.",
    type="development",
    branch="feature/handles",
    steps=(
        user("PR #41 got two comments from Ines. Please deal with both, answer her, and push. `mix precommit` has to be clean before you push."),
        bash("gh api repos/{owner}/{repo}/pulls/41/comments --jq '.[] | {id, path, line, user: .user.login, body}'", '''
{"body":"This lets through \\"Ana\\" and \\"ana\\" as two different handles. Can we compare case-insensitively?","id":1904410021,"line":18,"path":"lib/plaza/accounts/profile.ex","user":"ines-m"}
{"body":"Why 40? The column is varchar(30).","id":1904412877,"line":17,"path":"lib/plaza/accounts/profile.ex","user":"ines-m"}'''),
        read("lib/plaza/accounts/profile.ex", '''defmodule Plaza.Accounts.Profile do
  use Ecto.Schema
  import Ecto.Changeset

  schema "profiles" do
    field :handle, :string
    field :bio, :string
    timestamps()
  end

  @doc false
  def changeset(profile, attrs) do
    profile
    |> cast(attrs, [:handle, :bio])
    |> validate_required([:handle])
    |> validate_format(:handle, ~r/^[A-Za-z0-9_]+$/)
    |> validate_length(:handle, max: 40)
    |> unique_constraint(:handle)
  end
end'''),
        bash("ls priv/repo/migrations && cat priv/repo/migrations/20260226101500_create_profiles.exs && cat test/plaza/accounts/profile_test.exs", '''
20260226101500_create_profiles.exs
defmodule Plaza.Repo.Migrations.CreateProfiles do
  use Ecto.Migration

  def change do
    create table(:profiles) do
      add :handle, :string, size: 30, null: false
      add :bio, :text
      timestamps()
    end

    create unique_index(:profiles, [:handle])
  end
end
defmodule Plaza.Accounts.ProfileTest do
  use Plaza.DataCase, async: true
  alias Plaza.Accounts.Profile

  test "a handle has letters, digits and underscores" do
    refute Profile.changeset(%Profile{}, %{handle: "a b"}).valid?
    assert Profile.changeset(%Profile{}, %{handle: "a_b1"}).valid?
  end
end'''),
        says("She is right on both. The migration is not merged yet (it is part of this PR), so I can change the index there."),
        edit("lib/plaza/accounts/profile.ex", '''    |> validate_length(:handle, max: 40)
    |> unique_constraint(:handle)''', '''    |> validate_length(:handle, max: 30)
    |> unique_constraint(:handle, name: :profiles_lower_handle_index)'''),
        edit("priv/repo/migrations/20260226101500_create_profiles.exs", "    create unique_index(:profiles, [:handle])", '    create unique_index(:profiles, ["lower(handle)"], name: :profiles_lower_handle_index)'),
        edit("test/plaza/accounts/profile_test.exs", '''    assert Profile.changeset(%Profile{}, %{handle: "a_b1"}).valid?
  end''', '''    assert Profile.changeset(%Profile{}, %{handle: "a_b1"}).valid?
  end

  test "a handle fits the column" do
    assert Profile.changeset(%Profile{}, %{handle: String.duplicate("a", 30)}).valid?
    refute Profile.changeset(%Profile{}, %{handle: String.duplicate("a", 31)}).valid?
  end

  test "handles that differ in case only are taken" do
    Repo.insert!(Profile.changeset(%Profile{}, %{handle: "Ana"}))
    assert {:error, changeset} = Repo.insert(Profile.changeset(%Profile{}, %{handle: "ana"}))
    assert %{handle: ["has already been taken"]} = errors_on(changeset)
  end'''),
        bash("MIX_ENV=test mix ecto.reset --quiet && mix precommit", '''
Compiling 1 file (.ex)
Generated plaza app
** (Mix) mix format failed due to --check-formatted.
The following files are not formatted:

  * priv/repo/migrations/20260226101500_create_profiles.exs''', 1),
        bash("mix format && git diff --stat && mix precommit", '''
 lib/plaza/accounts/profile.ex                           |  4 ++--
 priv/repo/migrations/20260226101500_create_profiles.exs |  3 ++-
 test/plaza/accounts/profile_test.exs                    | 11 +++++++++++
 3 files changed, 15 insertions(+), 3 deletions(-)
Checking 48 source files (this might take a while) ...

Please report incorrect results: https://github.com/rrrene/credo/issues

Analysis took 0.6 seconds (0.05s to load, 0.5s running 55 checks on 48 files)
211 mods/funs, found no issues.

Running ExUnit with seed: 402118, max_cases: 16

..............................................................
Finished in 1.4 seconds (0.9s async, 0.5s sync)
62 tests, 0 failures'''),
        bash('git commit -qam "Compare handles without case, limit them to the column" && git push 2>&1 && git log --oneline -1', '''
To github.com:plaza/plaza.git
   1f02c7d..b7710ea  feature/handles -> feature/handles
b7710ea Compare handles without case, limit them to the column'''),
        bash('''gh api repos/{owner}/{repo}/pulls/41/comments/1904410021/replies -f body='Done in b7710ea: the unique index is on lower(handle) now, with a test for "Ana" / "ana".' --jq .id
gh api repos/{owner}/{repo}/pulls/41/comments/1904412877/replies -f body='My mistake, it is 30 in b7710ea, and a test holds both sides of the limit.' --jq .id''', '''
1904498310
1904498355'''),
        bash("gh pr checks 41 --watch", '''
All checks were successful
0 cancelled, 0 failing, 2 successful, 0 skipped, and 0 pending checks

   NAME              DESCRIPTION  ELAPSED  URL
✓  ci / precommit                 1m52s    https://github.com/plaza/plaza/actions/runs/8110242311/job/22163301
✓  ci / dialyzer                  2m31s    https://github.com/plaza/plaza/actions/runs/8110242311/job/22163302'''),
        assistant('''Both comments are handled in b7710ea and answered in the threads:

- Case: the unique index is on `lower(handle)`, so "Ana" and "ana" collide; the changeset names that index.
- Length: the limit is 30 now, as in the column.

`mix precommit` is clean (62 tests), and both checks on the PR are green. What is missing for the merge is Ines's approval.'''),
    ),
)

latex = Session(
    name="r3c_latex_undefined_references",
    about="Question marks in a thesis are traced to labels and a missing bib entry; the build is clean.",
    type="maintenance",
    steps=(
        user("thesis.pdf has ?? in chapter 3 and one [?] citation. can you repair those, I send it to the printer tonight"),
        bash("latexmk -pdf -interaction=nonstopmode thesis.tex > /tmp/build.txt 2>&1; grep -E 'LaTeX Warning|multiply' thesis.log", '''
LaTeX Warning: Reference `fig:spectrum' on page 31 undefined on input line 84.
LaTeX Warning: Reference `tab:samples' on page 33 undefined on input line 141.
LaTeX Warning: Citation `Okafor2019' on page 34 undefined on input line 152.
LaTeX Warning: There were undefined references.'''),
        bash(r"grep -n 'label{' chapters/03-measurements.tex; grep -n -i okafor literature.bib; sed -n '78,100p;136,153p' chapters/03-measurements.tex", r'''
12:\label{ch:measurements}
95:\label{fig:spectra}
163:\label{tab:sample}
212:@article{Okafor2018,
213-  author = {Okafor, Ngozi and Brandt, Lea},
The two peaks in Figure~\ref{fig:spectrum} are those of
the substrate.
\begin{figure}
  \centering
  \includegraphics[width=.8\textwidth]{spectra.pdf}
  \caption{Raman spectra of the three batches.}
\label{fig:spectra}
\end{figure}
Table~\ref{tab:samples} lists what was measured; the preparation
follows \cite{Okafor2019}.'''),
        bash("sed -n '208,226p' literature.bib; grep -rn 'Okafor20' chapters/", r'''
@article{Okafor2018,
  author  = {Okafor, Ngozi and Brandt, Lea},
  title   = {Annealing of thin sulphide films},
  journal = {Thin Films},
  volume  = {12},
  year    = {2019},
  doi     = {10.5555/tf.2019.0117},
}
chapters/01-introduction.tex:44:Okafor2018
chapters/03-measurements.tex:152:Okafor2019'''),
        says("The paper is the same (it appeared in 2019, only the key says 2018), and the introduction cites it by that key. So the citation in chapter 3 has to change, not the entry."),
        bash(r"sed -i 's/\\ref{fig:spectrum}/\\ref{fig:spectra}/; s/\\ref{tab:samples}/\\ref{tab:sample}/; s/\\cite{Okafor2019}/\\cite{Okafor2018}/' chapters/03-measurements.tex && git diff -U0 chapters/ | grep '^[+-]'", r'''
--- a/chapters/03-measurements.tex
+++ b/chapters/03-measurements.tex
-The two peaks in Figure~\ref{fig:spectrum} are those of
+The two peaks in Figure~\ref{fig:spectra} are those of
-Table~\ref{tab:samples} lists what was measured; the preparation
+Table~\ref{tab:sample} lists what was measured; the preparation
-follows \cite{Okafor2019}.
+follows \cite{Okafor2018}.'''),
        bash("latexmk -pdf -interaction=nonstopmode thesis.tex | grep -E 'Output written|up-to-date|Warning'; ! grep -n Warning thesis.log && ! pdftotext thesis.pdf - | grep -nE '\\?\\?|\\[\\?\\]'", '''
Output written on thesis.pdf (112 pages, 4180222 bytes).
Output written on thesis.pdf (112 pages, 4180371 bytes).
Latexmk: All targets (thesis.pdf) are up-to-date'''),
        assistant('''All three are resolved, and the build of thesis.pdf (112 pages) has no warning left; I also searched the text of the PDF for `??` and `[?]`: none.

- Figure: `fig:spectrum` → `fig:spectra`
- Table: `tab:samples` → `tab:sample`
- Citation: `Okafor2019` → `Okafor2018`. It is the same paper; its key says 2018 although it appeared in 2019, and it prints as 2019.'''),
    ),
)

ansible_de = Session(
    name="r3c_ansible_logrotate_german",
    about="A logrotate role is extended; syntax, lint and a dry run against staging agree.",
    type="operations",
    branch="logrotate-api",
    steps=(
        user("Auf den API-Hosts läuft /var/log/ledger voll. Ergänze bitte in der Rolle `logging` eine Rotation dafür: täglich, 14 Stück, komprimiert, copytruncate. Nur Trockenlauf gegen staging, ausrollen macht Jörg morgen im Wartungsfenster."),
        bash("ls -R roles/logging && cat roles/logging/tasks/main.yml roles/logging/defaults/main.yml", '''
roles/logging:
defaults  tasks  templates

roles/logging/defaults:
main.yml

roles/logging/tasks:
main.yml

roles/logging/templates:
logrotate.j2
---
- name: Install logrotate
  ansible.builtin.apt:
    name: logrotate
    state: present

- name: Write the rotation of each log
  ansible.builtin.template:
    src: logrotate.j2
    dest: "/etc/logrotate.d/{{ item.name }}"
    owner: root
    group: root
    mode: "0644"
  loop: "{{ logging_rotations }}"
  loop_control:
    label: "{{ item.name }}"
---
logging_rotations: []'''),
        read("roles/logging/templates/logrotate.j2", '''{{ item.path }} {
    {{ item.every | default('weekly') }}
    rotate {{ item.keep | default(4) }}
    missingok
    notifempty
{% if item.compress | default(false) %}
    compress
    delaycompress
{% endif %}
}'''),
        read("group_vars/api.yml", '''---
api_port: 8443
api_workers: 6'''),
        edit("roles/logging/templates/logrotate.j2", '''    delaycompress
{% endif %}''', '''    delaycompress
{% endif %}
{% if item.copytruncate | default(false) %}
    copytruncate
{% endif %}'''),
        edit("group_vars/api.yml", '''api_workers: 6''', '''api_workers: 6

logging_rotations:
  - name: ledger
    path: /var/log/ledger/*.log
    every: daily
    keep: 14
    compress: true
    copytruncate: true'''),
        bash("ansible-lint roles/logging group_vars/api.yml && ansible-playbook -i inventories/staging site.yml --syntax-check", '''
Passed: 0 failure(s), 0 warning(s) on 5 files. Last profile that met the validation criteria was 'production'.

playbook: site.yml'''),
        bash("ansible-playbook -i inventories/staging site.yml --tags logging --limit api --check --diff", '''
PLAY [api] *********************************************************************

TASK [Gathering Facts] *********************************************************
ok: [api-stg-1]
ok: [api-stg-2]

TASK [logging : Install logrotate] *********************************************
ok: [api-stg-1]
ok: [api-stg-2]

TASK [logging : Write the rotation of each log] ********************************
--- before
+++ after: /home/user/.ansible/tmp/ansible-local-40112/tmpq0x/logrotate.j2
@@ -0,0 +1,8 @@
+/var/log/ledger/*.log {
+    daily
+    rotate 14
+    missingok
+    notifempty
+    compress
+    delaycompress
+    copytruncate
+}
changed: [api-stg-1] => (item=ledger)
changed: [api-stg-2] => (item=ledger)

PLAY RECAP *********************************************************************
api-stg-1                  : ok=3    changed=1    unreachable=0    failed=0    skipped=0    rescued=0    ignored=0
api-stg-2                  : ok=3    changed=1    unreachable=0    failed=0    skipped=0    rescued=0    ignored=0'''),
        assistant('''Die Rotation für `/var/log/ledger/*.log` ist in der Rolle: täglich, 14 Stück, komprimiert, mit `copytruncate`. Die Vorlage kennt `copytruncate` jetzt als Schalter, die Werte stehen in `group_vars/api.yml`.

ansible-lint und Syntaxprüfung sind sauber. Der Trockenlauf gegen staging würde auf api-stg-1 und api-stg-2 genau die eine Datei `/etc/logrotate.d/ledger` anlegen, sonst nichts. Ausgerollt habe ich nichts; Jörg spielt es morgen mit `ansible-playbook -i inventories/production site.yml --tags logging --limit api` ein.'''),
    ),
)

flutter = Session(
    name="r3c_flutter_empty_cart_message",
    about="An empty cart shows a message and a button; widget tests and analysis pass, an offer at the end.",
    type="development",
    steps=(
        user("When the cart is empty the page is just white. Show \"Your cart is empty\" and a button \"Browse products\" that goes to /products. With a widget test please."),
        read("lib/cart/cart_page.dart", '''import 'package:flutter/material.dart';
import 'cart_model.dart';

class CartPage extends StatelessWidget {
  const CartPage({super.key, required this.cart});

  final CartModel cart;

  @override
  Widget build(BuildContext context) {
    return Scaffold(
      appBar: AppBar(title: const Text('Cart')),
      body: ListView(
        children: [
          for (final line in cart.lines)
            ListTile(title: Text(line.title), trailing: Text('${line.count}')),
        ],
      ),
    );
  }
}'''),
        bash("ls test/cart lib/cart; cat test/cart/cart_page_test.dart; grep -n \"'/\" lib/main.dart", '''
lib/cart:
cart_model.dart
cart_page.dart

test/cart:
cart_page_test.dart
import 'package:flutter/material.dart';
import 'package:flutter_test/flutter_test.dart';
import 'package:shop/cart/cart_model.dart';
import 'package:shop/cart/cart_page.dart';

void main() {
  testWidgets('lists each line', (tester) async {
    final cart = CartModel([CartLine('Tea', 2), CartLine('Cup', 1)]);
    await tester.pumpWidget(MaterialApp(home: CartPage(cart: cart)));
    expect(find.byType(ListTile), findsNWidgets(2));
  });
}
21:        '/': (_) => const HomePage(),
22:        '/products': (_) => const ProductsPage(),
23:        '/cart': (_) => CartPage(cart: cart),'''),
        multi_edit("lib/cart/cart_page.dart", ('''      body: ListView(
        children: [
          for (final line in cart.lines)
            ListTile(title: Text(line.title), trailing: Text('${line.count}')),
        ],
      ),
    );
  }
}''', '''      body: cart.lines.isEmpty
          ? const _EmptyCart()
          : ListView(
              children: [
                for (final line in cart.lines)
                  ListTile(
                    title: Text(line.title),
                    trailing: Text('${line.count}'),
                  ),
              ],
            ),
    );
  }
}

class _EmptyCart extends StatelessWidget {
  const _EmptyCart();

  @override
  Widget build(BuildContext context) {
    return Center(
      child: Column(
        mainAxisSize: MainAxisSize.min,
        children: [
          const Text('Your cart is empty'),
          const SizedBox(height: 16),
          FilledButton(
            onPressed: () => Navigator.of(context).pushNamed('/products'),
            child: const Text('Browse products'),
          ),
        ],
      ),
    );
  }
}''')),
        edit("test/cart/cart_page_test.dart", '''    expect(find.byType(ListTile), findsNWidgets(2));
  });''', '''    expect(find.byType(ListTile), findsNWidgets(2));
    expect(find.text('Your cart is empty'), findsNothing);
  });

  testWidgets('an empty cart leads to the products', (tester) async {
    await tester.pumpWidget(MaterialApp(
      home: CartPage(cart: CartModel([])),
      routes: {'/products': (_) => const Text('all products')},
    ));
    expect(find.text('Your cart is empty'), findsOneWidget);

    await tester.tap(find.text('Browse products'));
    await tester.pumpAndSettle();
    expect(find.text('all products'), findsOneWidget);
  });'''),
        bash("dart format lib test && flutter analyze && flutter test", '''
Formatted 31 files (0 changed) in 0.44 seconds.
Analyzing shop...
No issues found! (ran in 3.1s)
00:01 +0: loading /srv/project/test/cart/cart_page_test.dart
00:03 +0: /srv/project/test/cart/cart_page_test.dart: lists each line
00:03 +1: /srv/project/test/cart/cart_page_test.dart: an empty cart leads to the products
00:04 +2: /srv/project/test/home_test.dart: shows the three newest products
00:04 +9: All tests passed!'''),
        assistant('''An empty cart now shows "Your cart is empty" with a "Browse products" button that opens `/products`. The new widget test taps the button and checks where it leads; all 9 tests pass and `flutter analyze` has no issues.

If you like, I can put both texts into the ARB files once you start translating; the app has none so far.'''),
    ),
)

kotlin = Session(
    name="r3c_kotlin_rate_limit_remaining",
    about="An interface gets an abstract member with two implementations; 'remaining' is only a header here.",
    type="development",
    steps=(
        user("Our API should send X-RateLimit-Remaining on every response. Both limiters (in-memory and Redis) need to tell how many calls remain."),
        bash("find gateway -name '*Limit*'; cat gateway/src/main/kotlin/io/gate/limit/RateLimiter.kt gateway/src/main/kotlin/io/gate/limit/RateLimitFilter.kt", '''
gateway/src/main/kotlin/io/gate/limit/RateLimiter.kt
gateway/src/main/kotlin/io/gate/limit/RateLimitFilter.kt
gateway/src/test/kotlin/io/gate/limit/RateLimiterTest.kt
gateway/src/test/kotlin/io/gate/limit/RateLimitFilterTest.kt
package io.gate.limit

import io.gate.redis.RedisCounter

interface RateLimiter {
    /** Takes one call of `key`; false if it has none left in this window. */
    fun tryAcquire(key: String): Boolean
}

class InMemoryLimiter(private val limit: Int, private val clock: () -> Long) : RateLimiter {
    private var window = -1L
    private val used = HashMap<String, Int>()

    @Synchronized
    override fun tryAcquire(key: String): Boolean {
        roll()
        val n = used.merge(key, 1, Int::plus)!!
        return n <= limit
    }

    private fun roll() {
        val now = clock() / 60_000
        if (now != window) { window = now; used.clear() }
    }
}

class RedisLimiter(private val limit: Int, private val redis: RedisCounter) : RateLimiter {
    override fun tryAcquire(key: String): Boolean = redis.increment(key, ttlSeconds = 60) <= limit
}
package io.gate.limit

class RateLimitFilter(private val limiter: RateLimiter) : Filter {
    override fun handle(request: Request, next: (Request) -> Response): Response {
        if (!limiter.tryAcquire(request.apiKey)) return Response(429)
        return next(request)
    }
}'''),
        read("gateway/src/main/kotlin/io/gate/limit/RateLimiter.kt", '''package io.gate.limit

import io.gate.redis.RedisCounter

interface RateLimiter {
    /** Takes one call of `key`; false if it has none left in this window. */
    fun tryAcquire(key: String): Boolean
}

class InMemoryLimiter(private val limit: Int, private val clock: () -> Long) : RateLimiter {
    private var window = -1L
    private val used = HashMap<String, Int>()

    @Synchronized
    override fun tryAcquire(key: String): Boolean {
        roll()
        val n = used.merge(key, 1, Int::plus)!!
        return n <= limit
    }

    private fun roll() {
        val now = clock() / 60_000
        if (now != window) { window = now; used.clear() }
    }
}

class RedisLimiter(private val limit: Int, private val redis: RedisCounter) : RateLimiter {
    override fun tryAcquire(key: String): Boolean = redis.increment(key, ttlSeconds = 60) <= limit
}'''),
        bash("cat gateway/src/test/kotlin/io/gate/limit/*.kt gateway/src/main/kotlin/io/gate/redis/RedisCounter.kt", '''
class RateLimitFilterTest {
    private val filter = RateLimitFilter(InMemoryLimiter(limit = 2) { 0L })

    @Test fun `the third call is refused`() {
        repeat(2) { assertEquals(200, filter.handle(get("k")) { Response(200) }.status) }
        assertEquals(429, filter.handle(get("k")) { Response(200) }.status)
    }
}
class RateLimiterTest {
    @Test fun `a new window starts from nothing`() {
        var now = 0L
        val limiter = InMemoryLimiter(limit = 1) { now }
        assertTrue(limiter.tryAcquire("k"))
        assertFalse(limiter.tryAcquire("k"))
        now = 60_000L
        assertTrue(limiter.tryAcquire("k"))
    }
}
interface RedisCounter {
    fun increment(key: String, ttlSeconds: Int): Long
    fun current(key: String): Long
}'''),
        says("`RedisCounter.current` is there already, so both can answer without another write."),
        multi_edit("gateway/src/main/kotlin/io/gate/limit/RateLimiter.kt",
            ('''    fun tryAcquire(key: String): Boolean
}''', '''    fun tryAcquire(key: String): Boolean

    /** How many calls `key` has left in this window, never below zero. */
    fun remaining(key: String): Int
}'''),
            ('''        return n <= limit
    }
''', '''        return n <= limit
    }

    @Synchronized
    override fun remaining(key: String): Int {
        roll()
        return (limit - (used[key] ?: 0)).coerceAtLeast(0)
    }
'''),
            ('''redis.increment(key, ttlSeconds = 60) <= limit
}''', '''redis.increment(key, ttlSeconds = 60) <= limit

    override fun remaining(key: String): Int = (limit - redis.current(key)).coerceAtLeast(0).toInt()
}''')),
        edit("gateway/src/main/kotlin/io/gate/limit/RateLimitFilter.kt", '''        if (!limiter.tryAcquire(request.apiKey)) return Response(429)
        return next(request)''', '''        val response = if (limiter.tryAcquire(request.apiKey)) next(request) else Response(429)
        return response.withHeader("X-RateLimit-Remaining", limiter.remaining(request.apiKey).toString())'''),
        edit("gateway/src/test/kotlin/io/gate/limit/RateLimitFilterTest.kt", '''        assertEquals(429, filter.handle(get("k")) { Response(200) }.status)
    }''', '''        assertEquals(429, filter.handle(get("k")) { Response(200) }.status)
    }

    @Test fun `every response says what is left`() {
        val told = List(3) { filter.handle(get("k")) { Response(200) }.header("X-RateLimit-Remaining") }
        assertEquals(listOf("1", "0", "0"), told)
    }

    @Test fun `redis counts down as well`() {
        val counter = FakeRedisCounter()
        val limiter = RedisLimiter(limit = 5, redis = counter)
        repeat(7) { limiter.tryAcquire("k") }
        assertEquals(0, limiter.remaining("k"))
        assertEquals(5, limiter.remaining("other"))
    }'''),
        bash("./gradlew :gateway:test", '''
> Task :gateway:compileKotlin
> Task :gateway:compileTestKotlin FAILED
e: file:///srv/project/gateway/src/test/kotlin/io/gate/limit/RateLimitFilterTest.kt:19:23 Unresolved reference: FakeRedisCounter

FAILURE: Build failed with an exception.

* What went wrong:
Execution failed for task ':gateway:compileTestKotlin'.
> Compilation error. See log for more details

BUILD FAILED in 14s
3 actionable tasks: 2 executed, 1 up-to-date''', 1),
        write("gateway/src/test/kotlin/io/gate/limit/FakeRedisCounter.kt", '''package io.gate.limit

import io.gate.redis.RedisCounter

class FakeRedisCounter : RedisCounter {
    private val counts = HashMap<String, Long>()

    override fun increment(key: String, ttlSeconds: Int): Long = counts.merge(key, 1L, Long::plus)!!

    override fun current(key: String): Long = counts[key] ?: 0L
}
'''),
        bash("./gradlew :gateway:test", '''
> Task :gateway:compileKotlin UP-TO-DATE
> Task :gateway:compileTestKotlin
> Task :gateway:testClasses
> Task :gateway:test

io.gate.limit.RateLimitFilterTest > the third call is refused() PASSED
io.gate.limit.RateLimitFilterTest > every response says what is left() PASSED
io.gate.limit.RateLimitFilterTest > redis counts down as well() PASSED
io.gate.limit.RateLimiterTest > a new window starts from nothing() PASSED
io.gate.routes.RouteTableTest > the longest prefix wins() PASSED

BUILD SUCCESSFUL in 17s
4 actionable tasks: 2 executed, 2 up-to-date'''),
        assistant('''Every response carries `X-RateLimit-Remaining` now, the 429 as well (with `0`).

`RateLimiter` got an abstract `remaining(key)`; `InMemoryLimiter` answers it from its window, `RedisLimiter` from `RedisCounter.current`, so no additional call is counted. The 5 tests of `:gateway` pass, two of them new.'''),
    ),
)

pyi = Session(
    name="r3c_pyi_stubs_for_c_extension",
    about="Type stubs for a C extension: bodies of three dots are what a stub file is.",
    type="development",
    steps=(
        user("mypy treats our C extension `fastgrid` as Any everywhere. Write fastgrid.pyi for it, complete, and make sure stubtest agrees."),
        bash("ls src/ && python -c 'import fastgrid; help(fastgrid)' | head -60", '''
fastgrid.cpython-312-x86_64-linux-gnu.so  gridtools
Help on module fastgrid:

NAME
    fastgrid

CLASSES
    builtins.object
        Grid

    class Grid(builtins.object)
     |  Grid(width, height, fill=0.0)
     |
     |  Methods defined here:
     |
     |  __getitem__(self, key, /)
     |      Return self[key].
     |
     |  __len__(self, /)
     |      Return len(self).
     |
     |  blur(self, radius, *, passes=1)
     |      Blurs in place and returns the greatest change.
     |
     |  rows(self, /)
     |      An iterator over the rows, each a tuple of floats.
     |
     |  width
     |  height

FUNCTIONS
    load(path, /)
        Reads a grid from a file.

DATA
    VERSION = '2.4.0\''''),
        write("src/fastgrid.pyi", '''from collections.abc import Iterator
from os import PathLike
from typing import Final, final

VERSION: Final[str]

@final
class Grid:
    def __new__(cls, width: int, height: int, fill: float = 0.0) -> Grid: ...
    @property
    def width(self) -> int: ...
    @property
    def height(self) -> int: ...
    def __getitem__(self, key: tuple[int, int], /) -> float: ...
    def __len__(self) -> int: ...
    def blur(self, radius: int, *, passes: int = 1) -> float: ...
    def rows(self) -> Iterator[tuple[float, ...]]: ...

def load(path: str | PathLike[str]) -> Grid: ...
'''),
        bash("MYPYPATH=src python -m mypy.stubtest fastgrid", '''
error: fastgrid.load is inconsistent, stub argument "path" should be positional-only (add "/", e.g. "path, /")
Stub: in file /srv/project/src/fastgrid.pyi:19
def (path: Union[builtins.str, os.PathLike[builtins.str]]) -> fastgrid.Grid
Runtime:
def (path, /)

Found 1 error (checked 1 module)''', 1),
        edit("src/fastgrid.pyi", "def load(path: str | PathLike[str]) -> Grid: ...", "def load(path: str | PathLike[str], /) -> Grid: ..."),
        bash("MYPYPATH=src python -m mypy.stubtest fastgrid && mypy src/gridtools && python -m pytest -q", '''
Success: no issues found in 1 module
src/gridtools/contour.py:41: error: Argument "passes" to "blur" of "Grid" has incompatible type "float"; expected "int"  [arg-type]
Found 1 error in 1 file (checked 9 source files)''', 1),
        says("The stub already pays off: contour.py passes `strength / 2`. Does the extension take a float there?"),
        bash("python - <<'EOF2'\nimport fastgrid\ng = fastgrid.Grid(3, 3)\nfor passes in (2, 2.0):\n    try:\n        print(passes, g.blur(1, passes=passes))\n    except Exception as e:\n        print(passes, type(e).__name__, e)\nEOF2\nsed -n 36,43p src/gridtools/contour.py; git grep -n 'smooth(' -- src tests", '''
2 0.0
2.0 TypeError 'float' object cannot be interpreted as an integer
def smooth(grid: Grid, strength: int = 2) -> float:
    """Blurs twice as strongly as it looks; `strength` has to be even."""
    return grid.blur(
        1,
        # one pass goes both ways
        passes=strength / 2,
    )

src/gridtools/contour.py:36:def smooth(grid: Grid, strength: int = 2) -> float:'''),
        says("So `smooth` has always raised. It is an integer division that was meant; nobody calls it, and mypy cannot be clean without it."),
        edit("src/gridtools/contour.py", "        passes=strength / 2,", "        passes=strength // 2,"),
        bash("MYPYPATH=src python -m mypy.stubtest fastgrid && mypy src/gridtools && python -m pytest -q && python -c 'import fastgrid; from gridtools.contour import smooth; print(smooth(fastgrid.Grid(4, 4, 1.0)))'", '''
Success: no issues found in 1 module
Success: no issues found in 9 source files
..................................                                       [100%]
34 passed in 0.81s
0.0'''),
        assistant('''`src/fastgrid.pyi` describes all of the extension: `Grid` with its properties and methods, `load` and `VERSION`. stubtest finds no difference to the compiled module, and mypy is clean over `gridtools`.

The types found one real bug, which I fixed since mypy fails otherwise: `contour.smooth` passed a float as `passes` and therefore raised a TypeError at every call; it divides with `//` now. 34 tests pass.'''),
    ),
)

pio = Session(
    name="r3c_platformio_battery_sensor_deep_sleep",
    about="Firmware: calibration formula fixed, native tests and build pass, a typo in the README afterwards.",
    type="development",
    steps=(
        user("battery_percent() in the sensor firmware reports 130 % on a fresh cell. Clamp to 0..100 and use 3.30 V as empty instead of 3.00 V, 4.20 V stays full. README mentions the voltages too."),
        bash("cat lib/battery/battery.cpp test/test_battery/test_battery.cpp platformio.ini; grep -n -i volt README.md", '''
#include "battery.h"

static const int kEmptyMv = 3000;
static const int kFullMv = 4200;

int battery_percent(int millivolt) {
    return (millivolt - kEmptyMv) * 100 / (kFullMv - kEmptyMv);
}
#include <unity.h>
#include "battery.h"

void setUp(void) {}
void tearDown(void) {}

void test_full_cell(void) { TEST_ASSERT_EQUAL_INT(100, battery_percent(4200)); }
void test_half_cell(void) { TEST_ASSERT_EQUAL_INT(50, battery_percent(3600)); }

int main(int, char **) {
    UNITY_BEGIN();
    RUN_TEST(test_full_cell);
    RUN_TEST(test_half_cell);
    return UNITY_END();
}
[env:esp32-c3]
platform = espressif32
board = esp32-c3-devkitm-1
framework = arduino

[env:native]
platform = native
31:The charge is linear between 3.00 V (0 %) and 4.20 V (100 %), voltages above that are an eror.'''),
        edit("lib/battery/battery.cpp", '''static const int kEmptyMv = 3000;
static const int kFullMv = 4200;

int battery_percent(int millivolt) {
    return (millivolt - kEmptyMv) * 100 / (kFullMv - kEmptyMv);
}''', '''static const int kEmptyMv = 3300;
static const int kFullMv = 4200;

int battery_percent(int millivolt) {
    if (millivolt <= kEmptyMv) return 0;
    if (millivolt >= kFullMv) return 100;
    return (millivolt - kEmptyMv) * 100 / (kFullMv - kEmptyMv);
}'''),
        edit("test/test_battery/test_battery.cpp", '''void test_half_cell(void) { TEST_ASSERT_EQUAL_INT(50, battery_percent(3600)); }

int main(int, char **) {
    UNITY_BEGIN();
    RUN_TEST(test_full_cell);
    RUN_TEST(test_half_cell);''', '''void test_half_cell(void) { TEST_ASSERT_EQUAL_INT(50, battery_percent(3750)); }
void test_empty_cell(void) { TEST_ASSERT_EQUAL_INT(0, battery_percent(3300)); }
void test_stays_in_range(void) {
    TEST_ASSERT_EQUAL_INT(0, battery_percent(2900));
    TEST_ASSERT_EQUAL_INT(100, battery_percent(4560));
}

int main(int, char **) {
    UNITY_BEGIN();
    RUN_TEST(test_full_cell);
    RUN_TEST(test_half_cell);
    RUN_TEST(test_empty_cell);
    RUN_TEST(test_stays_in_range);'''),
        bash("pio test -e native", '''
Verbosity level can be increased via `-v, -vv, or -vvv` option
Collected 1 tests

Processing test_battery in native environment
--------------------------------------------------------------------------------
Building...
Testing...
test/test_battery/test_battery.cpp:16: test_full_cell	[PASSED]
test/test_battery/test_battery.cpp:17: test_half_cell	[PASSED]
test/test_battery/test_battery.cpp:18: test_empty_cell	[PASSED]
test/test_battery/test_battery.cpp:19: test_stays_in_range	[PASSED]
------------- native:test_battery [PASSED] Took 1.12 seconds -------------

=================================== SUMMARY ===================================
Environment    Test          Status    Duration
-------------  ------------  --------  ------------
native         test_battery  PASSED    00:00:01.118
================== 4 test cases: 4 succeeded in 00:00:01.118 =================='''),
        bash("pio run -e esp32-c3", '''
Processing esp32-c3 (platform: espressif32; board: esp32-c3-devkitm-1; framework: arduino)
--------------------------------------------------------------------------------
Dependency Graph
|-- battery
Building in release mode
Compiling .pio/build/esp32-c3/lib1d4/battery/battery.cpp.o
Linking .pio/build/esp32-c3/firmware.elf
Checking size .pio/build/esp32-c3/firmware.elf
RAM:   [          ]   4.1% (used 13444 bytes from 327680 bytes)
Flash: [==        ]  18.9% (used 247102 bytes from 1310720 bytes)
Building .pio/build/esp32-c3/firmware.bin
Successfully created esp32c3 image.
========================= [SUCCESS] Took 9.87 seconds ========================='''),
        edit("README.md", "between 3.00 V (0 %) and 4.20 V (100 %), voltages above that are an eror.", "between 3.30 V (0 %) and 4.20 V (100 %); voltages outside count as 0 % and 100 %."),
        assistant('''`battery_percent()` is clamped to 0..100 and counts 3.30 V as empty. The half-charge test had to move to 3.75 V with the new range; cells below 2.9 V and the 4.56 V of your fresh cell are tested now.

Native tests: 4 of 4. The esp32-c3 image builds (247 kB flash). README line 31 says the new voltages. I have not flashed a device.'''),
    ),
)

SESSIONS = (scala_refund, elixir_review, latex, ansible_de, flutter, kotlin, pyi, pio)
INTENDED = {s.name: "good" for s in SESSIONS}
