from written_sessions.vocabulary import *

_PM = r'''package Journal;
use strict;
use warnings;
use Exporter 'import';
our @EXPORT_OK = qw(parse_line total);

sub parse_line {
    my ($line) = @_;
    return if $line =~ /^\s*(?:#|$)/;
    my ($date, $account, $amount) = $line =~ /^(\d{4}-\d\d-\d\d)\s+(\S+)\s+(-?\d+(?:\.\d\d)?)\s*$/
        or die "not a booking: $line\n";
    return { date => $date, account => $account, amount => $amount };
}

sub total {
    my ($account, @bookings) = @_;
    my $sum = 0;
    $sum += $_->{amount} for grep { $_->{account} eq $account } @bookings;
    return $sum;
}

1;
'''
_perl = Session(
    name="r4b_perl_cents_interrupted",
    about="Floats become cents; the user stops a wrong turn (Math::BigFloat) and names the way.",
    type="development",
    steps=(
        user("bin/balance prints 0.30000000000000004 for three dimes. Fix that in Journal.pm properly please, with a test"),
        read("lib/Journal.pm", _PM),
        read("t/journal.t", r'''use strict;
use warnings;
use Test::More;
use Journal qw(parse_line total);

is parse_line('# note'), undef, 'comments are skipped';
is parse_line("2026-02-01 cash -12.05\n")->{amount}, '-12.05', 'negative amounts';
is eval { parse_line('nonsense'); 1 }, undef, 'nonsense dies';
like $@, qr/^not a booking: nonsense/, 'and says so';
done_testing;
'''),
        edit("lib/Journal.pm", "use warnings;\nuse Exporter", "use warnings;\nuse Math::BigFloat;\nuse Exporter"),
        interrupted_bash("cpanm Math::BigFloat && prove -lv t"),
        user("no new dependency, and nothing slow, the journal has 2 million lines. integer cents."),
        edit("lib/Journal.pm", "use Math::BigFloat;\n", ""),
        grep(r"\{amount\}|total\(", "lib/Journal.pm:19:    $sum += $_->{amount} for grep { $_->{account} eq $account } @bookings;", "t/journal.t:7:is parse_line(\"2026-02-01 cash -12.05\\n\")->{amount}, '-12.05', 'negative amounts';", "bin/balance:11:print \"$account\\t\", total($account, @bookings), \"\\n\";"),
        multi_edit("lib/Journal.pm", ("amount => $amount };\n}\n", r'''cents => _cents($amount) };
}

sub _cents {
    my ($amount) = @_;
    my ($sign, $whole, $part) = $amount =~ /^(-?)(\d+)(?:\.(\d\d))?$/;
    return ($sign ? -1 : 1) * ($whole * 100 + ($part // 0));
}
'''), ("$_->{amount}", "$_->{cents}")),
        edit("bin/balance", 'print "$account\\t", total($account, @bookings), "\\n";', 'my $cents = total($account, @bookings);\nprintf "%s\\t%s%d.%02d\\n", $account, ($cents < 0 ? \'-\' : \'\'), int(abs($cents) / 100), abs($cents) % 100;'),
        multi_edit("t/journal.t", ("->{amount}, '-12.05', 'negative amounts';\n", r'''->{cents}, -1205, 'negative amounts';
is parse_line("2026-02-01 cash 7\n")->{cents}, 700, 'no decimals';
my @b = map { parse_line("2026-02-01 cash $_\n") } ('0.10') x 3;
is total('cash', @b), 30, 'three dimes';
'''),),
        bash("prove -lv t && printf '2026-02-01 cash 0.10\\n2026-02-01 cash 0.10\\n2026-02-01 cash 0.10\\n2026-02-02 bank -0.05\\n' | perl -Ilib bin/balance", '''t/journal.t .. 
ok 1 - comments are skipped
ok 2 - negative amounts
ok 3 - no decimals
ok 4 - three dimes
ok 5 - nonsense dies
ok 6 - and says so
1..6
ok
All tests successful.
Files=1, Tests=6,  0 wallclock secs ( 0.03 usr  0.00 sys +  0.05 cusr  0.01 csys =  0.09 CPU)
Result: PASS
bank	-0.05
cash	0.30'''),
        assistant("`parse_line` now keeps integer cents, `total` adds those, and `bin/balance` prints them with two decimals (also for small negative sums: `-0.05`). The Math::BigFloat line is out again, so there is no new dependency.\n\nThree dimes give 0.30; 6 tests pass, two of them new."),
    ),
)

_pwsh = Session(
    name="r4b_powershell_no_run_ja",
    about="Japanese: a script for production is changed, and the user forbids running anything.",
    type="maintenance",
    steps=(
        user("scripts/Remove-OldBackups.ps1 を直してください。30日より古いものだけ消すはずが、日付の比較が逆で新しいバックアップが消えます。-WhatIf も使えるようにしてください。この端末は本番サーバーにつながっているので、スクリプトもテストも一切実行しないでください。確認はこちらで行います。"),
        read("scripts/Remove-OldBackups.ps1", '''param(
    [Parameter(Mandatory)] [string] $Path,
    [int] $Days = 30
)

$limit = (Get-Date).AddDays(-$Days)
Get-ChildItem -Path $Path -Filter *.bak |
    Where-Object { $_.LastWriteTime -gt $limit } |
    Remove-Item -Force
'''),
        grep("Remove-OldBackups", "docs/backup.md:14:.\\scripts\\Remove-OldBackups.ps1 -Path D:\\Backup -Days 30"),
        write("scripts/Remove-OldBackups.ps1", '''[CmdletBinding(SupportsShouldProcess)]
param(
    [Parameter(Mandatory)] [string] $Path,
    [ValidateRange(1, 3650)] [int] $Days = 30
)

$limit = (Get-Date).AddDays(-$Days)
Get-ChildItem -Path $Path -Filter *.bak -File |
    Where-Object { $_.LastWriteTime -lt $limit } |
    ForEach-Object {
        if ($PSCmdlet.ShouldProcess($_.FullName, 'Remove-Item')) {
            Remove-Item -LiteralPath $_.FullName -Force
        }
    }
'''),
        edit("docs/backup.md", ".\\scripts\\Remove-OldBackups.ps1 -Path D:\\Backup -Days 30", ".\\scripts\\Remove-OldBackups.ps1 -Path D:\\Backup -Days 30 -WhatIf   # 削除対象の確認のみ\n.\\scripts\\Remove-OldBackups.ps1 -Path D:\\Backup -Days 30"),
        assistant("修正しました。\n\n- 比較を `-gt` から `-lt` に変え、`$Days` 日より古いファイルだけが削除対象になります。\n- `SupportsShouldProcess` を付けたので、`-WhatIf` と `-Confirm` が使えます。\n- `$Days` に 0 以下を渡すと全件が対象になり得たため、1 以上に制限しました。\n- `docs/backup.md` に `-WhatIf` の例を一行足しました。\n\nご指示どおり、何も実行していません。ご確認の際は、まず `-WhatIf` 付きで対象の一覧をご覧ください。"),
    ),
)

_molecule = Session(
    name="r4b_ansible_nginx_molecule",
    about="A role gets a size limit and HSTS; molecule runs in the background and ends well.",
    type="development",
    branch="role-nginx-hsts",
    steps=(
        user("roles/nginx: make client_max_body_size configurable (default 10m) and send HSTS on the TLS vhost. Extend verify.yml, run the full molecule scenario, and yamllint/ansible-lint have to stay clean."),
        bash("cat roles/nginx/defaults/main.yml roles/nginx/templates/vhost.conf.j2 roles/nginx/molecule/default/verify.yml; grep -n 'nginx_' roles/nginx/README.md", '''---
nginx_server_name: localhost
nginx_root: /var/www/html
server {
    listen 443 ssl;
    server_name {{ nginx_server_name }};
    ssl_certificate /etc/nginx/tls/{{ nginx_server_name }}.crt;
    ssl_certificate_key /etc/nginx/tls/{{ nginx_server_name }}.key;
    root {{ nginx_root }};
}
---
- name: Verify
  hosts: all
  gather_facts: false
  tasks:
    - name: The configuration is valid
      ansible.builtin.command: nginx -t
      changed_when: false
5:- `nginx_server_name` (`localhost`)
6:- `nginx_root` (`/var/www/html`)'''),
        edit("roles/nginx/defaults/main.yml", "nginx_root: /var/www/html", "nginx_root: /var/www/html\nnginx_client_max_body_size: 10m"),
        edit("roles/nginx/templates/vhost.conf.j2", "    root {{ nginx_root }};", '    root {{ nginx_root }};\n    client_max_body_size {{ nginx_client_max_body_size }};\n    add_header Strict-Transport-Security "max-age=31536000; includeSubDomains" always;'),
        edit("roles/nginx/molecule/default/verify.yml", "      ansible.builtin.command: nginx -t\n      changed_when: false", '''      ansible.builtin.command: nginx -t
      changed_when: false

    - name: Ask for a page
      ansible.builtin.uri:
        url: https://localhost/
        validate_certs: false
      register: page

    - name: HSTS is sent
      ansible.builtin.assert:
        that: page.strict_transport_security is match('max-age=31536000')

    - name: Too large a body is refused
      ansible.builtin.uri:
        url: https://localhost/
        method: POST
        body: "{{ 'x' * 11000000 }}"
        validate_certs: false
        status_code: 413'''),
        edit("roles/nginx/README.md", "- `nginx_root` (`/var/www/html`)", "- `nginx_root` (`/var/www/html`)\n- `nginx_client_max_body_size` (`10m`): largest request body; above it nginx answers 413"),
        bash("yamllint roles/nginx && ansible-lint roles/nginx", "\nPassed: 0 failure(s), 0 warning(s) on 11 files. Last profile that met the validation criteria was 'production'."),
        background("bk3m1", "cd roles/nginx && molecule test --no-color > /tmp/molecule.log 2>&1"),
        assistant("Lint is clean. The molecule scenario runs in the background (about four minutes with the image build); I'll look at its log as soon as it ends."),
        background_ended("bk3m1", "cd roles/nginx && molecule test --no-color > /tmp/molecule.log 2>&1", 0),
        bash("grep -nE 'Running|RECAP|ok=|failed=|Idempotence|Verifier' /tmp/molecule.log", '''1:INFO     default scenario test matrix: dependency, cleanup, destroy, syntax, create, prepare, converge, idempotence, side_effect, verify, cleanup, destroy
9:INFO     Running default > syntax
14:INFO     Running default > create
27:INFO     Running default > prepare
39:INFO     Running default > converge
71:PLAY RECAP *********************************************************************
72:debian12                   : ok=9    changed=6    unreachable=0    failed=0    skipped=0    rescued=0    ignored=0
74:INFO     Running default > idempotence
103:PLAY RECAP *********************************************************************
104:debian12                   : ok=8    changed=0    unreachable=0    failed=0    skipped=0    rescued=0    ignored=0
106:INFO     Idempotence completed successfully.
108:INFO     Running default > verify
127:PLAY RECAP *********************************************************************
128:debian12                   : ok=4    changed=0    unreachable=0    failed=0    skipped=0    rescued=0    ignored=0
130:INFO     Verifier completed successfully.
134:INFO     Running default > destroy'''),
        assistant("`nginx_client_max_body_size` (default `10m`) and the HSTS header are in the vhost template, the variable is listed in the role's README. The molecule scenario passed from create to destroy: idempotent, and verify now checks the header and a 413 for an 11 MB body. yamllint and ansible-lint are clean."),
    ),
)

_pg = Session(
    name="r4b_postgres_slow_inbox",
    about="Why a query became slow; measured, answered, nothing changed as asked.",
    type="investigation",
    steps=(
        user("The inbox query went from 20 ms to 4 s some time last week, see sql/inbox.sql. Why? Read-only please (replica on $REPLICA), I just want to understand it before we decide anything."),
        read("sql/inbox.sql", "select m.id, m.subject, m.sent_at\nfrom message m\nwhere m.account_id = :account\n  and not m.archived\norder by m.sent_at desc\nlimit 50;\n"),
        bash('psql "$REPLICA" -v account=1177 -c "explain (analyze, buffers) $(sed \'s/:account/1177/; s/;//\' sql/inbox.sql)"', '''                                                                        QUERY PLAN
----------------------------------------------------------------------------------------------------------------------------------------------------------
 Limit  (cost=0.56..1873.20 rows=50 width=61) (actual time=4102.117..4102.131 rows=11 loops=1)
   Buffers: shared hit=18210 read=611904
   ->  Index Scan Backward using message_sent_at_idx on message m  (cost=0.56..402115.71 rows=10736 width=61) (actual time=4102.115..4102.126 rows=11 loops=1)
         Filter: ((NOT archived) AND (account_id = 1177))
         Rows Removed by Filter: 6193022
         Buffers: shared hit=18210 read=611904
 Planning Time: 0.312 ms
 Execution Time: 4102.177 ms
(8 rows)
'''),
        bash('psql "$REPLICA" -c "\\d message" -c "select attname, n_distinct, most_common_vals::text::varchar(60), most_common_freqs[1:3] from pg_stats where tablename = \'message\' and attname in (\'account_id\',\'archived\')" -c "select count(*), count(*) filter (where not archived) from message where account_id = 1177" -c "select last_analyze, last_autoanalyze, n_mod_since_analyze, n_live_tup from pg_stat_all_tables where relname = \'message\'"', '''                          Table "public.message"
   Column   |           Type           | Collation | Nullable | Default
------------+--------------------------+-----------+----------+---------
 id         | bigint                   |           | not null |
 account_id | integer                  |           | not null |
 subject    | text                     |           | not null |
 sent_at    | timestamp with time zone |           | not null |
 archived   | boolean                  |           | not null | false
Indexes:
    "message_pkey" PRIMARY KEY, btree (id)
    "message_account_idx" btree (account_id)
    "message_sent_at_idx" btree (sent_at)

  attname   | n_distinct | most_common_vals | most_common_freqs
------------+------------+------------------+-------------------
 account_id |        412 | {1177,32,908}    | {0.0031,0.0029,0.0027}
 archived   |          2 | {f,t}            | {0.5581,0.4419}
(2 rows)

 count | count
-------+-------
 19207 |    11
(1 row)

 last_analyze | last_autoanalyze | n_mod_since_analyze | n_live_tup
--------------+------------------+---------------------+------------
              |                  |                   0 |    6204118
(1 row)
'''),
        says("The planner expects 10,736 open messages for this account; there are 11. The two conditions are not independent. What changed last week?"),
        bash("git log --since='3 weeks ago' --format='%h %ad %s' --date=short -- db sql jobs; cat jobs/archive_read.sql", '''c4410ae 2026-02-24 jobs: archive read messages after 14 days (accounts with auto_archive)
90aa7d1 2026-02-11 db: drop message_account_sent_idx (unused on staging)
update message set archived = true
where not archived and read_at < now() - interval '14 days'
  and account_id in (select id from account where auto_archive);'''),
        bash('psql "$REPLICA" -c "begin; set local enable_indexscan = on; set local random_page_cost = 1; explain (analyze) select m.id, m.subject, m.sent_at from message m where m.account_id + 0 = 1177 and m.account_id = 1177 and not m.archived order by m.sent_at + interval \'0\' desc limit 50; rollback" | grep -E "Scan|Execution|rows"; psql "$REPLICA" -Atc "select account_id, count(*) filter (where not archived) from message where account_id in (1177, 32, 55) group by 1"', '''   ->  Bitmap Heap Scan on message m  (cost=214.10..20871.44 rows=54 width=69) (actual time=3.101..19.480 rows=11 loops=1)
         ->  Bitmap Index Scan on message_account_idx  (cost=0.00..214.09 rows=19233 width=0) (actual time=1.992..1.993 rows=19207 loops=1)
 Execution Time: 19.611 ms
32|17650
55|9
1177|11'''),
        assistant("**Why it is slow.** Postgres walks `message_sent_at_idx` backwards and stops when it has 50 open messages of the account. It expects 10,736 of them and so an early stop. In truth account 1177 has 11, so it never reaches 50 and reads the whole table (6,193,022 rows thrown away, 4.1 s).\n\n**Why since last week.** Two changes together:\n1. 90aa7d1 (11 Feb) dropped `message_account_sent_idx`, the index made for this query. That alone did no harm while most accounts had thousands of open messages: 50 were found quickly.\n2. c4410ae (24 Feb) archives read messages of accounts with `auto_archive`. Those accounts now have a handful of open messages left (1177: 11; 55: 9), and for the planner `archived` and `account_id` are independent, so it still guesses 56 % of the account's rows.\n\nAccounts without auto-archive are not affected (32 has 17,650 open ones). Forced onto `message_account_idx`, the query takes 19.6 ms for 1177.\n\nWhat you could decide between: bringing the index back (fixes the cause for good), a partial index `where not archived` (smaller), or extended statistics on the two columns (helps the guess, only per value pair). I have changed nothing; all of this ran on the replica, in read-only queries."),
    ),
)

_dts = Session(
    name="r4b_dts_ambient_types",
    about="Type declarations for an untyped package: bodies are not expected there.",
    type="development",
    steps=(
        user("We import `tinyqueue-legacy` (plain JS, no types) with `// @ts-ignore` in three places. Write a declaration file for what it really exports and remove the ignores. `npm run typecheck` and `npm test` must pass."),
        bash("cat node_modules/tinyqueue-legacy/index.js; grep -rn -A1 '@ts-ignore' src; cat tsconfig.json; ls types 2>/dev/null", '''module.exports = TinyQueue;
function TinyQueue(items, compare) {
  if (!(this instanceof TinyQueue)) return new TinyQueue(items, compare);
  this.data = (items || []).slice();
  this.length = this.data.length;
  this.compare = compare || function (a, b) { return a < b ? -1 : a > b ? 1 : 0; };
  for (var i = (this.length >> 1) - 1; i >= 0; i--) this._down(i);
}
TinyQueue.prototype.push = function (item) { /* … */ };
TinyQueue.prototype.pop = function () { /* undefined when empty */ };
TinyQueue.prototype.peek = function () { return this.data[0]; };
TinyQueue.merge = function (a, b) { return new TinyQueue(a.data.concat(b.data), a.compare); };
src/route/dijkstra.ts:2:// @ts-ignore
src/route/dijkstra.ts-3-import TinyQueue from "tinyqueue-legacy";
src/jobs/scheduler.ts:5:// @ts-ignore
src/jobs/scheduler.ts-6-import TinyQueue from "tinyqueue-legacy";
src/jobs/merge.ts:1:// @ts-ignore
src/jobs/merge.ts-2-import TinyQueue from "tinyqueue-legacy";
{
  "compilerOptions": { "strict": true, "target": "ES2022", "module": "CommonJS", "esModuleInterop": true, "noEmit": true },
  "include": ["src", "types", "test"]
}'''),
        write("types/tinyqueue-legacy.d.ts", '''declare module "tinyqueue-legacy" {
  type Compare<T> = (a: T, b: T) => number;

  interface TinyQueue<T> {
    readonly data: readonly T[];
    readonly length: number;
    push(item: T): void;
    pop(): T | undefined;
    peek(): T | undefined;
  }

  interface TinyQueueConstructor {
    new <T>(items?: readonly T[], compare?: Compare<T>): TinyQueue<T>;
    <T>(items?: readonly T[], compare?: Compare<T>): TinyQueue<T>;
    merge<T>(a: TinyQueue<T>, b: TinyQueue<T>): TinyQueue<T>;
  }

  const TinyQueue: TinyQueueConstructor;
  export = TinyQueue;
}
'''),
        bash("sed -i '/@ts-ignore/d' src/route/dijkstra.ts src/jobs/scheduler.ts src/jobs/merge.ts && npm run typecheck", '''
> fleet@3.2.0 typecheck
> tsc --noEmit

src/jobs/scheduler.ts:31:21 - error TS18048: 'next' is possibly 'undefined'.

31     const wait = next.due - this.clock();
                       ~~~~


Found 1 error in src/jobs/scheduler.ts:31
'''.rstrip(), 2),
        read("src/jobs/scheduler.ts", '''import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../clock";
import type { Job } from "./job";

import TinyQueue from "tinyqueue-legacy";

export class Scheduler {
  private readonly queue = new TinyQueue<Job>([], (a, b) => a.due - b.due);
  private stopped = false;

  constructor(private readonly clock: Clock) {}

  add(job: Job): void {
    this.queue.push(job);
  }

  stop(): void {
    this.stopped = true;
  }

  async run(): Promise<void> {
    while (!this.stopped) {
      const next = this.queue.pop();
      const wait = next.due - this.clock();
      if (wait > 0) await sleep(wait);
      await next.work();
    }
  }
}
'''),
        says("A real bug that the ignore was hiding: an empty queue makes `run` throw. It should end when nothing is queued; the callers say whether that is right."),
        grep(r"\.run\(\)", "src/jobs/main.ts:14:  while (await refill(scheduler)) await scheduler.run();", "test/scheduler.test.ts:9:  await scheduler.run();"),
        edit("src/jobs/scheduler.ts", "      const next = this.queue.pop();\n", "      const next = this.queue.pop();\n      if (next === undefined) return;\n"),
        bash("npm run typecheck && npm test", '''
> fleet@3.2.0 typecheck
> tsc --noEmit


> fleet@3.2.0 test
> node --import tsx --test test/*.test.ts

✔ the cheapest path wins (2.018113ms)
✔ unreachable nodes have no path (0.209418ms)
✔ jobs run in the order of their due time (6.400127ms)
✔ merging keeps the order (0.911005ms)
ℹ tests 4
ℹ suites 0
ℹ pass 4
ℹ fail 0
ℹ cancelled 0
ℹ skipped 0
ℹ todo 0
ℹ duration_ms 214.551803'''),
        bash("grep -rn 'ts-ignore' src; git status --short", " M src/jobs/merge.ts\n M src/jobs/scheduler.ts\n M src/route/dijkstra.ts\n?? types/tinyqueue-legacy.d.ts"),
        assistant("`types/tinyqueue-legacy.d.ts` declares the constructor (with and without `new`), `merge`, and the three methods as the package's source has them; the three `@ts-ignore` lines are gone.\n\nWith types in place, `tsc` found one thing the ignore had hidden: `Scheduler.run` used the result of `pop()` without looking whether the queue was empty. It now returns then, which is what `main.ts` relies on (it refills and calls `run` again). Typecheck is clean and the 4 tests pass."),
    ),
)

_plan = Session(
    name="r4b_scala3_plan_only",
    about="The user wants a plan and nothing else; the plan is written with steps for the team.",
    type="informational",
    steps=(
        user("We want to move billing-core from Scala 2.13 to 3.3 LTS. Don't touch anything: give me a plan in the chat with the risky bits of *this* code base, order of the modules, and a guess at the effort."),
        bash("cat build.sbt project/plugins.sbt; find . -name '*.scala' -path '*main*' | cut -d/ -f2 | sort | uniq -c", '''ThisBuild / scalaVersion := "2.13.14"
lazy val model = project.settings(libraryDependencies += "com.chuusai" %% "shapeless" % "2.3.12")
lazy val rules = project.dependsOn(model)
lazy val store = project.dependsOn(model).settings(libraryDependencies ++= Seq("com.typesafe.slick" %% "slick" % "3.5.1"))
lazy val api = project.dependsOn(rules, store).settings(libraryDependencies += "com.typesafe.akka" %% "akka-http" % "10.2.10")
addSbtPlugin("org.scalameta" % "sbt-scalafmt" % "2.5.2")
     31 api
     58 model
     22 rules
     40 store'''),
        grep("shapeless|whitebox|blackbox|import scala.language.experimental.macros", "model/src/main/scala/billing/model/Csv.scala:3:import shapeless._", "model/src/main/scala/billing/model/Csv.scala:4:import shapeless.labelled.FieldType", "rules/src/main/scala/billing/rules/Dsl.scala:5:import scala.reflect.macros.blackbox", "rules/src/main/scala/billing/rules/Dsl.scala:19:  def ruleImpl(c: blackbox.Context)(body: c.Expr[Boolean]): c.Expr[Rule] = {"),
        bash("sbt -no-colors 'set ThisBuild / scalacOptions += \"-Xsource:3\"' compile 2>&1 | grep -oE '\\[(warn|error)\\].*(procedure|implicit|eta|wildcard|inferred).*' | sed 's/.*: //' | sort | uniq -c | sort -rn", '''     41 Implicit definition should have explicit type [quickfixable]
      9 procedure syntax is deprecated
      3 inferred type changes in Scala 3'''),
        assistant('''**What is risky here**

| Where | Why | What to do |
|---|---|---|
| `rules/Dsl.scala` | the only macro (`blackbox`, one entry point `rule`) – does not compile in Scala 3 | rewrite with `inline` + `scala.quoted`; about 60 lines, but every rule goes through it |
| `model/Csv.scala` | shapeless 2 derivation | `scala.deriving.Mirror`; keep the golden CSV files as a safety net |
| `api` (akka-http 10.2.10) | no Scala 3 artefact | first to pekko-http 1.1, still on 2.13 |
| 41 implicits without a type, 9 procedures, 3 inferred types | `-Xsource:3` reports them | mechanical, scalafix can do most |

slick 3.5.1 is published for Scala 3, scalafmt only needs `runner.dialect = scala3`.

**Order**
1. On 2.13: akka-http → pekko-http; then `-Xsource:3` clean in all four modules.
2. `model`: replace shapeless, cross-build 2.13/3.3.
3. `rules`: port the macro; cross-build.
4. `store`, then `api`; these should mostly just compile.
5. Drop 2.13, switch on `-Wunused` and the new formatter dialect in a commit of its own.

Each step can be released alone; up to step 4 both versions are built, so going back is a one-line change.

**Effort** (one person who knows the code): step 1 three days, step 2 two to three, step 3 four with a wide margin, steps 4 and 5 two. About two and a half weeks. What remains uncertain is the macro: if rules rely on the source text it captures, count a week for step 3.

I changed nothing; the `-Xsource:3` figures come from a compile with the option set for that one sbt session.'''),
    ),
)

_excel = Session(
    name="r4b_excel_facturas_es",
    about="Spanish: a one-off script merges workbooks; it ran, totals agree.",
    type="simple",
    steps=(
        user("En facturas/ hay 12 libros de Excel, uno por mes. Necesito un solo libro facturas_2025.xlsx con todas las filas en una hoja, una columna «Mes», y otra hoja con el total por cliente. El script no hace falta guardarlo."),
        bash("ls facturas; python3 - <<'EOF2'\nimport openpyxl, glob\nfor f in sorted(glob.glob('facturas/*.xlsx')):\n    ws = openpyxl.load_workbook(f, data_only=True).active\n    print(f, ws.max_row - 1, [c.value for c in ws[1]])\nEOF2", '''01.xlsx  02.xlsx  03.xlsx  04.xlsx  05.xlsx  06.xlsx  07.xlsx  08.xlsx  09.xlsx  10.xlsx  11.xlsx  12.xlsx
facturas/01.xlsx 84 ['Número', 'Cliente', 'Importe']
facturas/02.xlsx 77 ['Número', 'Cliente', 'Importe']
facturas/03.xlsx 91 ['Número', 'Cliente', 'Importe']
facturas/04.xlsx 80 ['Número', 'Cliente', 'Importe']
facturas/05.xlsx 79 ['Número', 'Cliente', 'Importe']
facturas/06.xlsx 88 ['Número', 'Cliente', 'Importe']
facturas/07.xlsx 60 ['Número', 'Cliente', 'Importe']
facturas/08.xlsx 41 ['Número', 'Cliente', 'Importe (€)']
facturas/09.xlsx 83 ['Número', 'Cliente', 'Importe']
facturas/10.xlsx 90 ['Número', 'Cliente', 'Importe']
facturas/11.xlsx 94 ['Número', 'Cliente', 'Importe']
facturas/12.xlsx 72 ['Número', 'Cliente', 'Importe']'''),
        says("Agosto tiene otro encabezado, pero las mismas tres columnas. Las uno por posición y compruebo que los importes sean números."),
        bash('''python3 - <<'EOF2'
import glob, openpyxl
from collections import defaultdict
out = openpyxl.Workbook()
todas = out.active
todas.title = "Facturas"
todas.append(["Mes", "Número", "Cliente", "Importe"])
por_cliente, raros = defaultdict(float), []
for f in sorted(glob.glob("facturas/*.xlsx")):
    mes = int(f[-7:-5])
    for fila in openpyxl.load_workbook(f, data_only=True).active.iter_rows(min_row=2, max_col=3, values_only=True):
        if not isinstance(fila[2], (int, float)):
            raros.append((f, fila))
            continue
        todas.append([mes, *fila])
        por_cliente[fila[1].strip()] += fila[2]
hoja = out.create_sheet("Por cliente")
hoja.append(["Cliente", "Total"])
for c, t in sorted(por_cliente.items(), key=lambda x: -x[1]):
    hoja.append([c, round(t, 2)])
print("raros:", raros)
out.save("facturas_2025.xlsx")
EOF2''', "raros: [('facturas/05.xlsx', ('F-0512', 'Talleres Ibarra', '1.204,50'))]"),
        says("Una factura de mayo tiene el importe como texto. 1.204,50 es inequívoco en formato español: la convierto en vez de saltármela."),
        bash('''python3 - <<'EOF2'
import glob, openpyxl
from collections import defaultdict
def numero(v):
    return v if isinstance(v, (int, float)) else float(v.replace(".", "").replace(",", "."))
out = openpyxl.Workbook()
todas = out.active
todas.title = "Facturas"
todas.append(["Mes", "Número", "Cliente", "Importe"])
por_cliente, leidas, suma = defaultdict(float), 0, 0
for f in sorted(glob.glob("facturas/*.xlsx")):
    for n, cliente, importe in openpyxl.load_workbook(f, data_only=True).active.iter_rows(min_row=2, max_col=3, values_only=True):
        leidas += 1
        suma += numero(importe)
        todas.append([int(f[-7:-5]), n, cliente.strip(), numero(importe)])
        por_cliente[cliente.strip()] += numero(importe)
hoja = out.create_sheet("Por cliente")
hoja.append(["Cliente", "Total"])
for c, t in sorted(por_cliente.items(), key=lambda x: -x[1]):
    hoja.append([c, round(t, 2)])
out.save("facturas_2025.xlsx")
libro = openpyxl.load_workbook("facturas_2025.xlsx")
print(leidas, libro["Facturas"].max_row - 1, libro["Por cliente"].max_row - 1)
print(round(suma, 2), round(sum(r[1] for r in libro["Por cliente"].iter_rows(min_row=2, values_only=True)), 2))
EOF2''', "939 939 118\n412877.31 412877.31"),
        assistant("Listo: `facturas_2025.xlsx` tiene la hoja «Facturas» (939 filas de los 12 libros, con la columna «Mes») y la hoja «Por cliente» (118 clientes, de mayor a menor). La suma de las dos hojas coincide: 412.877,31 €.\n\nDos detalles: en agosto la columna se llamaba «Importe (€)», y la factura F-0512 (Talleres Ibarra) tenía el importe como texto, «1.204,50»; la he contado como 1204,50. Los originales no se han tocado y no he dejado ningún script."),
    ),
)

_kafka = Session(
    name="r4b_kafka_ask_before_delete",
    about="Topics that look unused are listed; the user wanted to be asked before anything goes.",
    type="operations",
    steps=(
        user("Find the topics on the staging Kafka that nobody has used for 60 days and show me the list with sizes. Ask me before you delete anything!"),
        bash("kafka-topics.sh --bootstrap-server $STAGING --list | wc -l; kafka-consumer-groups.sh --bootstrap-server $STAGING --describe --all-groups 2>/dev/null | awk 'NR>1 && $2!=\"\" {print $2}' | sort -u | wc -l", "61\n48"),
        bash('''for t in $(kafka-topics.sh --bootstrap-server $STAGING --list | grep -v '^__'); do
  last=$(kcat -b $STAGING -t $t -C -o -1 -e -q -f '%T\\n' 2>/dev/null | sort -n | tail -1)
  printf '%s %s\\n' "$t" "$(date -d @$((${last:-0} / 1000)) +%F)"
done | awk '$2 < "2026-01-01"' ''', '''clicks-v1 2025-09-30
exports.tmp 2025-11-04
import-replay 2025-12-19
orders-dlq 2025-12-02
pricing-shadow 2025-10-21'''),
        bash("kafka-log-dirs.sh --bootstrap-server $STAGING --describe --topic-list clicks-v1,exports.tmp,import-replay,orders-dlq,pricing-shadow | tail -1 | jq -r '[.brokers[].logDirs[].partitions[] | {t: (.partition | sub(\"-[0-9]+$\"; \"\")), s: .size}] | group_by(.t)[] | \"\\(.[0].t) \\((map(.s) | add) / 1e9)\"'; kafka-consumer-groups.sh --bootstrap-server $STAGING --describe --all-groups 2>/dev/null | grep -E 'clicks-v1|exports.tmp|import-replay|orders-dlq|pricing-shadow'", '''clicks-v1 212.4
exports.tmp 0.8
import-replay 38.1
orders-dlq 0.02
pricing-shadow 94.6
orders-redrive  orders-dlq      0          118             118             0               orders-redrive-1-77ac   /10.2.0.31      orders-redrive-1'''),
        assistant("Five topics on staging have had no new message for 60 days:\n\n| topic | last message | size (all replicas) | consumers |\n|---|---|---|---|\n| `clicks-v1` | 2025-09-30 | 212.4 GB | none |\n| `pricing-shadow` | 2025-10-21 | 94.6 GB | none |\n| `import-replay` | 2025-12-19 | 38.1 GB | none |\n| `exports.tmp` | 2025-11-04 | 0.8 GB | none |\n| `orders-dlq` | 2025-12-02 | 0.02 GB | `orders-redrive`, connected, lag 0 |\n\n`orders-dlq` is a dead-letter queue with a live consumer: quiet because nothing failed, so I would keep it. Nothing has been deleted.\n\nShall I delete the first four (345.9 GB), or only some of them?"),
    ),
)

PART = (_perl, _pwsh, _molecule, _pg, _dts, _plan, _excel, _kafka)
INTENT = {s.name: "good" for s in PART}

SESSIONS = PART
