from written_sessions.vocabulary import *

php_norun = Session(
    name="r3c_laravel_user_forbids_running",
    about="The user forbids running anything; the agent edits, reads, and says plainly what was not run.",
    type="development",
    steps=(
        user("In app/Http/Controllers/InvoiceController.php index() does N+1 on customer and lines. Fix it with eager loading. Do NOT run anything, no artisan, no composer, no phpunit — this laptop is connected to the prod DB through the tunnel right now. CI will test it."),
        read("app/Http/Controllers/InvoiceController.php", '''<?php

namespace App\\Http\\Controllers;

use App\\Models\\Invoice;
use Illuminate\\Http\\Request;

class InvoiceController extends Controller
{
    public function index(Request $request)
    {
        $invoices = Invoice::where('account_id', $request->user()->account_id)
            ->orderByDesc('issued_at')
            ->paginate(50);

        return view('invoices.index', ['invoices' => $invoices]);
    }
}'''),
        read("app/Models/Invoice.php", '''<?php

namespace App\\Models;

use Illuminate\\Database\\Eloquent\\Model;

class Invoice extends Model
{
    public function customer()
    {
        return $this->belongsTo(Customer::class);
    }

    public function lines()
    {
        return $this->hasMany(InvoiceLine::class);
    }
}'''),
        read("resources/views/invoices/index.blade.php", '''@foreach ($invoices as $invoice)
  <tr>
    <td>{{ $invoice->number }}</td>
    <td>{{ $invoice->customer->name }}</td>
    <td>{{ $invoice->lines->count() }}</td>
  </tr>
@endforeach
{{ $invoices->links() }}'''),
        says("The view needs the customer's name and only the number of lines, so the lines need not be loaded at all."),
        edit("app/Http/Controllers/InvoiceController.php", '''            ->orderByDesc('issued_at')''', '''            ->with('customer')
            ->withCount('lines')
            ->orderByDesc('issued_at')'''),
        edit("resources/views/invoices/index.blade.php", "{{ $invoice->lines->count() }}", "{{ $invoice->lines_count }}"),
        grep("invoices\\.index|->lines->count", "app/Http/Controllers/InvoiceController.php:18:        return view('invoices.index', ['invoices' => $invoices]);"),
        assistant('''The list should now take three queries for a page of 50 (the count of the pagination, the invoices, their customers) instead of about 100:

- `index()` loads the customers with `with('customer')` and counts the lines in the database with `withCount('lines')`.
- `invoices/index.blade.php` prints `lines_count`. No other view or controller uses that template, I searched for it.

As you asked I ran nothing, so this is untested until CI has seen it.'''),
    ),
)

terraform = Session(
    name="r3c_terraform_bucket_lifecycle_plan",
    about="A lifecycle rule is added and planned; the platform team applies, not the agent.",
    type="development",
    branch="logs-lifecycle",
    steps=(
        user("Add a lifecycle to the access-log bucket in infra/logs: to STANDARD_IA after 30 days, delete after 400. fmt + validate + plan, commit on this branch. Don't apply, platform does that on Thursday."),
        bash("cat infra/logs/main.tf; git status -sb", '''
resource "aws_s3_bucket" "access_logs" {
  bucket = "acme-access-logs"
}

resource "aws_s3_bucket_versioning" "access_logs" {
  bucket = aws_s3_bucket.access_logs.id
  versioning_configuration {
    status = "Enabled"
  }
}
## logs-lifecycle'''),
        says("The bucket is versioned: expiring the current version alone would only add delete markers, and the old versions would stay (and cost) forever. So the noncurrent ones have to go too."),
        edit("infra/logs/main.tf", '''    status = "Enabled"
  }
}''', '''    status = "Enabled"
  }
}

resource "aws_s3_bucket_lifecycle_configuration" "access_logs" {
  depends_on = [aws_s3_bucket_versioning.access_logs]
  bucket     = aws_s3_bucket.access_logs.id

  rule {
    id     = "age-out"
    status = "Enabled"
    filter {}

    transition {
      days          = 30
      storage_class = "STANDARD_IA"
    }
    expiration {
      days = 400
    }
    noncurrent_version_expiration {
      noncurrent_days = 1
    }
  }
}'''),
        bash("cd infra/logs && terraform fmt -check -diff && terraform validate && terraform plan -no-color -input=false", '''
Success! The configuration is valid.

aws_s3_bucket.access_logs: Refreshing state... [id=acme-access-logs]
aws_s3_bucket_versioning.access_logs: Refreshing state... [id=acme-access-logs]

Terraform used the selected providers to generate the following execution
plan. Resource actions are indicated with the following symbols:
  + create

Terraform will perform the following actions:

  # aws_s3_bucket_lifecycle_configuration.access_logs will be created
  + resource "aws_s3_bucket_lifecycle_configuration" "access_logs" {
      + bucket = "acme-access-logs"
      + id     = (known after apply)

      + rule {
          + id     = "age-out"
          + status = "Enabled"

          + expiration {
              + days                         = 400
              + expired_object_delete_marker = (known after apply)
            }

          + filter {}

          + noncurrent_version_expiration {
              + noncurrent_days = 1
            }

          + transition {
              + days          = 30
              + storage_class = "STANDARD_IA"
            }
        }
    }

Plan: 1 to add, 0 to change, 0 to destroy.'''),
        bash('git add infra/logs/main.tf && git commit -m "Age out access logs: IA after 30 days, gone after 400"', '''
[logs-lifecycle 4c1be09] Age out access logs: IA after 30 days, gone after 400
 1 file changed, 22 insertions(+)'''),
        assistant('''Committed as 4c1be09 on `logs-lifecycle`: STANDARD_IA after 30 days, deleted after 400. fmt and validate are clean, and the plan is **1 to add, 0 to change, 0 to destroy**. Nothing was applied.

One thing to tell the platform team for Thursday: the bucket is versioned, so I added that old versions are removed one day after they are superseded. Without it nothing would ever be deleted for real. The first run after they apply will remove what is older than 400 days already.'''),
    ),
)

julia = Session(
    name="r3c_julia_trapz_resumed_next_day",
    about="A resumed session: the first turn answers a question, the second changes the function and tests it.",
    type="development",
    steps=(
        user("does our trapz in Quadrature.jl handle unevenly spaced x?"),
        read("src/Quadrature.jl", '''module Quadrature

export trapz

"Integral of the samples `y` at the points `x` by the trapezoidal rule."
function trapz(x, y)
    h = x[2] - x[1]
    return h * (sum(y) - (y[1] + y[end]) / 2)
end

end'''),
        assistant("No. `trapz` takes the first distance `x[2] - x[1]` for all of them, so it is right for equidistant points only, and it says nothing when they are not."),
        user("good morning. ok then make it handle them, and complain if the lengths differ. runtests please"),
        bash("cat test/runtests.jl", '''
using Quadrature, Test

@testset "trapz" begin
    x = range(0, 1; length = 101)
    @test trapz(x, x .^ 2) ≈ 1 / 3 atol = 1e-4
end'''),
        edit("src/Quadrature.jl", '''"Integral of the samples `y` at the points `x` by the trapezoidal rule."
function trapz(x, y)
    h = x[2] - x[1]
    return h * (sum(y) - (y[1] + y[end]) / 2)
end''', '''"Integral of the samples `y` at the points `x`, evenly spaced or not, by the trapezoidal rule."
function trapz(x, y)
    length(x) == length(y) ||
        throw(DimensionMismatch("$(length(x)) points but $(length(y)) samples"))
    return sum((x[i+1] - x[i]) * (y[i] + y[i+1]) / 2 for i in 1:length(x)-1; init = 0.0)
end'''),
        edit("test/runtests.jl", '''    @test trapz(x, x .^ 2) ≈ 1 / 3 atol = 1e-4
''', '''    @test trapz(x, x .^ 2) ≈ 1 / 3 atol = 1e-4
    @test trapz([0, 1, 4], [0, 1, 4]) ≈ 8
    @test trapz([2.0], [5.0]) == 0
    @test_throws DimensionMismatch trapz(1:3, 1:4)
'''),
        bash("julia --project -e 'using Pkg; Pkg.test()'", '''
     Testing Quadrature
      Status `/tmp/jl_8RkW2c/Project.toml`
  [1f4a3b0c] Quadrature v0.3.1 `/srv/project`
  [8dfed614] Test `@stdlib/Test`
Precompiling project...
  1 dependency successfully precompiled in 1 seconds
     Testing Running tests...
Test Summary: | Pass  Total  Time
trapz         |    4      4  0.2s
     Testing Quadrature tests passed'''),
        assistant("`trapz` uses each distance on its own now and throws a `DimensionMismatch` for different lengths; a single point gives 0. All 4 tests pass, three of them new."),
    ),
)

sql_ja = Session(
    name="r3c_slow_orders_query_japanese",
    about="Why a report query is slow, measured with EXPLAIN ANALYZE and answered in Japanese.",
    type="investigation",
    steps=(
        user("reports/monthly_orders.sql が最近40秒以上かかります。原因を調べて教えてください。まだ何も変更しないでください。レプリカ (replica-1) なら自由に読んで構いません。"),
        read("reports/monthly_orders.sql", '''SELECT date_trunc('month', o.created_at) AS month, count(*), sum(o.total)
FROM orders o
WHERE lower(o.channel) = 'web'
  AND o.created_at::date >= date '2025-03-01'
GROUP BY 1
ORDER BY 1;'''),
        bash('psql -h replica-1 shop -c "EXPLAIN (ANALYZE, BUFFERS) $(cat reports/monthly_orders.sql)"', '''
                                                              QUERY PLAN
--------------------------------------------------------------------------------------------------------------------------------------
 Sort  (cost=2311874.02..2311874.52 rows=200 width=48) (actual time=43120.551..43120.553 rows=13 loops=1)
   Sort Key: (date_trunc('month'::text, created_at))
   Sort Method: quicksort  Memory: 25kB
   Buffers: shared hit=1203 read=1498810
   ->  HashAggregate  (cost=2311862.38..2311866.38 rows=200 width=48) (actual time=43120.498..43120.511 rows=13 loops=1)
         ->  Seq Scan on orders o  (cost=0.00..2310714.20 rows=153090 width=14) (actual time=0.412..41877.302 rows=3120447 loops=1)
               Filter: ((lower(channel) = 'web'::text) AND ((created_at)::date >= '2025-03-01'::date))
               Rows Removed by Filter: 57811203
 Planning Time: 0.388 ms
 Execution Time: 43120.690 ms
(10 rows)'''),
        bash('''psql -h replica-1 shop -c '\\di+ orders*' -c "select indexdef from pg_indexes where tablename='orders'" -c "select channel, count(*) from orders tablesample system (0.1) group by 1"; git log --oneline -4 -- reports/monthly_orders.sql''', '''
 Schema |          Name          | Type  | Owner |  Table |  Size
--------+------------------------+-------+-------+--------+---------
 public | orders_pkey            | index | shop  | orders | 1306 MB
 public | orders_created_at_idx  | index | shop  | orders | 1311 MB
(2 rows)
                                  indexdef
----------------------------------------------------------------------------
 CREATE UNIQUE INDEX orders_pkey ON public.orders USING btree (id)
 CREATE INDEX orders_created_at_idx ON public.orders USING btree (created_at)
(2 rows)
 channel | count
---------+-------
 web     | 31022
 app     | 28107
 pos     |  1844
(3 rows)
9d0f1a2 Report: compare days, not timestamps
51c7e33 Add the monthly orders report'''),
        bash("git show 9d0f1a2 --stat --format='%an %ad%n%B' --date=short -p", '''
Sato 2026-02-11
Report: compare days, not timestamps

-  AND o.created_at >= timestamp '2025-03-01'
+  AND o.created_at::date >= date '2025-03-01\''''),
        bash('''psql -h replica-1 shop -c "EXPLAIN (ANALYZE) SELECT date_trunc('month', o.created_at) AS month, count(*), sum(o.total) FROM orders o WHERE lower(o.channel) = 'web' AND o.created_at >= timestamp '2025-03-01' GROUP BY 1 ORDER BY 1"''', '''
 Sort  (cost=241020.11..241020.61 rows=200 width=48) (actual time=1904.220..1904.222 rows=13 loops=1)
   ->  HashAggregate  (actual time=1904.160..1904.171 rows=13 loops=1)
         ->  Index Scan using orders_created_at_idx on orders o  (cost=0.56..240871.88 rows=29103 width=14) (actual time=0.061..1522.714 rows=3120447 loops=1)
               Index Cond: (created_at >= '2025-03-01 00:00:00'::timestamp without time zone)
               Filter: (lower(channel) = 'web'::text)
               Rows Removed by Filter: 2870114
 Planning Time: 0.301 ms
 Execution Time: 1904.377 ms
(8 rows)'''),
        assistant('''原因は 2月11日のコミット 9d0f1a2(Sato さん)です。

**何が起きているか**
- 条件が `created_at >= timestamp …` から `created_at::date >= date …` に変わりました。列を変換しているため `orders_created_at_idx` が使えず、約6,100万行の Seq Scan になっています(43.1秒、約150万ブロックの読み込み)。
- 変換を外した同じクエリをレプリカで実行すると、Index Scan になり 1.9秒でした。結果の行数(13か月、3,120,447件)は同じです。

**関係がなかったもの**
- `lower(channel)` にもインデックスはありませんが、web は約半数を占めるため、インデックスがあってもほとんど効きません。

**提案**
`o.created_at >= timestamp '2025-03-01'` に戻すだけで十分です。下限が日の始まりなので意味は変わりません。ご指示どおり、何も変更していません。'''),
    ),
)

plan = Session(
    name="r3c_migration_plan_is_the_deliverable",
    about="The user wants a plan only; numbered steps at the end are what was asked.",
    type="informational",
    steps=(
        user("We want to get off Moment.js in the web app. Give me a plan in order with rough effort, no code yet."),
        bash("git grep -l \"from 'moment\" -- 'apps/web/**/*.ts' 'apps/web/**/*.tsx' | wc -l; git grep -ho 'moment\\.[a-z]*\\|\\.tz(\\|\\.fromNow()\\|\\.isoWeek()\\|\\.duration(' -- apps/web | sort | uniq -c | sort -rn", '''
47
     88 moment.utc
     31 .fromNow()
     19 .tz(
     12 .duration(
      9 moment.locale
      4 .isoWeek()'''),
        bash("cat apps/web/package.json | grep -nE 'moment|date|dayjs|luxon|browserslist'; git grep -n 'format(' -- apps/web | grep -c moment; git grep -ln MomentAdapter -- apps/web", '''
21:    "moment": "^2.29.4",
22:    "moment-timezone": "^0.5.43",
63
apps/web/src/forms/PickerProvider.tsx'''),
        assistant('''## Moving apps/web from Moment to date-fns

47 files import it. Most of the use is simple (`utc`, `format`), three spots are not: time zones (19 uses), relative times (31) and the date picker's adapter.

1. **Fence it in** (½ day). A lint rule `no-restricted-imports` for `moment`, with the 47 files as exceptions, so that the number only goes down.
2. **One module for dates** (1 day). `src/dates.ts` with the eight things you really do; tests against Moment's output for 200 sampled dates.
3. **Formats** (1–2 days). 63 calls; tokens differ (`YYYY` → `yyyy`, `DD` → `dd`), a codemod does about 50 of them.
4. **Time zones** (1–2 days). 19 uses, with `date-fns-tz`. The riskiest part, because of the reports around the DST change.
5. **Relative times and durations** (1 day). 31 + 12 uses; wording changes slightly ("a day ago" → "1 day ago"), so product should look at it.
6. **Picker** (½ day). `PickerProvider.tsx` changes its adapter.
7. **Remove both packages** (1 hour). The bundle should shrink by about 70 kB gzipped, mostly zone data.

Together 5–7 days; steps 3 to 5 can be done by different people. The order matters for 1 and 2 only.'''),
    ),
)

disk = Session(
    name="r3c_disk_full_asks_before_deleting",
    about="The user wants to be asked before anything is deleted; the session ends with that question.",
    type="operations",
    steps=(
        user("build-07 is at 97% disk. Find out what takes the space and then ASK me what may go. don't delete anything by yourself."),
        bash("ssh build-07 'df -h / && sudo du -xh --max-depth=2 /var /home /opt 2>/dev/null | sort -rh | head -12'", '''
Filesystem      Size  Used Avail Use% Mounted on
/dev/sda1       484G  466G   18G  97% /
412G	/var
401G	/var/lib
38G	/home
37G	/home/ci
9.1G	/var/log
6.2G	/opt'''),
        bash("ssh build-07 'docker system df; sudo ls -lh /var/lib/docker/volumes | wc -l; sudo du -sh /var/lib/docker/volumes/* | sort -rh | head -6'", '''
TYPE            TOTAL     ACTIVE    SIZE      RECLAIMABLE
Images          212       9         188.4GB   171.2GB (90%)
Containers      11        6         1.204GB   1.1GB (91%)
Local Volumes   64        5         143.7GB   118.9GB (82%)
Build Cache     1904      0         61.33GB   61.33GB
66
88G	/var/lib/docker/volumes/nightly-db-restore/_data
14G	/var/lib/docker/volumes/m2-cache/_data
9.6G	/var/lib/docker/volumes/pg-e2e/_data
4.1G	/var/lib/docker/volumes/npm-cache/_data
1.2G	/var/lib/docker/volumes/8c1e0f/_data
904M	/var/lib/docker/volumes/f20b11/_data'''),
        bash("ssh build-07 'docker ps -a --filter volume=nightly-db-restore --format \"{{.Names}} {{.Status}}\"; sudo stat -c %y /var/lib/docker/volumes/nightly-db-restore/_data; sudo du -sh /home/ci/.gradle'", '''
nightly-restore Exited (0) 5 weeks ago
2026-01-25 03:12:44.118201 +0000
31G	/home/ci/.gradle'''),
        assistant('''Docker has 394 of the 466 GB on build-07. I deleted nothing. What could go, by risk:

| | Size | What it costs to lose it |
|---|---|---|
| Build cache | 61 GB | next builds are slow once |
| Images no container uses | 171 GB | pulled again when needed |
| Volume `nightly-db-restore` | 88 GB | **cannot be brought back**; its container ended 5 weeks ago |
| Other unused volumes (58) | ~31 GB | includes `m2-cache`, `npm-cache`; some have no name, I do not know what is in them |
| `/home/ci/.gradle` | 31 GB | downloaded again |

The first two alone would bring the disk to about 49 %.

Which of these may I delete? In particular, does anybody still need the restore of 25 January in `nightly-db-restore`?'''),
    ),
)

ruby_todo = Session(
    name="r3c_minitest_todo_the_user_worded",
    about="The user asks for a TODO comment with a ticket number by name; it is part of the work.",
    type="development",
    branch="csv-bom",
    steps=(
        user("lib/importer/csv_source.rb chokes on files with a BOM. Strip it. Also put exactly this comment above the `encoding` default: `# TODO(IMP-311): detect Latin-1 files`. We do that one next quarter. Then commit."),
        read("lib/importer/csv_source.rb", '''require "csv"

module Importer
  class CsvSource
    def initialize(path, encoding: "UTF-8")
      @path = path
      @encoding = encoding
    end

    def each(&block)
      CSV.foreach(@path, headers: true, encoding: @encoding, &block)
    end
  end
end'''),
        bash("cat test/importer/csv_source_test.rb Rakefile", '''
require "test_helper"

class CsvSourceTest < Minitest::Test
  def test_yields_rows_with_headers
    with_file("sku,qty\\nA1,3\\n") do |path|
      assert_equal [{ "sku" => "A1", "qty" => "3" }], Importer::CsvSource.new(path).each.map(&:to_h)
    end
  end
end
require "rake/testtask"
Rake::TestTask.new { |t| t.libs << "test"; t.pattern = "test/**/*_test.rb" }
task default: :test'''),
        edit("test/importer/csv_source_test.rb", '''Importer::CsvSource.new(path).each.map(&:to_h)
    end
  end''', '''Importer::CsvSource.new(path).each.map(&:to_h)
    end
  end

  def test_ignores_a_byte_order_mark
    with_file("\\uFEFFsku,qty\\nA1,3\\n") do |path|
      assert_equal %w[sku qty], Importer::CsvSource.new(path).each.first.headers
    end
  end'''),
        bash("bundle exec rake test TEST=test/importer/csv_source_test.rb", '''
Run options: --seed 50213

# Running:

F.

Finished in 0.009921s, 201.5926 runs/s, 201.5926 assertions/s.

  1) Failure:
CsvSourceTest#test_ignores_a_byte_order_mark [test/importer/csv_source_test.rb:12]:
--- expected
+++ actual
@@ -1 +1 @@
-["sku", "qty"]
+["\\uFEFFsku", "qty"]

2 runs, 2 assertions, 1 failures, 0 errors, 0 skips
rake aborted!
Command failed with status (1)

Tasks: TOP => test
(See full trace by running task with --trace)''', 1),
        multi_edit("lib/importer/csv_source.rb",
            ('''    def initialize(path, encoding: "UTF-8")''', '''    # TODO(IMP-311): detect Latin-1 files
    def initialize(path, encoding: "UTF-8")'''),
            ('''      CSV.foreach(@path, headers: true, encoding: @encoding, &block)''', '''      return to_enum unless block

      # Ruby skips a byte order mark for the UTF encodings only and warns for others.
      mode = @encoding.start_with?("UTF") ? "r:BOM|#{@encoding}" : "r:#{@encoding}"
      CSV.open(@path, mode, headers: true) { |csv| csv.each(&block) }''')),
        bash("bundle exec rake", '''
Run options: --seed 11874

# Running:

.........................

Finished in 0.084410s, 296.1734 runs/s, 509.4183 assertions/s.

25 runs, 43 assertions, 0 failures, 0 errors, 0 skips'''),
        bash('git commit -qam "Skip the byte order mark of CSV files" && git show --stat --oneline', '''
e08d2f4 Skip the byte order mark of CSV files
 lib/importer/csv_source.rb           | 7 ++++++-
 test/importer/csv_source_test.rb     | 6 ++++++
 2 files changed, 12 insertions(+), 1 deletion(-)'''),
        assistant("CSV files with a BOM import now: the source opens UTF files as `BOM|UTF-8`, a new test covers it, and all 25 tests pass. Your comment `# TODO(IMP-311): detect Latin-1 files` stands above the `encoding` default as you worded it. Committed on `csv-bom` as e08d2f4."),
    ),
)

cpp = Session(
    name="r3c_cmake_logger_compacted_subagent",
    about="A long refactoring: a subagent lists the callers, the context is compacted, tests and sanitizers pass.",
    type="development",
    branch="logger-instance",
    steps=(
        user("Get rid of the global `g_log` in the engine: pass a Logger& to whoever needs it. Build and ctest have to pass, also with -DENGINE_ASAN=ON. Keep the public header API of engine.h as is."),
        task_create("Find all users of g_log"),
        task_create("Pass Logger& through Engine, Loader, Mixer"),
        task_create("Remove g_log and build"),
        task_create("ctest plain and with ASAN"),
        task_update(1, "in_progress"),
        subagent("a91c04e2", "List the users of g_log", "List every use of g_log under src/ and tests/, with file, line and the class it is in. Do not change anything.",
            grep("g_log", "src/log.h:22:extern Logger g_log;", "src/log.cpp:5:Logger g_log;", "src/loader.cpp:31:    g_log.warn(\"missing texture \" + name);", "src/mixer.cpp:58:        g_log.error(\"buffer underrun\");", "src/engine.cpp:14:    g_log.info(\"engine up\");", "tests/loader_test.cpp:19:  g_log.clear();"),
            report="g_log is declared in src/log.h:22, defined in src/log.cpp:5 and used in Loader::texture (src/loader.cpp:31), Mixer::fill (src/mixer.cpp:58), Engine::Engine (src/engine.cpp:14) and tests/loader_test.cpp:19. Nothing outside src/ and tests/ uses it."),
        task_update(1, "completed"),
        task_update(2, "in_progress"),
        read("src/loader.cpp", '''#include "loader.h"
#include "log.h"

Loader::Loader(std::filesystem::path root) : root_(std::move(root)) {}

Texture Loader::texture(const std::string& name) const {
    const auto path = root_ / (name + ".ktx");
    if (!std::filesystem::exists(path)) {
        g_log.warn("missing texture " + name);
        return Texture::checker();
    }
    return Texture::read(path);
}'''),
        read("src/loader.h", '''#pragma once
#include <filesystem>
#include "texture.h"

class Loader {
public:
    explicit Loader(std::filesystem::path root);
    Texture texture(const std::string& name) const;

private:
    std::filesystem::path root_;
};'''),
        multi_edit("src/loader.h", ('#include "texture.h"', '#include "log.h"\n#include "texture.h"'), ("explicit Loader(std::filesystem::path root);", "Loader(std::filesystem::path root, Logger& log);"), ("    std::filesystem::path root_;", "    std::filesystem::path root_;\n    Logger& log_;")),
        multi_edit("src/loader.cpp", ("Loader::Loader(std::filesystem::path root) : root_(std::move(root)) {}", "Loader::Loader(std::filesystem::path root, Logger& log) : root_(std::move(root)), log_(log) {}"), ("        g_log.warn", "        log_.warn")),
        read("src/mixer.h", '''#pragma once
#include <vector>

class Mixer {
public:
    explicit Mixer(int rate) : rate_(rate) {}
    void fill(std::vector<float>& out);

private:
    int rate_;
};'''),
        compacted('''The user wants the global `g_log` gone from the engine: a Logger& is passed to whoever needs it; the public API in engine.h stays; build and ctest must pass, also with -DENGINE_ASAN=ON.
Done: a subagent listed the uses (loader.cpp:31, mixer.cpp:58, engine.cpp:14, tests/loader_test.cpp:19; declared in log.h:22, defined in log.cpp:5). Loader takes `Logger& log` as a second argument and keeps it in log_.
Open: Mixer, Engine, the test, removing g_log, build, ctest with and without ASAN. Tasks: 1 completed, 2 in progress, 3 and 4 pending.'''),
        multi_edit("src/mixer.h", ("#include <vector>", '#include <vector>\n#include "log.h"'), ("    explicit Mixer(int rate) : rate_(rate) {}", "    Mixer(int rate, Logger& log) : rate_(rate), log_(log) {}"), ("    int rate_;", "    int rate_;\n    Logger& log_;")),
        edit("src/mixer.cpp", '        g_log.error("buffer underrun");', '        log_.error("buffer underrun");'),
        bash("cat src/engine.cpp src/engine.h src/log.h tests/loader_test.cpp", '''
#include "engine.h"
#include "loader.h"
#include "log.h"
#include "mixer.h"

struct Engine::Impl {
    Loader loader;
    Mixer mixer;
    explicit Impl(const Config& c) : loader(c.root), mixer(c.rate) {}
};

Engine::Engine(const Config& config)
    : impl_(std::make_unique<Impl>(config)) {
    g_log.info("engine up");
}
Engine::~Engine() = default;
#pragma once
#include <memory>
struct Config { std::string root; int rate = 48000; };
class Engine {
public:
    explicit Engine(const Config& config);
    ~Engine();
private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};
#pragma once
#include <string>
#include <vector>
class Logger {
public:
    void info(std::string s);
    void warn(std::string s);
    void error(std::string s);
    const std::vector<std::string>& lines() const { return lines_; }
    void clear() { lines_.clear(); }
private:
    std::vector<std::string> lines_;
};
extern Logger g_log;
TEST(Loader, MissingTextureIsTheChecker) {
  g_log.clear();
  Loader loader("testdata");
  EXPECT_EQ(loader.texture("nope"), Texture::checker());
  EXPECT_EQ(g_log.lines().back(), "missing texture nope");
}'''),
        multi_edit("src/engine.cpp", ('''struct Engine::Impl {
    Loader loader;
    Mixer mixer;
    explicit Impl(const Config& c) : loader(c.root), mixer(c.rate) {}
};''', '''struct Engine::Impl {
    Logger log;  // first: the others refer to it
    Loader loader;
    Mixer mixer;
    explicit Impl(const Config& c) : loader(c.root, log), mixer(c.rate, log) {}
};'''), ('''    g_log.info("engine up");''', '''    impl_->log.info("engine up");''')),
        edit("tests/loader_test.cpp", '''  g_log.clear();
  Loader loader("testdata");
  EXPECT_EQ(loader.texture("nope"), Texture::checker());
  EXPECT_EQ(g_log.lines().back(), "missing texture nope");''', '''  Logger log;
  Loader loader("testdata", log);
  EXPECT_EQ(loader.texture("nope"), Texture::checker());
  EXPECT_EQ(log.lines().back(), "missing texture nope");'''),
        task_update(2, "completed"),
        task_update(3, "in_progress"),
        bash("sed -i '/^extern Logger g_log;$/d' src/log.h && sed -i '/^Logger g_log;$/d' src/log.cpp && ! grep -rn g_log src tests && cmake --build build -j 2>&1 | grep -E 'error|Built target|ninja'", '''
FAILED: tests/CMakeFiles/engine_tests.dir/mixer_test.cpp.o
/srv/project/tests/mixer_test.cpp:8:9: error: no matching function for call to 'Mixer::Mixer(int)'
/srv/project/tests/mixer_test.cpp:21:9: error: no matching function for call to 'Mixer::Mixer(int)'
ninja: build stopped: subcommand failed.'''),
        bash("sed -n 5,27p tests/mixer_test.cpp", '''

TEST(Mixer, FillsWithSilence) {
  Mixer m(48000);
  std::vector<float> out(64, 1.f);
  m.fill(out);
  EXPECT_THAT(out, Each(0.f));
}

TEST(Mixer, KeepsTheRate) {
  // fill() must not resize
  std::vector<float> out(17);
  std::vector<float> before = out;


  // one buffer, one rate
  Mixer m(22050);
  m.fill(out);
  EXPECT_EQ(out.size(), before.size());
}'''),
        bash("sed -i -E 's/^  Mixer m\\(([0-9]+)\\);/  Logger log;\\n  Mixer m(\\1, log);/' tests/mixer_test.cpp && cmake --build build -j && ctest --test-dir build --output-on-failure", '''
[1/3] Building CXX object tests/CMakeFiles/engine_tests.dir/mixer_test.cpp.o
[2/3] Building CXX object tests/CMakeFiles/engine_tests.dir/loader_test.cpp.o
[3/3] Linking CXX executable tests/engine_tests
Internal ctest changing into directory: /srv/project/build
Test project /srv/project/build
    Start 1: Loader.MissingTextureIsTheChecker
1/4 Test #1: Loader.MissingTextureIsTheChecker ...   Passed    0.01 sec
    Start 2: Mixer.FillsWithSilence
2/4 Test #2: Mixer.FillsWithSilence ..............   Passed    0.00 sec
    Start 3: Mixer.KeepsTheRate
3/4 Test #3: Mixer.KeepsTheRate ..................   Passed    0.00 sec
    Start 4: Engine.StartsAndStops
4/4 Test #4: Engine.StartsAndStops ...............   Passed    0.04 sec

100% tests passed, 0 tests failed out of 4

Total Test time (real) =   0.06 sec'''),
        task_update(3, "completed"),
        task_update(4, "in_progress"),
        bash("cmake -S . -B build-asan -G Ninja -DENGINE_ASAN=ON > /dev/null && cmake --build build-asan -j && ctest --test-dir build-asan --output-on-failure && git diff --stat main -- src/engine.h", '''
[11/11] Linking CXX executable tests/engine_tests
Internal ctest changing into directory: /srv/project/build-asan
Test project /srv/project/build-asan
    Start 1: Loader.MissingTextureIsTheChecker
1/4 Test #1: Loader.MissingTextureIsTheChecker ...   Passed    0.05 sec
    Start 2: Mixer.FillsWithSilence
2/4 Test #2: Mixer.FillsWithSilence ..............   Passed    0.03 sec
    Start 3: Mixer.KeepsTheRate
3/4 Test #3: Mixer.KeepsTheRate ..................   Passed    0.03 sec
    Start 4: Engine.StartsAndStops
4/4 Test #4: Engine.StartsAndStops ...............   Passed    0.11 sec

100% tests passed, 0 tests failed out of 4

Total Test time (real) =   0.23 sec'''),
        task_update(4, "completed"),
        assistant('''`g_log` is gone. Each `Engine` owns its Logger (declared first in `Impl`, because Loader and Mixer keep references to it), and both get it in their constructors. `engine.h` is unchanged.

The four tests pass in the plain build and with `-DENGINE_ASAN=ON`. The loader and mixer tests make a Logger of their own now, so they no longer share state.'''),
    ),
)

SESSIONS = (php_norun, terraform, julia, sql_ja, plan, disk, ruby_todo, cpp)
INTENDED = {s.name: "good" for s in SESSIONS}
