"""Good sessions, first piece."""
from written_sessions.vocabulary import *

_RETRY = '''function Invoke-WithRetry {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [scriptblock] $ScriptBlock,
        [int] $MaxAttempts = 5
    )

    for ($attempt = 1; $attempt -le $MaxAttempts; $attempt++) {
        try {
            return & $ScriptBlock
        }
        catch {
            if ($attempt -eq $MaxAttempts) { throw }
            Write-Verbose "Attempt $attempt failed: $_"
            Start-Sleep -Seconds 1
        }
    }
}
'''

_RETRY_TESTS = '''BeforeAll {
    . $PSScriptRoot/../src/Invoke-WithRetry.ps1
}

Describe 'Invoke-WithRetry' {
    BeforeEach {
        $script:calls = 0
        Mock Start-Sleep {}
    }

    It 'returns the result of the first success' {
        Invoke-WithRetry { 42 } | Should -Be 42
        Should -Invoke Start-Sleep -Times 0
    }

    It 'throws the last error once the attempts are used up' {
        { Invoke-WithRetry { throw 'down' } -MaxAttempts 3 } | Should -Throw 'down'
        Should -Invoke Start-Sleep -Times 2 -Exactly
    }
}
'''

pester = Session(
    name="r3b_pester_backoff",
    about="A retry helper in PowerShell gets exponential waits with a cap; Pester fails once on rounding and passes in the end.",
    type="development",
    steps=(
        user("src/Invoke-WithRetry.ps1 waits one second between all attempts, that hammers the Graph API. Make it 1, 2, 4, 8 … with a cap, `-MaxDelaySeconds`, 30 by default. Add tests for both."),
        read("src/Invoke-WithRetry.ps1", _RETRY),
        read("tests/Invoke-WithRetry.Tests.ps1", _RETRY_TESTS),
        grep("Invoke-WithRetry", "src/Sync-Groups.ps1:31:    Invoke-WithRetry { Get-MgGroupMember -GroupId $id -All }", "README.md:22:- `Invoke-WithRetry` tries a script block up to `-MaxAttempts` times, one second apart."),
        multi_edit(
            "src/Invoke-WithRetry.ps1",
            ("        [int] $MaxAttempts = 5\n", "        [ValidateRange(1, 100)] [int] $MaxAttempts = 5,\n        [ValidateRange(1, 3600)] [int] $MaxDelaySeconds = 30\n"),
            ("            Start-Sleep -Seconds 1\n", "            Start-Sleep -Seconds ([math]::Min([math]::Pow(2, $attempt), $MaxDelaySeconds))\n"),
        ),
        edit(
            "tests/Invoke-WithRetry.Tests.ps1",
            "        Should -Invoke Start-Sleep -Times 2 -Exactly\n    }\n",
            "        Should -Invoke Start-Sleep -Times 2 -Exactly\n    }\n\n"
            "    It 'doubles the wait, starting at one second' {\n"
            "        { Invoke-WithRetry { throw 'down' } -MaxAttempts 5 } | Should -Throw\n"
            "        foreach ($wait in 1, 2, 4, 8) {\n"
            "            Should -Invoke Start-Sleep -Times 1 -Exactly -ParameterFilter { $Seconds -eq $wait }\n"
            "        }\n    }\n\n"
            "    It 'never waits longer than -MaxDelaySeconds' {\n"
            "        { Invoke-WithRetry { throw 'down' } -MaxAttempts 8 -MaxDelaySeconds 5 } | Should -Throw\n"
            "        Should -Invoke Start-Sleep -Times 0 -ParameterFilter { $Seconds -gt 5 } -Exactly\n"
            "        Should -Invoke Start-Sleep -Times 4 -ParameterFilter { $Seconds -eq 5 } -Exactly\n"
            "    }\n",
        ),
        bash(
            'pwsh -NoProfile -Command "Invoke-Pester tests -Output Detailed -CI"',
            """Pester v5.5.0

Starting discovery in 1 files.
Discovery found 4 tests in 71ms.
Running tests.

Running tests from '/srv/project/tests/Invoke-WithRetry.Tests.ps1'
Describing Invoke-WithRetry
  [+] returns the result of the first success 41ms (33ms|8ms)
  [+] throws the last error once the attempts are used up 28ms (26ms|2ms)
  [-] doubles the wait, starting at one second 19ms (18ms|1ms)
   Expected Start-Sleep to be called 1 times exactly but was called 0 times
   at Should -Invoke Start-Sleep -Times 1 -Exactly -ParameterFilter { $Seconds -eq $wait }, /srv/project/tests/Invoke-WithRetry.Tests.ps1:25
   at <ScriptBlock>, /srv/project/tests/Invoke-WithRetry.Tests.ps1:25
  [-] never waits longer than -MaxDelaySeconds 22ms (21ms|1ms)
   Expected Start-Sleep to be called 4 times exactly but was called 5 times
   at Should -Invoke Start-Sleep -Times 4 -ParameterFilter { $Seconds -eq 5 } -Exactly, /srv/project/tests/Invoke-WithRetry.Tests.ps1:32
Tests completed in 498ms
Tests Passed: 2, Failed: 2, Skipped: 0 NotRun: 0""",
            2,
        ),
        says("The exponent is one too high: the first wait has to be 2^0."),
        edit("src/Invoke-WithRetry.ps1", "[math]::Pow(2, $attempt)", "[math]::Pow(2, $attempt - 1)"),
        bash(
            'pwsh -NoProfile -Command "Invoke-Pester tests -Output Detailed -CI"',
            """Pester v5.5.0

Starting discovery in 1 files.
Discovery found 4 tests in 64ms.
Running tests.

Running tests from '/srv/project/tests/Invoke-WithRetry.Tests.ps1'
Describing Invoke-WithRetry
  [+] returns the result of the first success 38ms (31ms|7ms)
  [+] throws the last error once the attempts are used up 25ms (23ms|2ms)
  [+] doubles the wait, starting at one second 27ms (26ms|1ms)
  [+] never waits longer than -MaxDelaySeconds 23ms (22ms|1ms)
Tests completed in 471ms
Tests Passed: 4, Failed: 0, Skipped: 0 NotRun: 0""",
        ),
        edit("README.md", "up to `-MaxAttempts` times, one second apart.", "up to `-MaxAttempts` times and doubles the wait each time (1, 2, 4 … seconds, at most `-MaxDelaySeconds`, 30 by default)."),
        assistant("`Invoke-WithRetry` now waits 1, 2, 4, 8 … seconds, never more than `-MaxDelaySeconds` (30 unless given). Two tests cover the doubling and the cap; all four Pester tests pass. My first try started at 2 seconds, which the new test caught. The README line says so too; `Sync-Groups.ps1` needs no change."),
    ),
)

_RING = '''const std = @import("std");

pub fn RingBuffer(comptime T: type, comptime capacity: usize) type {
    return struct {
        const Self = @This();

        items: [capacity]T = undefined,
        head: usize = 0,
        len: usize = 0,

        pub fn push(self: *Self, item: T) error{Full}!void {
            if (self.len == capacity) return error.Full;
            self.items[(self.head + self.len) % capacity] = item;
            self.len += 1;
        }

        pub fn pop(self: *Self) ?T {
            if (self.len == 0) return null;
            const item = self.items[self.head];
            self.head = (self.head + 1) % capacity;
            self.len -= 1;
            return item;
        }
    };
}

test "push until full" {
    var ring: RingBuffer(u8, 2) = .{};
    try ring.push(1);
    try ring.push(2);
    try std.testing.expectError(error.Full, ring.push(3));
}
'''

zig = Session(
    name="r3b_zig_ring_overwrite",
    about="A Zig ring buffer gets an overwriting push on a branch with a commit, as asked.",
    type="development",
    branch="ring-overwrite",
    steps=(
        user("We need `pushOverwrite` on the ring buffer in src/ring.zig: when it is full the oldest element goes, and the dropped element is returned. Commit it on this branch, please, no PR."),
        bash("git status -sb && ls src", "## ring-overwrite\nmain.zig\nring.zig\nuart.zig"),
        read("src/ring.zig", _RING),
        edit(
            "src/ring.zig",
            "        pub fn pop(self: *Self) ?T {\n",
            "        /// Pushes in any case; returns the oldest item if it had to go.\n"
            "        pub fn pushOverwrite(self: *Self, item: T) ?T {\n"
            "            const dropped = if (self.len == capacity) self.pop() else null;\n"
            "            self.push(item) catch unreachable;\n"
            "            return dropped;\n"
            "        }\n\n"
            "        pub fn pop(self: *Self) ?T {\n",
        ),
        edit(
            "src/ring.zig",
            "    try std.testing.expectError(error.Full, ring.push(3));\n}\n",
            "    try std.testing.expectError(error.Full, ring.push(3));\n}\n\n"
            "test \"pushOverwrite drops the oldest and keeps the order\" {\n"
            "    var ring: RingBuffer(u8, 3) = .{};\n"
            "    for ([_]u8{ 1, 2, 3 }) |n| try std.testing.expectEqual(@as(?u8, null), ring.pushOverwrite(n));\n"
            "    try std.testing.expectEqual(@as(?u8, 1), ring.pushOverwrite(4));\n"
            "    try std.testing.expectEqual(@as(?u8, 2), ring.pop());\n"
            "    try std.testing.expectEqual(@as(?u8, 3), ring.pop());\n"
            "    try std.testing.expectEqual(@as(?u8, 4), ring.pop());\n"
            "    try std.testing.expectEqual(@as(?u8, null), ring.pop());\n"
            "}\n",
        ),
        bash(
            "zig fmt --check src && zig build test --summary all",
            """Build Summary: 3/3 steps succeeded; 11/11 tests passed
test success
└─ run test 11 passed 3ms MaxRSS:2M
   └─ zig test Debug native success 2s MaxRSS:201M""",
        ),
        says("`catch unreachable` is sound here (there is room after the pop), but a release-safe run should agree."),
        bash(
            "zig build test -Doptimize=ReleaseSafe --summary all",
            """Build Summary: 3/3 steps succeeded; 11/11 tests passed
test success
└─ run test 11 passed 1ms MaxRSS:2M
   └─ zig test ReleaseSafe native success 6s MaxRSS:233M""",
        ),
        bash('git commit -qam "ring: add pushOverwrite" && git log --oneline -1 && git status -sb', "c41d0b7 ring: add pushOverwrite\n## ring-overwrite"),
        assistant("`pushOverwrite` is in `src/ring.zig`: it returns the element it had to drop, or `null` while there is room. A new test checks order after the wrap; 11/11 pass in Debug and ReleaseSafe. Committed on `ring-overwrite` as c41d0b7."),
    ),
)

_PGTAP = '''BEGIN;
SELECT plan(5);

SELECT has_table('sales', 'orders', 'orders is there');
SELECT col_is_pk('sales', 'orders', ARRAY['order_id', 'ordered_at'], 'key holds the partition column');
SELECT is((SELECT count(*)::int FROM pg_inherits WHERE inhparent = 'sales.orders'::regclass), 13, 'twelve months and a default');
SELECT lives_ok($$INSERT INTO sales.orders (order_id, ordered_at, total) VALUES (1, '2026-02-14', 9.90)$$, 'a row of February is taken');
SELECT is((SELECT tableoid::regclass::text FROM sales.orders WHERE order_id = 1), 'sales.orders_2026_02', 'and lies in February');

SELECT * FROM finish();
ROLLBACK;
'''

pgtap = Session(
    name="r3b_pgtap_partition",
    about="A table is partitioned by month with a migration and pgTAP tests against a scratch database.",
    type="development",
    steps=(
        user("Partition sales.orders by month for 2026 (range on ordered_at, plus a default partition). Write the migration as db/migrations/0042_partition_orders.sql and a pgTAP test. The scratch DB is at $DATABASE_URL, it is empty apart from the schema up to 0041."),
        bash("psql $DATABASE_URL -c '\\d sales.orders' && ls db/migrations | tail -2 && ls db/tests", '''                            Table "sales.orders"
   Column   |           Type           | Collation | Nullable | Default
------------+--------------------------+-----------+----------+---------
 order_id   | bigint                   |           | not null |
 ordered_at | timestamp with time zone |           | not null |
 total      | numeric(12,2)            |           | not null |
Indexes:
    "orders_pkey" PRIMARY KEY, btree (order_id)

0040_invoice_index.sql
0041_drop_legacy_flags.sql
01_schema.sql
07_invoices.sql'''),
        task_create("Migration 0042"),
        task_create("pgTAP test"),
        task_create("Apply to scratch DB and run all tests"),
        task_update(1, "in_progress"),
        write("db/migrations/0042_partition_orders.sql", '''BEGIN;

ALTER TABLE sales.orders RENAME TO orders_unpartitioned;
ALTER INDEX sales.orders_pkey RENAME TO orders_unpartitioned_pkey;

CREATE TABLE sales.orders (
    order_id   bigint        NOT NULL,
    ordered_at timestamptz   NOT NULL,
    total      numeric(12,2) NOT NULL,
    PRIMARY KEY (order_id, ordered_at)
) PARTITION BY RANGE (ordered_at);

DO $$
DECLARE
    month date;
BEGIN
    FOR month IN SELECT generate_series('2026-01-01'::date, '2026-12-01', '1 month')::date LOOP
        EXECUTE format(
            'CREATE TABLE sales.%I PARTITION OF sales.orders FOR VALUES FROM (%L) TO (%L)',
            'orders_' || to_char(month, 'YYYY_MM'), month, (month + interval '1 month')::date);
    END LOOP;
END $$;

CREATE TABLE sales.orders_default PARTITION OF sales.orders DEFAULT;

INSERT INTO sales.orders SELECT order_id, ordered_at, total FROM sales.orders_unpartitioned;
DROP TABLE sales.orders_unpartitioned;

COMMIT;
'''),
        task_update(1, "completed"),
        task_update(2, "in_progress"),
        write("db/tests/08_orders_partition.sql", _PGTAP),
        task_update(2, "completed"),
        task_update(3, "in_progress"),
        bash("psql -v ON_ERROR_STOP=1 $DATABASE_URL -f db/migrations/0042_partition_orders.sql", "BEGIN\nALTER TABLE\nALTER INDEX\nCREATE TABLE\nDO\nCREATE TABLE\nINSERT 0 0\nDROP TABLE\nCOMMIT"),
        bash("pg_prove -d $DATABASE_URL db/tests/*.sql", """db/tests/01_schema.sql ............ ok
db/tests/07_invoices.sql .......... ok
db/tests/08_orders_partition.sql .. ok
All tests successful.
Files=3, Tests=29,  0 wallclock secs ( 0.03 usr  0.01 sys +  0.05 cusr  0.02 csys =  0.11 CPU)
Result: PASS"""),
        bash("""psql $DATABASE_URL -c "EXPLAIN (COSTS OFF) SELECT * FROM sales.orders WHERE ordered_at >= '2026-05-03' AND ordered_at < '2026-05-09'\"""", """                                                                        QUERY PLAN
----------------------------------------------------------------------------------------------------------------------------------------------------------
 Seq Scan on orders_2026_05 orders
   Filter: ((ordered_at >= '2026-05-03 00:00:00+00'::timestamp with time zone) AND (ordered_at < '2026-05-09 00:00:00+00'::timestamp with time zone))
(2 rows)"""),
        task_update(3, "completed"),
        assistant("""Migration 0042 and the pgTAP test are written, applied to the scratch database and green (29 tests in 3 files). The planner prunes: a query for one week in May touches only `orders_2026_05`.

One thing you should know: a partitioned table needs the partition column in its key, so the primary key is now `(order_id, ordered_at)`. PostgreSQL therefore no longer guarantees that `order_id` alone is unique across months. Nothing references it by foreign key today."""),
    ),
)

_NTP_TASKS = '''---
- name: Install ntp
  ansible.builtin.apt:
    name: ntp
    state: present

- name: Configure ntp
  ansible.builtin.template:
    src: ntp.conf.j2
    dest: /etc/ntp.conf
    mode: "0644"
  notify: Restart ntp
'''

ansible = Session(
    name="r3b_molecule_chrony_de",
    about="Deutsch: eine Ansible-Rolle wird von ntp auf chrony umgestellt, molecule und ansible-lint laufen am Ende durch.",
    type="development",
    steps=(
        user("Die Rolle roles/zeit nutzt noch ntp. Bitte auf chrony umstellen, die Variable zeit_server soll bleiben. Wenn molecule und ansible-lint grün sind, bin ich zufrieden."),
        bash("find roles/zeit -type f", """roles/zeit/defaults/main.yml
roles/zeit/handlers/main.yml
roles/zeit/molecule/default/converge.yml
roles/zeit/molecule/default/molecule.yml
roles/zeit/molecule/default/verify.yml
roles/zeit/tasks/main.yml
roles/zeit/templates/ntp.conf.j2"""),
        read("roles/zeit/tasks/main.yml", _NTP_TASKS),
        read("roles/zeit/handlers/main.yml", "---\n- name: Restart ntp\n  ansible.builtin.service:\n    name: ntp\n    state: restarted\n"),
        read("roles/zeit/templates/ntp.conf.j2", "{% for server in zeit_server %}\nserver {{ server }} iburst\n{% endfor %}\ndriftfile /var/lib/ntp/ntp.drift\n"),
        read("roles/zeit/molecule/default/verify.yml", "---\n- name: Verify\n  hosts: all\n  tasks:\n    - name: Ask for the peers\n      ansible.builtin.command: ntpq -pn\n      changed_when: false\n"),
        write("roles/zeit/tasks/main.yml", '''---
- name: Remove ntp
  ansible.builtin.apt:
    name: ntp
    state: absent
    purge: true

- name: Install chrony
  ansible.builtin.apt:
    name: chrony
    state: present
    update_cache: true
    cache_valid_time: 3600

- name: Configure chrony
  ansible.builtin.template:
    src: chrony.conf.j2
    dest: /etc/chrony/chrony.conf
    mode: "0644"
  notify: Restart chrony
'''),
        write("roles/zeit/handlers/main.yml", "---\n- name: Restart chrony\n  ansible.builtin.service:\n    name: chrony\n    state: restarted\n"),
        bash("cd roles/zeit && git mv templates/ntp.conf.j2 templates/chrony.conf.j2"),
        write("roles/zeit/templates/chrony.conf.j2", "{% for server in zeit_server %}\nserver {{ server }} iburst\n{% endfor %}\ndriftfile /var/lib/chrony/chrony.drift\nmakestep 1.0 3\nrtcsync\n"),
        edit("roles/zeit/molecule/default/verify.yml", "    - name: Ask for the peers\n      ansible.builtin.command: ntpq -pn\n      changed_when: false\n", "    - name: Ask for the sources\n      ansible.builtin.command: chronyc -n sources\n      register: sources\n      changed_when: false\n\n    - name: The configured server is among them\n      ansible.builtin.assert:\n        that: \"'192.0.2.10' in sources.stdout\"\n"),
        background("bmol41", "cd roles/zeit && molecule test"),
        assistant("molecule läuft im Hintergrund (Abbild bauen, konvergieren, Idempotenz, prüfen). Ich melde mich mit dem Ergebnis, sobald es da ist."),
        background_ended("bmol41", "cd roles/zeit && molecule test", 0),
        bash("tail -22 /home/user/claude/-srv-project/*/tasks/bmol41.output", """TASK [The configured server is among them] *************************************
ok: [instance] => {
    "changed": false,
    "msg": "All assertions passed"
}

PLAY RECAP *********************************************************************
instance                   : ok=3    changed=0    unreachable=0    failed=0    skipped=0    rescued=0    ignored=0

INFO     Verifier completed successfully.
INFO     Running default > cleanup
WARNING  Skipping, cleanup playbook not configured.
INFO     Running default > destroy

PLAY [Destroy] *****************************************************************

TASK [Destroy molecule instance(s)] ********************************************
changed: [localhost] => (item=instance)

PLAY RECAP *********************************************************************
localhost                  : ok=3    changed=2    unreachable=0    failed=0    skipped=1    rescued=0    ignored=0
INFO     Pruning extra files from scenario ephemeral directory"""),
        bash("grep -n -A3 'idempotence' /home/user/claude/-srv-project/*/tasks/bmol41.output; ansible-lint roles/zeit", """87:INFO     Running default > idempotence
112:INFO     Idempotence completed successfully.

Passed: 0 failure(s), 0 warning(s) on 7 files. Last profile that met the validation criteria was 'production'."""),
        assistant("Die Rolle richtet jetzt chrony ein, entfernt ntp samt Konfiguration und liest weiterhin `zeit_server`. `molecule test` ist durchgelaufen (Konvergenz, Idempotenz, Prüfung), ansible-lint meldet 0 Fehler und 0 Warnungen. Die Prüfung schaut nun nach, ob der eingetragene Server bei `chronyc sources` auftaucht."),
    ),
)

pyi = Session(
    name="r3b_pyi_for_c_extension",
    about="Type stubs (.pyi) for a compiled extension: bodies of three dots are what a stub file has. mypy, stubtest and pytest pass.",
    type="development",
    steps=(
        user("Our C extension `fastgeo._core` has no type hints. Please write src/fastgeo/_core.pyi for all it exports and ship it in the wheel. stubtest should be happy."),
        bash("python -c \"import fastgeo._core as c; print([n for n in dir(c) if not n.startswith('__')]); print(c.distance.__doc__); print(c.Grid.__doc__)\"; cat pyproject.toml", '''['Grid', 'GeoError', 'distance', 'simplify']
distance(a: tuple[float, float], b: tuple[float, float], *, unit: str = 'km') -> float
Grid(cell: float)

Methods: insert(key: int, lat: float, lon: float) -> None; near(lat: float, lon: float, radius: float) -> list[int]; __len__
[build-system]
requires = ["setuptools>=68"]
build-backend = "setuptools.build_meta"

[project]
name = "fastgeo"
version = "1.4.0"

[tool.setuptools.packages.find]
where = ["src"]'''),
        bash("grep -n 'PyArg_Parse\\|kwlist' src/fastgeo/_core.c", '''61:    static char *kwlist[] = {"a", "b", "unit", NULL};
64:    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "(dd)(dd)|$s", kwlist,
118:    if (!PyArg_ParseTuple(args, "Od", &points, &tolerance))
203:    if (!PyArg_ParseTuple(args, "d", &self->cell))
231:    if (!PyArg_ParseTuple(args, "Ldd", &key, &lat, &lon))
260:    if (!PyArg_ParseTuple(args, "ddd", &lat, &lon, &radius))'''),
        write("src/fastgeo/_core.pyi", '''from collections.abc import Sequence
from typing import Literal, final

_Point = tuple[float, float]

class GeoError(ValueError): ...

@final
class Grid:
    def __new__(cls, cell: float, /) -> Grid: ...
    def __len__(self) -> int: ...
    def insert(self, key: int, lat: float, lon: float, /) -> None: ...
    def near(self, lat: float, lon: float, radius: float, /) -> list[int]: ...

def distance(a: _Point, b: _Point, *, unit: Literal["km", "mi", "nmi"] = "km") -> float: ...
def simplify(points: Sequence[_Point], tolerance: float, /) -> list[_Point]: ...
'''),
        bash("touch src/fastgeo/py.typed && printf '\\n[tool.setuptools.package-data]\\nfastgeo = [\"py.typed\", \"*.pyi\"]\\n' >> pyproject.toml && python -m mypy.stubtest fastgeo._core", """error: fastgeo._core.distance is inconsistent, runtime argument "unit" has a default value of type str, which is incompatible with stub argument type Literal['km', 'mi', 'nmi']
Stub: in file /srv/project/src/fastgeo/_core.pyi:14
def (a: tuple[builtins.float, builtins.float], b: tuple[builtins.float, builtins.float], *, unit: Literal['km', 'mi', 'nmi'] = "km") -> builtins.float
Runtime:
def (a, b, *, unit='kilometre')

Found 1 error (checked 1 module)""", 1),
        bash("sed -n 56,71p src/fastgeo/_core.c", '''static PyObject *
core_distance(PyObject *self, PyObject *args, PyObject *kwargs)
{
    double alat, alon, blat, blon, factor;
    const char *unit = "kilometre";
    static char *kwlist[] = {"a", "b", "unit", NULL};

    double factor_rad = M_PI / 180.0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "(dd)(dd)|$s", kwlist,
                                     &alat, &alon, &blat, &blon, &unit))
        return NULL;
    if (strcmp(unit, "kilometre") == 0) factor = 1.0;
    else if (strcmp(unit, "mile") == 0) factor = 0.621371;
    else {
        PyErr_SetString(GeoError, "unit must be kilometre or mile");
        return NULL;
    }'''),
        says("The docstring is out of date; the code knows `kilometre` and `mile`. The stub has to follow the code."),
        edit("src/fastgeo/_core.pyi", 'unit: Literal["km", "mi", "nmi"] = "km"', 'unit: Literal["kilometre", "mile"] = "kilometre"'),
        bash("python -m mypy.stubtest fastgeo._core && mypy src tests && python -m build -w -q && unzip -l dist/*.whl | grep -E 'pyi|typed' && pytest -q", """Success: no issues found in 1 module
Success: no issues found in 9 source files
      612  2026-03-02 09:01   fastgeo/_core.pyi
        0  2026-03-02 09:01   fastgeo/py.typed
......................................                                   [100%]
38 passed in 0.71s"""),
        assistant("`_core.pyi` covers everything the extension exports; stubtest and mypy report no issues, 38 tests pass, and the wheel contains `_core.pyi` and `py.typed`.\n\nstubtest found one thing that is wrong outside the stub: the docstring of `distance` says `unit: str = 'km'`, but the C code only takes `kilometre` and `mile`. The stub says what the code does; I left the C docstring alone since you asked for the stubs."),
    ),
)

latex = Session(
    name="r3b_latex_tfg_es",
    about="Español: una tabla pasa a longtable en LaTeX, se compila, y después de la última compilación solo se corrige una errata.",
    type="simple",
    steps=(
        user("En capitulos/resultados.tex la tabla 4.2 se sale de la página. Pásala a longtable para que se parta, con la cabecera repetida. Compila con latexmk y dime si quedan avisos."),
        bash("grep -n 'begin{table}' -A 9 capitulos/resultados.tex; grep -n 'usepackage' preambulo.tex", r"""118:\begin{table}[ht]
119-  \centering
120-  \caption{Mediciones por estación}
121-  \label{tab:mediciones}
122-  \begin{tabular}{lrrr}
123-    \toprule
124-    Estación & N & Media & Desv. \\
125-    \midrule
126-    Abades & 41 & 12,3 & 1,9 \\
127-    Adeje & 39 & 11,8 & 2,2 \\
4:\usepackage[spanish]{babel}
5:\usepackage{booktabs}
6:\usepackage{hyperref}"""),
        bash("sed -n '195,206p' capitulos/resultados.tex", r"""    Vilaflor & 40 & 9,1 & 1,4 \\
    \bottomrule
  \end{tabular}
\end{table}

Como se ve en la tabla~\ref{tab:mediciones}, la varianza es mayor en la costa."""),
        edit("capitulos/resultados.tex", "\\begin{table}[ht]\n  \\centering\n  \\caption{Mediciones por estación}\n  \\label{tab:mediciones}\n  \\begin{tabular}{lrrr}\n    \\toprule\n    Estación & N & Media & Desv. \\\\\n    \\midrule\n",
             "\\begin{longtable}{lrrr}\n  \\caption{Mediciones por estación}\\label{tab:mediciones}\\\\\n    \\toprule\n    Estación & N & Media & Desv. \\\\\n    \\midrule\n    \\endfirsthead\n    \\toprule\n    Estación & N & Media & Desv. \\\\\n    \\midrule\n    \\endhead\n    \\midrule\n    \\multicolumn{4}{r}{\\emph{Continúa en la página siguente}}\\\\\n    \\endfoot\n    \\bottomrule\n    \\endlastfoot\n"),
        bash(r"""python3 - <<'PY'
import pathlib
p = pathlib.Path("capitulos/resultados.tex")
t = p.read_text()
t = t.replace("    \\bottomrule\n  \\end{tabular}\n\\end{table}\n", "\\end{longtable}\n", 1)
p.write_text(t)
q = pathlib.Path("preambulo.tex")
q.write_text(q.read_text().replace("\\usepackage{booktabs}\n", "\\usepackage{booktabs}\n\\usepackage{longtable}\n", 1))
PY
latexmk -pdf -interaction=nonstopmode -halt-on-error tfg.tex > /dev/null; echo "latexmk: $?"; grep -nE 'Warning|Overfull' tfg.log; pdfinfo tfg.pdf | grep Pages""", "latexmk: 0\nPages:          84"),
        bash("pdftotext -f 41 -l 43 -layout tfg.pdf - | grep -nE 'Estación|Continúa|Vilaflor'", "9:                Estación        N    Media   Desv.\n47:                     Continúa en la página siguente\n52:                Estación        N    Media   Desv.\n88:                Vilaflor       40      9,1    1,4"),
        says("Se parte bien y repite la cabecera, pero he escrito «siguente»."),
        edit("capitulos/resultados.tex", "página siguente", "página siguiente"),
        assistant("La tabla 4.2 es ahora un `longtable`: ocupa las páginas 41 y 42, repite la cabecera y pone «Continúa en la página siguiente» al pie. latexmk termina sin errores, sin `Warning` ni `Overfull` en el registro; 84 páginas. Después de compilar solo he corregido una letra («siguente» → «siguiente»)."),
    ),
)

ruby_todo = Session(
    name="r3b_rspec_todo_asked_for",
    about="The user asks for a TODO comment by name beside the fix; the fix is complete and rspec is green.",
    type="development",
    steps=(
        user("Invoice#due_on breaks for invoices issued on Jan 31 with a one-month term (Date.new error). Fix it so it clamps to the last day. And put `# TODO(PAY-881): business days` above the method, accounting wants to find the spot in June when they decide. Not more than that."),
        bash("grep -rn 'due_on' app lib spec | head", "app/models/invoice.rb:27:  def due_on\nspec/models/invoice_spec.rb:14:  describe \"#due_on\" do"),
        read("app/models/invoice.rb", '''class Invoice < ApplicationRecord
  belongs_to :customer
  has_many :lines, class_name: "InvoiceLine", dependent: :destroy

  validates :issued_on, :term_months, presence: true

  def total
    lines.sum(:amount)
  end

  def due_on
    year = issued_on.year + (issued_on.month + term_months - 1) / 12
    month = (issued_on.month + term_months - 1) % 12 + 1
    Date.new(year, month, issued_on.day)
  end
end
'''),
        read("spec/models/invoice_spec.rb", '''require "rails_helper"

RSpec.describe Invoice do
  describe "#due_on" do
    it "is the same day some months later" do
      invoice = build(:invoice, issued_on: Date.new(2026, 3, 12), term_months: 2)
      expect(invoice.due_on).to eq(Date.new(2026, 5, 12))
    end
  end
end
'''),
        edit("spec/models/invoice_spec.rb", "      expect(invoice.due_on).to eq(Date.new(2026, 5, 12))\n    end\n", '''      expect(invoice.due_on).to eq(Date.new(2026, 5, 12))
    end

    it "is the last day of a shorter month" do
      invoice = build(:invoice, issued_on: Date.new(2026, 1, 31), term_months: 1)
      expect(invoice.due_on).to eq(Date.new(2026, 2, 28))
    end

    it "goes over the turn of the year" do
      invoice = build(:invoice, issued_on: Date.new(2027, 12, 31), term_months: 2)
      expect(invoice.due_on).to eq(Date.new(2028, 2, 29))
    end
'''),
        bash("bundle exec rspec spec/models/invoice_spec.rb", """.FF

Failures:

  1) Invoice#due_on is the last day of a shorter month
     Failure/Error: Date.new(year, month, issued_on.day)

     Date::Error:
       invalid date
     # ./app/models/invoice.rb:14:in `due_on'
     # ./spec/models/invoice_spec.rb:12:in `block (3 levels) in <top (required)>'

  2) Invoice#due_on goes over the turn of the year
     Failure/Error: Date.new(year, month, issued_on.day)

     Date::Error:
       invalid date
     # ./app/models/invoice.rb:14:in `due_on'
     # ./spec/models/invoice_spec.rb:17:in `block (3 levels) in <top (required)>'

Finished in 0.04113 seconds (files took 2.31 seconds to load)
3 examples, 2 failures

Failed examples:

rspec ./spec/models/invoice_spec.rb:10 # Invoice#due_on is the last day of a shorter month
rspec ./spec/models/invoice_spec.rb:15 # Invoice#due_on goes over the turn of the year
""", 1),
        edit("app/models/invoice.rb", '''  def due_on
    year = issued_on.year + (issued_on.month + term_months - 1) / 12
    month = (issued_on.month + term_months - 1) % 12 + 1
    Date.new(year, month, issued_on.day)
  end
''', '''  # TODO(PAY-881): business days
  def due_on
    issued_on >> term_months
  end
'''),
        bash("bundle exec rspec", """................................................................................................

Finished in 3.87 seconds (files took 2.29 seconds to load)
96 examples, 0 failures
"""),
        assistant("`due_on` now uses `Date#>>`, which clamps to the last day of the month (Jan 31 + 1 → Feb 28, Dec 31 2027 + 2 → Feb 29). I wrote the two specs first and saw them fail with `Date::Error`; the whole suite is green now, 96 examples. The comment `# TODO(PAY-881): business days` stands above the method as you wanted."),
    ),
)

plan = Session(
    name="r3b_plan_terraform_state_split",
    about="The user wants only a plan for splitting a Terraform state; the plan is the result and is complete.",
    type="informational",
    steps=(
        user("Our Terraform state for prod takes 9 minutes to plan. I want to split it into network / data / apps. Don't touch anything — give me a plan I can take to the team, with the order of the steps and what can go wrong."),
        bash("terraform state list | cut -d. -f1,2 | sort | uniq -c | sort -rn | head -20; grep -rn 'backend' *.tf", '''     61 module.app_service
     44 module.subnet
     23 aws_route53_record.internal
     18 module.rds
      9 aws_security_group.shared
      6 module.redis
      2 module.vpc
main.tf:3:  backend "s3" {'''),
        grep("module\\.vpc\\.|module\\.rds\\.", "apps.tf:12:  subnet_ids = module.vpc.private_subnet_ids", "apps.tf:31:  db_host    = module.rds[\"orders\"].endpoint", "data.tf:8:  vpc_id     = module.vpc.id", "dns.tf:5:  records = [module.rds[\"orders\"].address]"),
        assistant("""Here is the plan. Nothing was changed.

**Where the lines run.** `network` gets module.vpc, module.subnet and the shared security groups (2 + 44 + 9 entries), `data` gets rds and redis (18 + 6), `apps` gets the services and the internal DNS records (61 + 23). `dns.tf` reads an RDS address, so it goes to `apps`, not to `network` — otherwise there is a circle.

**Steps**
1. Freeze applies (lock table entry by hand, announce it). Copy the state object in S3 with its version id.
2. Create three backends with the same bucket and new keys.
3. In the old root, add outputs for `private_subnet_ids`, `vpc.id`, `rds[*].endpoint`. Apply: outputs only.
4. `terraform state mv -state-out=…` for network first, then data. Apps is what is left.
5. In data and apps, replace the four cross references (apps.tf:12, apps.tf:31, data.tf:8, dns.tf:5) with `terraform_remote_state` or SSM parameters.
6. Plan in each root must show *no changes*. Only then lift the freeze.

**What can go wrong**
- A resource in two states after an interrupted `mv`: the copy of step 1 is the way back.
- Security groups with rules inline that reference app groups: those 9 need a look before step 4, they could pull `apps` into `network`.
- CI that runs `terraform apply` in the root: it would recreate what has moved. Disable it in step 1.

**Effort**: about one day, half of it in step 5. Expected planning time: below 2 minutes for apps, seconds for the others."""),
    ),
)

SESSIONS = (pester, zig, pgtap, ansible, pyi, latex, ruby_todo, plan)
INTENDED = {s.name: "good" for s in SESSIONS}
